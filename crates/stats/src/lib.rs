//! Statistics, pure: intervals and paired comparisons.
//!
//! One cell is one observation. Throughput and latency are analysed as
//! logarithms, because what changes them multiplies them.

/// An interval with its confidence level (0.95, or what small samples allow).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability with which such intervals cover the truth.
    pub confidence: f64,
}

/// How an [`Estimate`] was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// One observation: no interval.
    Once,
    /// All observations are equal: no interval is needed.
    Deterministic,
    /// Geometric mean with a t interval of the logarithms (2 to 5 observations).
    LogT,
    /// Mean with a t interval of the observations themselves, where some are not
    /// positive and have no logarithm (2 to 5 observations).
    T,
    /// Median with the exact distribution-free interval (6 or more).
    Median,
}

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Observations.
    pub n: usize,
    /// The figure.
    pub centre: f64,
    /// Its interval; none for one observation, without width for equal ones.
    pub interval: Option<Interval>,
    /// How it was made.
    pub method: Method,
}
