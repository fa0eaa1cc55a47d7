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
    name: &str,
    uuid: &str,
    members: &[PathBuf],
    hand: &mut Hand<'_>,
) -> Result<bool, StackError> {
    let mut done = false;
    // A name that is a path is none that disklab gave.
    let link = Path::new("/dev/md").join(name.replace('/', "-"));
    // Before the array goes, and the number is free for another.
    let node = fs::read_link(&link).ok();
    for array in all_arrays() {
        let found = array_uuid(&array, hand.executor);
        if found.is_some_and(|found| same_uuid(&found, uuid)) {
            stop(&array, hand)?;
            done = true;
        }
    }
    if !udev::is_running() {
        done |= remove_nodes(&link, node.as_deref());
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
    Ok(())
}

/// Removes what mdadm made in `/dev` where there is no udev: the link, and the
/// node that it leads to. Left behind, the node would bring up an empty array as
/// soon as somebody opens it.
fn remove_nodes(link: &Path, node: Option<&Path>) -> bool {
    let Some(array) = node.and_then(Path::file_name) else { return false };
    // By now the number may be somebody else's.
    if Path::new("/sys/block").join(array).exists() {
        return false;
    }
    let node = Path::new("/dev").join(array);
    if fs::symlink_metadata(&node).is_ok_and(|m| rustix::fs::major(m.rdev()) == MD_MAJOR) {
        let _ = fs::remove_file(&node);
    }
    let removed = fs::remove_file(link).is_ok();
    // Only if nothing else is in it.
    let _ = fs::remove_dir("/dev/md");
    removed
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
