//! What a lab cannot be made of.

use std::path::PathBuf;

/// The most disks of a guest: as many as `kernel/patches/shelves.patch` has interrupts, room on the
/// command line, and bits in the calendar's memory for.
pub const MOST_DISKS: usize = 128;

/// An option of a lab, or of one of its disks, that cannot be; or a place that it does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionsProblem {
    /// Too little memory for a kernel, or more than the lab maps.
    #[error("{0} bytes of memory: use 64 MiB to 1 TiB")]
    Memory(u64),
    /// More disks than a guest has names for.
    #[error("{0} disks: use up to {MOST_DISKS}")]
    Disks(usize),
    /// The guest's first program has a path that depends on a directory.
    #[error("the path of '{}' must be absolute", .0.display())]
    InitRelative(PathBuf),
    /// The guest's first program does not exist.
    #[error("the guest's first program '{}' is not there", .0.display())]
    InitMissing(PathBuf),
    /// A directory is to be shown to the guest by a name that it cannot have.
    #[error("'{0}' cannot be the name of a directory for the guest")]
    ShownName(&'static str),
    /// A word that the kernel's command line would change.
    #[error(
        "'{0}' cannot be on a kernel's command line: no spaces, quotes or letters beyond ASCII"
    )]
    KernelWord(String),
    /// Two disks that nobody could tell apart.
    #[error("two disks have the serial number '{0}'")]
    SerialTwice(String),
    /// Disks of which some are SCSI disks, whose names would depend on one another.
    #[error("some disks are SCSI disks, and some are not")]
    Transports,
    /// An NVMe drive is no SCSI disk.
    #[error(
        "the disk '{0}' is an NVMe drive, for which Linux has no SCSI timer: use SATA or SAS drives"
    )]
    ScsiNvme(String),
    /// A serial number that virtio does not carry.
    #[error("serial number '{0}' must be 1 to 20 letters, digits or signs")]
    Serial(String),
    /// Sectors that no disk has.
    #[error("sectors of {logical} and {physical} bytes: use 512 or 4096")]
    Sectors {
        /// Bytes of a logical one.
        logical: u32,
        /// Bytes of a physical one.
        physical: u32,
    },
    /// Sizes that the guest's kernel would round.
    #[error("{optimal} and {discard} are not multiples of sectors of {logical}")]
    Granularity {
        /// Bytes that requests had best be a multiple of.
        optimal: u32,
        /// Bytes that are discarded at least; 0 without discard.
        discard: u32,
        /// Bytes of a logical sector.
        logical: u32,
    },
    /// A disk that is empty, or not of whole sectors.
    #[error("a disk of {0} sectors of 512 bytes")]
    Capacity(u64),
    /// A disk that is larger than Linux counts.
    #[error("a disk of {0} sectors is too large for Linux")]
    TooLarge(u64),
    /// A bus slower than the model is made for, in bytes per second.
    #[error("a bus of {0} bytes per second: use 1 MB/s and more")]
    Bus(u64),
    /// A CPU that this process may not run on.
    #[error("this process may not run on processor {0}")]
    Cpu(usize),
    /// A disk that was not given.
    #[error("there is no disk {disk}, only {count}")]
    NoDisk {
        /// Its number, from 0.
        disk: usize,
        /// How many there are.
        count: usize,
    },
    /// A place that no disk reaches.
    #[error("sector {0} is beyond 2^64 bytes")]
    Beyond(u64),
}
