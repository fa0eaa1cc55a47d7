//! Checks of hard disks. Those that only read are for every drive with platters.

pub(crate) mod caches;
pub(crate) mod depth;
pub(crate) mod destage;
pub(crate) mod position;
pub(crate) mod scan;
pub(crate) mod seek;
pub(crate) mod span;

use disklab_drive::hdd::Parameters;
use disklab_drive::{DriveFile, Kind};

/// The data of a hard disk with conventional recording.
fn conventional(file: &DriveFile) -> Option<&Parameters> {
    file.mechanics().filter(|_| matches!(file.kind, Kind::Hdd(_)))
}
