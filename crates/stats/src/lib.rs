//! Statistics, pure: intervals and paired comparisons.
//!
//! One cell is one observation. Throughput and latency are analysed as
//! logarithms, because what changes them multiplies them. One method is one
//! file; each cites where it comes from and is tested with a published case.

mod autocorrelation;
mod change_points;
mod estimate;
mod holm;
mod interval;
mod paired;
mod ranks;
mod snia;
mod steady;
mod student;

pub use autocorrelation::{effective_observations, lag_1};
pub use change_points::{SegmentCost, change_points};
pub use estimate::{Estimate, Method, estimate};
pub use holm::holm;
pub use interval::Interval;
pub use paired::{Ratio, paired_ratio};
pub use ranks::{MedianRanks, QuantileRanks, median_ranks, quantile_interval, quantile_ranks};
pub use snia::{SNIA_ROUNDS, SniaWindow, snia_steady_from};
pub use steady::{Course, Steadiness, steadiness};

/// The confidence that intervals are made for.
pub const CONFIDENCE: f64 = 0.95;
