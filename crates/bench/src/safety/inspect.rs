//! Whether a drive is free.

use disklab_measure::{SystemRoot, mounts};
use disklab_units::Bytes;

use super::target::{drives_with_serial, name_lacks_serial, other_paths};
use super::usage::uses;
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
    causes.extend(uses(root, &mounts, device));
    for path in other_paths(root, target) {
        if !uses(root, &mounts, &path).is_empty() {
            causes.push(Cause::OtherPath { device: path.name().to_owned() });
        }
    }
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
