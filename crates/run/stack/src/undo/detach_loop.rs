//! Detaching loop devices.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use disklab_exec::Invocation;

use super::{FileIdentity, Marks, Obstacle, TeardownContext, as_kernel_shows, inspect};
use crate::StackError;
use crate::loops::loops_on;

/// How long a detached device may stay attached: the kernel waits for its last user, such as udev
/// or another disklab that looks whose it is, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// Detaches every loop device whose backing file is `file`, and waits until it
/// really is detached.
pub(super) fn detach_loop(
    file: &Path,
    context: &mut TeardownContext<'_>,
) -> Result<bool, StackError> {
    let file = as_kernel_shows(file);
    let devices = loops_on(&file);
    let mut failure = None;
    for device in &devices {
        // While it is open, the kernel puts off the detaching. So nobody can
        // attach it to another file between this look and losetup's work.
        let open = File::open(device).map_err(|e| StackError::io("cannot open", device, e))?;
        if !loops_on(&file).contains(device) {
            continue;
        }
        let detach = Invocation::new("losetup").arg("-d").arg(device).uninterruptible();
        failure = context.executor.check(&detach).err().or(failure);
        drop(open);
    }
    let began = Instant::now();
    loop {
        let left = loops_on(&file);
        let Some(device) = left.first() else { return Ok(!devices.is_empty()) };
        if began.elapsed() >= PATIENCE {
            return Err(failure.map_or_else(
                || StackError::StaysAttached { device: device.clone(), file: file.to_owned() },
                |source| StackError::Program { layer: "loop".to_owned(), source },
            ));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What is not ours on the devices that are attached to `file`.
pub(super) fn obstacles(
    file: &Path,
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    let mut found = Vec::new();
    for device in loops_on(&as_kernel_shows(file)) {
        if is_replaced(file, &device, marks, context) {
            found.push(Obstacle::Replaced(file.to_owned()));
        }
        found.extend(inspect::device(&device, marks, context)?);
    }
    Ok(found)
}

/// Whether the device is attached to another file of that name, which may have got
/// the inode of disklab's file.
fn is_replaced(file: &Path, device: &Path, marks: &Marks, context: &TeardownContext<'_>) -> bool {
    let Some(own) = marks.identity(file) else { return false };
    let Some(inode) = backing_inode(device, context) else { return false };
    let now = file.symlink_metadata().ok().map(|metadata| FileIdentity::new(&metadata));
    inode != own.inode() || now.is_some_and(|now| now.inode() == inode && now != own)
}

/// The inode of what a loop device is attached to.
fn backing_inode(device: &Path, context: &TeardownContext<'_>) -> Option<u64> {
    let list = Invocation::new("losetup")
        .args(["--noheadings", "--list", "--output", "BACK-INO"])
        .arg(device)
        .uninterruptible();
    context.executor.check(&list).ok()?.text().trim().parse().ok()
}
