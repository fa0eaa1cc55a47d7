//! Which files and devices jobs may write to.

use disklab_measure::FileUse;
use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::Arc;

/// A block device that the caller has opened exclusively, and found free. It is held for
/// as long as a [`JobContext`](crate::JobContext) with it lives.
#[derive(Debug)]
pub struct HeldDevice {
    number: u64,
    _file: File,
}

impl HeldDevice {
    /// `file` is the device, opened with `O_EXCL`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if it is not a block device.
    pub fn new(file: File) -> io::Result<Self> {
        let there = file.metadata()?;
        if !there.file_type().is_block_device() {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        Ok(Self { number: there.rdev(), _file: file })
    }
}

/// Which block devices jobs may write to.
#[derive(Debug, Clone)]
pub enum DeviceAccess {
    /// These alone; none, as a rule.
    Only(Vec<Arc<HeldDevice>>),
    /// Any: this is a guest of the lab, whose devices are models and gone after it.
    Any,
}

impl Default for DeviceAccess {
    fn default() -> Self {
        Self::Only(Vec::new())
    }
}

/// Why a job's file is not touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Untouchable {
    /// A block device that nobody holds for the job.
    Device,
    /// A character device, a pipe or a socket.
    Special(&'static str),
    /// A file that would be made in `/dev`.
    NoDevice,
    /// A file that the kernel uses.
    InUse(FileUse),
    /// A file that would be made or changed, where nothing may be.
    ReadOnly,
}

impl fmt::Display for Untouchable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device => f.write_str(
                "it is a block device, and jobs write only to drives that were found free and \
                 are held (`disklab fio` takes them by their links in /dev/disk/by-id)",
            ),
            Self::Special(what) => write!(f, "it is a {what}; give a file or a block device"),
            Self::NoDevice => f.write_str(
                "there is no such device, and a file made in /dev would lie in memory; \
                 `ls -l /dev/disk/by-id` shows the drives of this machine",
            ),
            Self::InUse(used) => used.fmt(f),
            Self::ReadOnly => {
                f.write_str("the job would make or change it, and nothing may be changed")
            }
        }
    }
}

impl std::error::Error for Untouchable {}

impl DeviceAccess {
    fn has(&self, number: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Only(held) => held.iter().any(|device| device.number == number),
        }
    }

    /// Checks a file that has been opened for writing: behind its path there may be
    /// something else by now.
    pub(super) fn check_open(&self, file: &File) -> io::Result<()> {
        if matches!(self, Self::Any) {
            return Ok(());
        }
        let checked = self.check_kind(&file.metadata()?, true);
        checked.map_err(|why| io::Error::new(io::ErrorKind::PermissionDenied, why))
    }

    pub(super) fn check_kind(&self, there: &Metadata, writes: bool) -> Result<(), Untouchable> {
        let kind = there.file_type();
        if kind.is_block_device() {
            let allowed = !writes || self.has(there.rdev());
            return if allowed { Ok(()) } else { Err(Untouchable::Device) };
        }
        if kind.is_char_device() && !is_harmless(there.rdev()) {
            return Err(Untouchable::Special("character device"));
        }
        if kind.is_fifo() {
            return Err(Untouchable::Special("pipe"));
        }
        if kind.is_socket() {
            return Err(Untouchable::Special("socket"));
        }
        Ok(())
    }
}

/// `null`, `zero`, `full`, `random` and `urandom` (kernel:
/// Documentation/admin-guide/devices.txt). Others do something when they are opened:
/// a tape rewinds, a watchdog begins to count.
fn is_harmless(number: u64) -> bool {
    libc::major(number) == 1 && [3, 5, 7, 8, 9].contains(&libc::minor(number))
}
