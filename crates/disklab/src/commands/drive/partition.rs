//! A blank partition of a drive, on which a probe may write.
//!
//! The rules are those for drives that a study may overwrite: a stable name, held by nobody else,
//! without a signature, and blank as far as a sample of its surface shows. There is no way to have
//! one erased.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use disklab_bench::safety::{
    Hold, InspectionError, KernelProbe, OpenError, Probe, Signature, Surface, stable_names,
};
use disklab_exec::{Executor, Interrupt};
use disklab_measure::{BlockDevice, SystemRoot};
use rustix::fs::OFlags;

use super::subject::Subject;

/// Decides where the surface is looked at.
const SEED: u64 = 1;

/// Why a partition cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum NoPartition {
    /// The whole drive, or another one's.
    #[error("it is not a partition of the drive; name one of its own, or a directory on it")]
    NotOfDrive,
    /// A name that may mean another partition after the next boot.
    #[error("expected a stable name, in /dev/disk/by-id{0}")]
    Name(String),
    /// The kernel, or a program, has it.
    #[error("it is in use: mounted, part of something else, or open")]
    Busy,
    /// A program left something there.
    #[error("there is something on it ({0}); it must be blank")]
    Signed(Signature),
    /// Nobody signed it, and it is not blank.
    #[error("{0}; it must be blank")]
    Data(Surface),
    /// It cannot be looked at.
    #[error(transparent)]
    Unknown(#[from] InspectionError),
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] std::io::Error),
}

/// A partition that holds nothing, open for writing past the page cache.
#[derive(Debug)]
pub struct BlankPartition {
    pub file: OwnedFd,
    /// Where it begins on the drive.
    pub begin: u64,
    pub bytes: u64,
    /// Keeps others away as long as it is open.
    pub held: Hold,
}

/// Opens a partition, if it holds nothing and nobody has it.
pub fn blank_partition(
    name: &Path,
    subject: &Subject,
    root: &SystemRoot,
    interrupt: &Interrupt,
) -> Result<BlankPartition, NoPartition> {
    let device = BlockDevice::at(root, name).ok_or(NoPartition::NotOfDrive)?;
    if !subject.device.partitions().contains(&device) {
        return Err(NoPartition::NotOfDrive);
    }
    let names = stable_names(root, &device);
    if !names.iter().any(|stable| stable == name) {
        let such = names.first().map(|name| format!(", such as {}", name.display()));
        return Err(NoPartition::Name(such.unwrap_or_default()));
    }
    let executor = Executor::new(interrupt.clone());
    let probe = KernelProbe::new(&executor);
    let held = probe.open_exclusively(&device, false).map_err(|error| match error {
        OpenError::Busy => NoPartition::Busy,
        OpenError::Failed(why) => NoPartition::Unknown(why),
    })?;
    if let Some(signature) = probe.signatures(&device)?.into_iter().next() {
        return Err(NoPartition::Signed(signature));
    }
    let surface = probe.surface(&device, &held, SEED)?;
    if !surface.is_blank() {
        return Err(NoPartition::Data(surface));
    }
    // The same device as the one that is held: through its descriptor, not by its name.
    let number = held.file().ok_or(NoPartition::Busy)?.as_raw_fd();
    let flags = i32::try_from(OFlags::DIRECT.bits()).unwrap_or_default();
    let mut open = OpenOptions::new();
    let open = open.read(true).write(true).custom_flags(flags);
    let file = open.open(format!("/proc/self/fd/{number}"))?;
    let begin = device.start_bytes().unwrap_or(0);
    Ok(BlankPartition { file: OwnedFd::from(file), begin, bytes: device.size_bytes(), held })
}
