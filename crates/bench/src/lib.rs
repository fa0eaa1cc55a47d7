//! Where a study runs.
//!
//! A [`Bench`] surveys a campaign (what can run here, what cannot and why) and
//! carries out the cells of one stack. `loop`, `dir` and `disks` do it on this
//! machine; the lab will boot a guest in which the same code does it.

mod bench;
mod campaign;
mod cell;
mod device_bench;
mod dir_bench;
mod disk_drives;
mod drives;
mod error;
mod loop_drives;
mod predict;
pub mod safety;
mod survey;

pub use bench::{Bench, CellOutcome, Phase, Sink};
pub use campaign::Campaign;
pub use device_bench::DeviceBench;
pub use dir_bench::{DirBench, free_space};
pub use disk_drives::DiskDrives;
pub use drives::{Drives, Ready, ReadyDrive};
pub use error::{BenchError, CellError};
pub use loop_drives::LoopDrives;
pub use predict::{Medium, Prediction, cell_seconds, predict};
pub use survey::Survey;
