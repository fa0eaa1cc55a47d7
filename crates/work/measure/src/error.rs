//! What can go wrong in measuring.

use std::path::PathBuf;

use disklab_exec::ExecError;

/// Why something could not be measured or set.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A program failed.
    #[error(transparent)]
    Program(#[from] ExecError),
    /// The drive cannot do it, or did not.
    #[error("the write cache of {} cannot be set: {source}", device.display())]
    WriteCache {
        /// The device node.
        device: PathBuf,
        /// Why, and what to do.
        source: CacheRefusal,
    },
}

/// Why a write cache cannot be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CacheRefusal {
    /// It is a file or something else.
    #[error("not a block device")]
    NotBlock,
    /// A loop device.
    #[error("a loop device has no cache of its own")]
    Loop,
    /// A part of a drive.
    #[error("it is a partition; name the drive")]
    Partition,
    /// An array or a mapping.
    #[error("not a drive, but built on others")]
    NotDrive,
    /// It takes no ATA commands.
    #[error("it does not answer `hdparm -W`: only ATA drives do")]
    NoAnswer,
    /// Its cache is as before.
    #[error("the drive took the command and did not obey it")]
    NotObeyed,
    /// The kernel would send no flushes to a drive that needs them.
    #[error(
        "the cache is on now, but the kernel still believes that it is off and would send no \
         flushes; turn it off again with `hdparm -W0`"
    )]
    KernelUnaware,
}
