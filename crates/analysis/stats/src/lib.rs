//! Statistics, pure: intervals and paired comparisons.
//!
//! One cell is one observation. Throughput and latency are analysed as
//! logarithms, because what changes them multiplies them. One method is one
//! file; each cites where it comes from and is tested with a published case.

mod autocorrelation;
mod benjamini_hochberg;
mod blocks;
mod blocks_needed;
mod change_points;
#[cfg(test)]
mod characterization_tests;
mod estimate;
mod hodges_lehmann;
mod holm;
mod interval;
mod median;
mod moderated;
mod normal;
mod paired;
mod ranks;
mod snia;
mod steady;
mod student;
mod two_modes;
mod von_neumann;
mod welch;
mod wilcoxon;

pub use autocorrelation::lag_1;
pub use benjamini_hochberg::benjamini_hochberg;
pub use blocks::{
    BlockTest, block_interval, block_ratio, block_ratio_judged, fewest_despite_a_stall,
};
pub use blocks_needed::{Ask, BlocksError, Planned, Tails, blocks_needed};
pub use change_points::level_changes;
pub use estimate::{Estimate, Method, estimate, estimate_at};
pub use hodges_lehmann::{LocationShift, unpaired_shift};
pub use holm::holm;
pub use interval::Interval;
pub use median::{median, median_low};
pub use moderated::VariancePrior;
pub use paired::{Ratio, paired_ratio};
pub use ranks::{MedianRanks, median_ranks};
pub use snia::{SNIA_ROUNDS, snia_steady_from};
pub use steady::{SeriesSteadiness, SeriesTrend, steadiness};
pub use two_modes::{TwoModes, two_modes};
pub use von_neumann::randomness_p;
pub use welch::{unpaired_ratio, unpaired_ratio_at};

/// The confidence that intervals are made for.
pub const CONFIDENCE: f64 = 0.95;

/// The confidence of a single figure's interval where the campaign ends as soon as that is
/// narrow enough: a campaign that stops when repeats happen to agree has too narrow ones. With up
/// to twelve looks, those at 99 % hold the figure in 94 to 99 %, those at 95 % in 87 to 96 %
/// (docs/validation/calibration.md).
pub const CONFIDENCE_OF_LOOKS: f64 = 0.99;
