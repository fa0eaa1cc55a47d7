//! Keeps a drive's number and names its own while layers are made on it.
//!
//! mkfs and mdadm want the device for themselves, so the exclusive hold has to go before
//! them. A plain open file stays: while one is open the kernel gives the number and the
//! name of a device to no other drive (a drive that is unplugged is dead behind it, and
//! the next one gets another name). Just before the first layer is made it is asked whether
//! name, number and serial number still belong together.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use disklab_measure::SystemRoot;

use super::claim::changes;
use super::{Cause, Claim, DriveChange, Hold, InspectionError, Refusal, Target};

/// A drive whose number and kernel name no other drive gets while this lives.
#[derive(Debug)]
pub struct Pin {
    root: SystemRoot,
    target: Target,
    /// None of a probe that replaces the kernel.
    file: Option<File>,
}

impl Claim {
    /// Lets others have the device for themselves, but not its number and name.
    ///
    /// # Errors
    /// [`Refusal`] if the device cannot be opened once more: nothing was written to it.
    pub fn into_pin(self, root: &SystemRoot) -> Result<Pin, Refusal> {
        // Opened before the hold is let go of, which is at the end of this function.
        Pin::new(root, self.target.clone(), self.hold())
    }
}

impl Pin {
    pub(crate) fn new(root: &SystemRoot, target: Target, hold: &Hold) -> Result<Self, Refusal> {
        let open = |held: &File| {
            // No name is asked: this is the very device that is held.
            File::open(Path::new("/proc/self/fd").join(held.as_raw_fd().to_string()))
        };
        let file = hold.file().map(open).transpose().map_err(|source| {
            let (what, node) = ("opened again", target.node());
            target.refuse(InspectionError::Io { what, node, source }.into())
        })?;
        Ok(Self { root: root.clone(), target, file })
    }

    /// Checks that the drive's names still lead to it, and that it still is the drive that
    /// was claimed.
    ///
    /// # Errors
    /// [`Refusal`] with all that changed, such as the device that the name leads to.
    pub fn check(&self) -> Result<(), Refusal> {
        let mut differences = changes(&self.root, &self.target);
        if let Some(file) = &self.file {
            let node = self.target.node();
            let number = |metadata: std::fs::Metadata| metadata.rdev();
            let pinned = file.metadata().map(number).ok();
            let named = node.symlink_metadata().map(number).ok();
            if pinned.is_none() || pinned != named {
                differences.push(DriveChange::OtherDevice(node));
            }
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(self.target.refuse(Cause::Changed { differences }))
    }
}
