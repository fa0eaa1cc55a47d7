//! What is measured: device counters, processor time, latency histograms, the
//! environment, SMART. The [`Sample`] is the record that all later stages read.

mod latency;
mod sample;

pub use latency::{Latency, LatencyHistogram};
pub use sample::{
    Cpu, Direction, DriveSeries, DriveState, DriveTraffic, Environment, Figure, Note, Overhead,
    Sample, Series, Step, Tool,
};
