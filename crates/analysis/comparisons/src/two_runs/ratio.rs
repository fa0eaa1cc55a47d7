//! The ratio of a figure of two runs.

use disklab_stats::Interval;

/// The ratio of a figure of two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedRatio {
    /// Second ÷ first.
    pub centre: f64,
    /// Its 95 % interval; none where a side has one value.
    pub interval: Option<Interval>,
    /// Two-sided probability of such values if the ratio lay at the nearer edge of the
    /// band of equivalence, or inside; 1 where the centre itself lies inside. None where
    /// a side has one value.
    pub p_beyond: Option<f64>,
}
