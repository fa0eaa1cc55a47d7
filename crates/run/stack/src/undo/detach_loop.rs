//! Detaching loop devices.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_exec::Invocation;
use serde::{Deserialize, Serialize};

use super::{FileIdentity, Marks, Obstacle, Teardown, TeardownContext, any_is_built_on, inspect};
use crate::StackError;
use crate::loops::loops_on;
use crate::mounts::as_kernel_shows;

/// How long a detached device may stay attached: the kernel waits for its last user, such as udev
/// or another disklab that looks whose it is, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(12);

/// Detach the loop device whose backing file is this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachLoop(pub PathBuf);

impl Teardown for DetachLoop {
    /// Detaches every loop device whose backing file is `file`, and waits until it
    /// really is detached.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let file = &self.0;
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
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let file = &self.0;
        let mut found = Vec::new();
        for device in loops_on(&as_kernel_shows(file)) {
            if is_replaced(file, &device, marks, context) {
                found.push(Obstacle::Replaced(file.to_owned()));
            }
            found.extend(inspect::device(&device, marks, context)?);
        }
        Ok(found)
    }

    fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        self.tear_down(context).map(|_| ())
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.0]
    }

    fn ends_with_boot(&self) -> bool {
        true
    }

    fn contains(&self, others: &[&Path]) -> bool {
        let devices = loops_on(&as_kernel_shows(&self.0));
        let devices: Vec<&Path> = devices.iter().map(AsRef::as_ref).collect();
        any_is_built_on(others, &devices)
    }
}

impl fmt::Display for DetachLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the loop device on {}", self.0.display())
    }
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
