//! Who uses a drive, as far as the kernel tells.

use std::path::{Path, PathBuf};

use disklab_measure::{BlockDevice, Mount, SystemRoot, btrfs_families, devices_under, unescape};

use super::Cause;
use super::family::{Member, family, spoken};
use super::openers::lasting_openers;

/// All uses of a drive, of its partitions, and of what is built on them; or of a partition, and of
/// the drive as a whole. None of them is touched.
pub(crate) fn uses(root: &SystemRoot, mounts: &[Mount], drive: &BlockDevice) -> Vec<Cause> {
    let family = family(root, mounts, drive);
    let devices: Vec<BlockDevice> = family.iter().map(|m| m.device.clone()).collect();
    let opened = lasting_openers(root, &devices).into_iter().map(|opener| Cause::Open {
        part: opener.device.name().to_owned(),
        by: format!("{} ({})", opener.name, opener.pid),
    });
    let mut causes = Vec::new();
    causes.extend(root_drive(root, mounts, &family));
    causes.extend(mounted(root, mounts, &family));
    causes.extend(in_btrfs(root, &family));
    causes.extend(swapping(root, mounts, &family));
    causes.extend(held_by(&family));
    causes.extend(opened);
    causes
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

fn swapping(root: &SystemRoot, mounts: &[Mount], family: &[Member]) -> Vec<Cause> {
    let Some(bytes) = root.bytes("/proc/swaps") else {
        // A kernel without swap has no such file.
        return Vec::new();
    };
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
            None => devices_under(root, mounts, &path).unwrap_or_default(),
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
            causes.push(Cause::BuiltOn { part: part.clone(), by });
        }
        // A registered bcache device has this directory, also where its cache set
        // is not complete and nothing holds it (drivers/md/bcache/sysfs.c).
        if member.device.attribute_path("bcache").exists() {
            let part = member.device.name().to_owned();
            causes.push(Cause::BuiltOn { part, by: "bcache".to_owned() });
        }
    }
    causes
}
