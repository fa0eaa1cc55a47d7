//! Whether a drive is free.

use std::path::{Path, PathBuf};

use disklab_measure::{
    BlockDevice, Mount, SystemRoot, btrfs_families, devices_under, mounts, unescape,
};
use disklab_units::Bytes;

use super::family::{Member, family, spoken};
use super::openers::openers;
use super::target::{drives_with_serial, name_lacks_serial};
use super::{Cause, Hold, OpenError, Probe, Refusal, Signature, Target, Warning};

/// What is known of a drive before it is written to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    /// Why it must not be written to; empty where it is free.
    pub refusals: Vec<Refusal>,
    /// Remarks for the plan.
    pub warnings: Vec<Warning>,
}

impl Inspection {
    /// Whether it may be written to.
    pub fn is_free(&self) -> bool {
        self.refusals.is_empty()
    }
}

/// Finds out whether a drive is free: not mounted, no swap, nothing standing on
/// it, no part of a mounted Btrfs, nobody has it open, and no signature on it,
/// unless `erase` names it by its very serial number. Nothing is written.
///
/// All that can be found is collected, so that the user learns it at once.
pub fn check(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: &[String],
) -> Inspection {
    let mut inspection = inspect(root, probe, target, Erasable::Serials(erase), None);
    if inspection.is_free() && inspection.warnings.iter().all(|w| !w.is_loss()) {
        // Not every program that uses a raw disk signs it.
        match probe.looks_blank(&target.device) {
            Ok(true) => {}
            Ok(false) => inspection.warnings.push(Warning::NotBlank),
            Err(why) => inspection.refusals.push(target.refuse(Cause::Unknown { why })),
        }
    }
    inspection
}

/// What may be on a drive that is going to be erased.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Erasable<'a> {
    /// Anything on drives with these serial numbers, nothing on others.
    Serials(&'a [String]),
    /// Anything: this run has erased the drive before.
    Own,
}

/// As [`check`], where the caller holds the device already.
pub(crate) fn inspect(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: Erasable<'_>,
    held: Option<&Hold>,
) -> Inspection {
    let mut causes = Vec::new();
    let mut warnings = Vec::new();
    let device = &target.device;
    if device.attribute("ro").as_deref() != Some("0") {
        causes.push(Cause::ReadOnly);
    }
    if device.size_bytes() == 0 {
        causes.push(Cause::Empty);
    }
    if device.attribute("removable").as_deref() == Some("1") {
        warnings.push(Warning::Removable);
    }
    if let Some(serial) = name_lacks_serial(target) {
        warnings.push(Warning::OtherName { serial: serial.to_owned() });
    }
    let mounts = mounts(root);
    if mounts.is_empty() {
        let why = "/proc/self/mountinfo cannot be read".to_owned();
        causes.push(Cause::Unknown { why });
    }
    let family = family(root, &mounts, device);
    causes.extend(root_drive(root, &mounts, &family));
    causes.extend(mounted(root, &mounts, &family));
    causes.extend(in_btrfs(root, &family));
    causes.extend(swapping(root, &family));
    causes.extend(held_by(&family));
    let devices: Vec<BlockDevice> = family.iter().map(|m| m.device.clone()).collect();
    causes.extend(
        openers(root, &devices)
            .into_iter()
            .map(|opener| Cause::Open { part: opener.device, by: opener.process }),
    );
    // The two questions to the drive itself come last, and only where nothing
    // else speaks against it: a drive in use is left in peace.
    if causes.is_empty() {
        let opened = match held {
            Some(_) => Ok(None),
            None => probe.open_exclusively(device, false).map(Some),
        };
        match opened {
            Ok(hold) => {
                causes.extend(signed(root, probe, target, erase, &mut warnings));
                drop(hold);
            }
            Err(OpenError::Busy) => causes.push(Cause::Busy),
            Err(OpenError::Other(why)) => causes.push(Cause::Unknown { why }),
        }
    }
    Inspection { refusals: causes.into_iter().map(|c| target.refuse(c)).collect(), warnings }
}

fn root_drive(root: &SystemRoot, mounts: &[Mount], family: &[Member]) -> Option<Cause> {
    let under = devices_under(root, mounts, Path::new("/"))?;
    let part = under.iter().find(|d| family.iter().any(|member| member.device == **d))?;
    Some(Cause::RootDrive { part: spoken(part) })
}

fn mounted(root: &SystemRoot, mounts: &[Mount], family: &[Member]) -> Vec<Cause> {
    let mut causes = Vec::new();
    for Member { device, .. } in family {
        let number = device.number();
        let holds = |mount: &&Mount| {
            // Btrfs, bcachefs and ZFS have anonymous numbers, but mostly name a
            // device as their source; bcachefs names several.
            Some(mount.device) == number
                || sources(mount).any(|path| BlockDevice::at(root, &path).as_ref() == Some(device))
        };
        causes.extend(
            mounts.iter().filter(holds).map(|mount| Cause::Mounted {
                part: spoken(device),
                at: mount.mount_point.clone(),
            }),
        );
    }
    causes
}

fn sources(mount: &Mount) -> impl Iterator<Item = PathBuf> + '_ {
    let text = mount.source.to_string_lossy().into_owned();
    let parts: Vec<PathBuf> = text.split(':').map(PathBuf::from).collect();
    std::iter::once(mount.source.clone()).chain(parts).filter(|path| path.starts_with("/dev"))
}

fn in_btrfs(root: &SystemRoot, family: &[Member]) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (uuid, devices) in btrfs_families(root) {
        let parts = family.iter().filter(|member| devices.contains(&member.device));
        causes.extend(parts.map(|m| Cause::Btrfs { part: spoken(&m.device), uuid: uuid.clone() }));
    }
    causes
}

fn swapping(root: &SystemRoot, family: &[Member]) -> Vec<Cause> {
    let Some(bytes) = root.bytes("/proc/swaps") else {
        // A kernel without swap has no such file.
        return Vec::new();
    };
    let mounts = mounts(root);
    let mut causes = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n').skip(1) {
        let Some(word) = line.split(|b| b.is_ascii_whitespace()).next() else { continue };
        let path = unescape(word);
        if !path.starts_with(b"/") {
            continue;
        }
        let path = PathBuf::from(String::from_utf8_lossy(&path).into_owned());
        let areas = match BlockDevice::at(root, &path) {
            Some(device) => vec![device],
            None => devices_under(root, &mounts, &path).unwrap_or_default(),
        };
        if areas.iter().any(|area| family.iter().any(|member| member.device == *area)) {
            causes.push(Cause::Swap { part: path.display().to_string() });
        }
    }
    causes
}

fn held_by(family: &[Member]) -> Vec<Cause> {
    let mut causes = Vec::new();
    for member in family {
        // The partitions of what stands there say nothing new.
        if let (Some(part), false) = (&member.on, member.device.is_partition()) {
            let by = match member.device.backing_file() {
                Some(file) => format!("{} ({})", member.device.name(), file.display()),
                None => spoken(&member.device),
            };
            causes.push(Cause::Held { part: part.clone(), by });
        }
        // A registered bcache device has this folder, also where its cache set
        // is not complete and nothing holds it (drivers/md/bcache/sysfs.c).
        if member.device.attribute_path("bcache").exists() {
            let part = member.device.name().to_owned();
            causes.push(Cause::Held { part, by: "bcache".to_owned() });
        }
    }
    causes
}

fn signed(
    root: &SystemRoot,
    probe: &dyn Probe,
    target: &Target,
    erase: Erasable<'_>,
    warnings: &mut Vec<Warning>,
) -> Option<Cause> {
    let mut found: Vec<Signature> = Vec::new();
    let mut devices = vec![target.device.clone()];
    devices.extend(target.device.partitions());
    for device in &devices {
        match probe.signatures(device) {
            Ok(more) => found.extend(more),
            Err(why) => return Some(Cause::Unknown { why }),
        }
        // A partition whose table is gone from the disk, but not from the kernel,
        // can still be mounted tomorrow.
        if device.is_partition() && !found.iter().any(|s| s.device == device.name()) {
            let (device, kind) = (device.name().to_owned(), "partition".to_owned());
            found.push(Signature { device, kind, label: None });
        }
    }
    let erase = match erase {
        Erasable::Serials(serials) if !found.is_empty() => serials,
        Erasable::Serials(_) | Erasable::Own => return None,
    };
    let serial = target.fingerprint.serial.clone();
    let Some(allowed) = serial.as_ref().filter(|serial| erase.contains(serial)) else {
        return Some(Cause::Signed { found, serial });
    };
    let devices = drives_with_serial(root, allowed);
    if devices.len() > 1 {
        return Some(Cause::SerialNotUnique { serial: allowed.clone(), devices });
    }
    warnings.push(Warning::Erases { found, size: Bytes(target.fingerprint.size_bytes) });
    None
}
