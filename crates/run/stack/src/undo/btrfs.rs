//! Removing a Btrfs from its devices.

use std::path::{Path, PathBuf};

use disklab_exec::Invocation;

use super::{Marks, Obstacle, TeardownContext, inspect, probe};
use crate::StackError;

/// Wipes the devices that hold a part of the Btrfs with this UUID, and takes
/// them out of the kernel's list of Btrfs devices. Without, the next file system
/// on some of them is taken for this one: mkfs.btrfs refuses a UUID that it
/// finds anywhere, and the kernel counts old members in.
pub(super) fn remove(
    uuid: &str,
    devices: &[PathBuf],
    context: &mut TeardownContext<'_>,
) -> Result<bool, StackError> {
    let program = |source| StackError::Program { layer: "btrfs".to_owned(), source };
    let mut removed = false;
    for device in devices.iter().filter(|device| device.exists()) {
        if !is_part(device, uuid, context)? {
            continue;
        }
        // A device that the kernel does not know cannot be forgotten, and need
        // not be.
        let forget = Invocation::new("btrfs")
            .args(["device", "scan", "--forget"])
            .arg(device)
            .uninterruptible();
        let _ = context.executor.run(&forget);
        let wipe = Invocation::new("wipefs").arg("--all").arg(device).uninterruptible();
        context.executor.check(&wipe).map_err(program)?;
        removed = true;
    }
    Ok(removed)
}

/// What is not ours on the devices that hold a part of it.
pub(super) fn obstacles(
    uuid: &str,
    devices: &[PathBuf],
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    let mut found = Vec::new();
    for device in devices.iter().filter(|device| device.exists()) {
        if is_part(device, uuid, context)? {
            found.extend(inspect::device(device, marks, context)?);
        }
    }
    Ok(found)
}

fn is_part(device: &Path, uuid: &str, context: &TeardownContext<'_>) -> Result<bool, StackError> {
    Ok(probe(device, "UUID", context.executor)?
        .is_some_and(|found| found.eq_ignore_ascii_case(uuid)))
}
