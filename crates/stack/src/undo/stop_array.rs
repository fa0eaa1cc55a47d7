//! Stopping md arrays.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_exec::Invocation;

use super::Hand;
use crate::StackError;
use crate::md_arrays::{all_arrays, array_uuid, exported_uuid, same_uuid};
use crate::udev;

/// How long an array may go on being busy: udev may be having a look at it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Block devices of md have this major number (kernel:
/// `Documentation/admin-guide/devices.txt`).
const MD_MAJOR: u32 = 9;

/// Stops the array with this UUID and makes its members forget it.
pub(super) fn stop_array(
    uuid: &str,
    members: &[PathBuf],
    hand: &mut Hand<'_>,
) -> Result<bool, StackError> {
    let mut done = false;
    for array in all_arrays() {
        let found = array_uuid(&array, hand.executor);
        if found.is_some_and(|found| same_uuid(&found, uuid)) {
            stop(&array, hand)?;
            done = true;
        }
    }
    for member in members {
        done |= forget(uuid, member, hand)?;
    }
    Ok(done)
}

fn stop(array: &str, hand: &mut Hand<'_>) -> Result<(), StackError> {
    let node = Path::new("/dev").join(array);
    let state = Path::new("/sys/block").join(array).join("md");
    let stop = Invocation::new("mdadm").arg("--stop").arg(&node).uninterruptible();
    let began = Instant::now();
    loop {
        let failure = hand.executor.check(&stop).err();
        if !state.exists() {
            break;
        }
        if began.elapsed() > PATIENCE {
            return Err(failure.map_or_else(
                || StackError::Other(format!("{} does not stop", node.display())),
                |source| StackError::Program { layer: "md".to_owned(), source },
            ));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    if !udev::is_running() {
        remove_nodes(&node);
    }
    Ok(())
}

/// Removes the nodes that mdadm made where there is no udev. Left behind, they
/// would bring up an empty array as soon as somebody opens them.
fn remove_nodes(node: &Path) {
    let is_md =
        fs::metadata(node).is_ok_and(|m| rustix::fs::major(m.rdev()) == MD_MAJOR && m.rdev() != 0);
    if is_md {
        let _ = fs::remove_file(node);
    }
    let Ok(links) = fs::read_dir("/dev/md") else { return };
    for link in links.flatten() {
        if fs::read_link(link.path()).is_ok_and(|to| to.file_name() == node.file_name()) {
            let _ = fs::remove_file(link.path());
        }
    }
    // Only if nothing else is in it.
    let _ = fs::remove_dir("/dev/md");
}

/// Overwrites the superblock of `member`, if it is of this array.
fn forget(uuid: &str, member: &Path, hand: &mut Hand<'_>) -> Result<bool, StackError> {
    if !udev::is_block_device(member) {
        return Ok(false);
    }
    let program = |source| StackError::Program { layer: "md".to_owned(), source };
    let examine =
        Invocation::new("mdadm").args(["--examine", "--export"]).arg(member).uninterruptible();
    // It fails where there is no superblock.
    let found = hand.executor.run(&examine).map_err(program)?;
    if !exported_uuid(&found.text()).is_some_and(|found| same_uuid(&found, uuid)) {
        return Ok(false);
    }
    let zero = Invocation::new("mdadm").arg("--zero-superblock").arg(member).uninterruptible();
    hand.executor.check(&zero).map_err(program)?;
    Ok(true)
}
