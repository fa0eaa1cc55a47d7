//! What a stack will be, known before anything is touched.

use disklab_cell::LossTree;
use disklab_units::Bytes;

use crate::Below;

/// One block device, pool or directory to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// Usable bytes (an estimate where a file system or pool takes its share).
    pub size: Bytes,
    /// Which drives must fail before data is lost.
    pub loss: LossTree,
    /// Bytes written to each of the study's drives for one byte written to the
    /// volume in large sequential writes, on average over the volume.
    pub drive_writes: Vec<f64>,
    /// What keeps data if a drive fails.
    pub redundancy: Redundancy,
    /// What a small write to it is to the drives.
    pub small_write: SmallWrite,
}

/// What keeps the data of a volume if a drive fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Redundancy {
    /// Nothing.
    None,
    /// Copies on other drives.
    Copies,
    /// Parity, over copies or not.
    Parity,
}

/// Requests to drives for one small write to a volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmallWrite {
    /// Those that read what a new parity needs: the write waits for them.
    pub reads: f64,
    /// Those that write: one for each copy, or the data and each parity.
    pub writes: f64,
}

impl SmallWrite {
    /// That to a drive.
    pub const ONE: Self = Self { reads: 0.0, writes: 1.0 };
}

/// What is at some height of a stack.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Block devices.
    Devices(Vec<Volume>),
    /// A ZFS pool.
    Pool(Volume),
    /// A mounted file system.
    Directory(Volume),
}

impl Volume {
    /// The bare drives.
    pub fn drives(sizes: &[Bytes]) -> Vec<Self> {
        let drive = |(index, size): (usize, &Bytes)| {
            let mut drive_writes = vec![0.0; sizes.len()];
            drive_writes[index] = 1.0;
            let (redundancy, small_write) = (Redundancy::None, SmallWrite::ONE);
            let loss = LossTree::Drive(u32::try_from(index).unwrap_or(u32::MAX));
            Self { size: *size, loss, drive_writes, redundancy, small_write }
        };
        sizes.iter().enumerate().map(drive).collect()
    }

    /// How many drives may fail, whichever they are, before data is lost.
    pub fn tolerates(&self) -> u32 {
        self.loss.tolerates()
    }

    /// Adds what `other` writes to drives for `share` bytes.
    pub(crate) fn add_writes(&mut self, other: &Self, share: f64) {
        for (total, writes) in self.drive_writes.iter_mut().zip(&other.drive_writes) {
            *total += share * writes;
        }
    }
}

impl Shape {
    /// The bare drives.
    pub fn drives(sizes: &[Bytes]) -> Self {
        Self::Devices(Volume::drives(sizes))
    }

    /// The kind of thing that it is.
    pub fn kind(&self) -> Below {
        match self {
            Self::Devices(volumes) => Below::Devices(volumes.len()),
            Self::Pool(_) => Below::Pool,
            Self::Directory(_) => Below::Directory,
        }
    }
}
