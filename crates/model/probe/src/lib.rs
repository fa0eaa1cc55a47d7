//! From timed requests to the parameters of a drive model.
//!
//! Pure: no clock, no files. A [`TimedDrive`] answers requests and says when; that is a real
//! drive behind a kernel, or a model in virtual time ([`ModelledDrive`]). [`probe_hard_disk`]
//! and [`probe_solid_state`] ask it for what the models of `disklab-drive` need, and
//! give [`Findings`]: each value with an interval. [`drive_file()`] writes them as a drive
//! file, in which a shipped drive supplies what was not measured.

mod check;
mod drive_file;
mod error;
mod estimate;
mod field;
mod findings;
mod hdd;
mod load;
mod modelled;
mod progress;
mod sibling;
mod ssd;
mod timed;

pub use check::{
    DISK_LOADS, DISK_WRITES, FLASH_LOADS, FLASH_WRITES, Load, LoadOrder, difference,
    prepare_writes, run_load, run_write_load,
};
pub use drive_file::{Description, DriveFileError, MARK, drive_file};
pub use error::{Disturbance, ProbeError, Unsuitable};
pub use estimate::ProbedValue;
pub use field::{FIELDS, Field, FieldUnit};
pub use findings::{Findings, MeasuredCurve};
pub use hdd::{probe_hard_disk, probe_write_cache};
pub use modelled::ModelledDrive;
pub use progress::{ProbeWatcher, Unwatched};
pub use sibling::Siblings;
pub use ssd::{probe_flash_writes, probe_solid_state, written_range};
pub use timed::{DriveAccess, TimedAccess, TimedDrive};
