//! What is measured: device counters, processor time, latency histograms, the
//! environment, SMART. The [`Sample`] is the record that all later stages read.

mod block;
mod counters;
#[cfg(any(test, feature = "fabricated"))]
pub mod fabricated;
mod foreign;
mod latency;
mod meter;
mod mounts;
mod processors;
mod root;
mod sample;

pub use block::{BlockDevice, btrfs_families, devices_under};
pub use counters::{Counters, SECTOR_BYTES, parse_diskstats};
pub use latency::{Latency, LatencyHistogram};
pub use meter::{Measured, Meter, Watched};
pub use mounts::{Mount, mount_of, mounts, parse_mountinfo, unescape};
pub use processors::ProcessorTime;
pub use root::SystemRoot;
pub use sample::{
    Cpu, Direction, DriveSeries, DriveState, DriveTraffic, Environment, Figure, Note, Overhead,
    Sample, Series, Step, Tool,
};
