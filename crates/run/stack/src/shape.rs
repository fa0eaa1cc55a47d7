//! What a stack will be, known before anything is touched.

use disklab_units::Bytes;

use crate::Below;

/// One block device, pool or directory to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// Usable bytes (an estimate where a file system or pool takes its share).
    pub size: Bytes,
    /// How many drives may fail, whichever they are, before data is lost.
    pub tolerates: u32,
    /// Bytes written to each of the study's drives for one byte written to the
    /// volume in large sequential writes, on average over the volume.
    pub drive_writes: Vec<f64>,
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

impl Shape {
    /// The bare drives.
    pub fn drives(sizes: &[Bytes]) -> Self {
        let count = sizes.len();
        Self::Devices(
            sizes
                .iter()
                .enumerate()
                .map(|(index, size)| {
                    let mut drive_writes = vec![0.0; count];
                    drive_writes[index] = 1.0;
                    Volume { size: *size, tolerates: 0, drive_writes }
                })
                .collect(),
        )
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
