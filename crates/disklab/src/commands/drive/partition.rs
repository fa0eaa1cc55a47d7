//! A blank partition of a drive, on which a probe may write.
//!
//! The rules are those for drives that a study may overwrite: a stable name, in use by nothing, also
//! not the drive as a whole, without a signature, and blank as far as a sample of its surface shows.
//! There is no way to have one erased.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use disklab_bench::safety::{
    Cause, Claim, KernelProbe, Refusal, Signature, Surface, Target, claim,
};
use disklab_exec::{Executor, Interrupt};
use disklab_measure::{BlockDevice, SystemRoot};
use rustix::fs::OFlags;

use super::subject::Subject;

/// Why a partition cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum NoPartition {
    /// The whole drive, or another one's.
    #[error("it is not a partition of the drive; name one of its own, or a directory on it")]
    NotOfDrive,
    /// A name that may mean another partition after the next boot.
    #[error("expected a stable name, in /dev/disk/by-id{0}")]
    Name(String),
    /// A program left something there.
    #[error("there is something on it ({0}); it must be blank")]
    Signed(Signature),
    /// Nobody signed it, and it is not blank.
    #[error("{0}; it must be blank")]
    Data(Surface),
    /// It is in use, or cannot be looked at.
    #[error("{0}")]
    Refused(String),
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] std::io::Error),
}

impl From<Vec<Refusal>> for NoPartition {
    fn from(refusals: Vec<Refusal>) -> Self {
        let why = |refusal: &Refusal| match &refusal.cause {
            Cause::Signed { found, .. } => found.first().cloned().map(Self::Signed),
            Cause::NotBlank { surface, .. } => Some(Self::Data(surface.clone())),
            _ => None,
        };
        if let Some(content) = refusals.iter().find_map(why) {
            return content;
        }
        let causes: Vec<_> = refusals.iter().map(|refusal| refusal.cause.to_string()).collect();
        Self::Refused(causes.join("\n"))
    }
}

/// A partition that holds nothing, open for writing past the page cache.
#[derive(Debug)]
pub struct BlankPartition {
    pub file: OwnedFd,
    /// Where it begins on the drive.
    pub begin: u64,
    pub bytes: u64,
    /// Keeps others away as long as it lives.
    pub claim: Claim,
}

/// Opens a partition, if it holds nothing and nothing else has it.
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
    let target = Target::partition(root, name, device.clone()).map_err(|names| {
        let such = names.first().map(|name| format!(", such as {}", name.display()));
        NoPartition::Name(such.unwrap_or_default())
    })?;
    let executor = Executor::new(interrupt.clone());
    let claim = claim(root, &KernelProbe::new(&executor), &target, &[])?;
    // The same device as the one that is held: through its descriptor, not by its name.
    let held = claim.hold().file().ok_or(NoPartition::NotOfDrive)?;
    let flags = i32::try_from(OFlags::DIRECT.bits()).unwrap_or_default();
    let mut open = OpenOptions::new();
    let open = open.read(true).write(true).custom_flags(flags);
    let file = open.open(format!("/proc/self/fd/{}", held.as_raw_fd()))?;
    let begin = device.start_bytes().unwrap_or(0);
    Ok(BlankPartition { file: OwnedFd::from(file), begin, bytes: device.size_bytes(), claim })
}
