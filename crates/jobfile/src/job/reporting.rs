//! What is reported.

use std::time::Duration;

/// What is reported. The native engine always keeps whole histograms; these say
/// what goes into its fio-compatible output.
#[derive(Debug, Clone, PartialEq)]
pub struct Reporting {
    /// `percentile_list`, 0 to 100, ascending, at most 20 as in fio.
    pub percentiles: Vec<f64>,
    /// `clat_percentiles`: of completion latencies.
    pub clat_percentiles: bool,
    /// `lat_percentiles`: of total latencies.
    pub lat_percentiles: bool,
    /// `slat_percentiles`: of submission latencies.
    pub slat_percentiles: bool,
    /// Not `disable_lat`: total latencies are measured.
    pub lat: bool,
    /// Not `disable_clat`.
    pub clat: bool,
    /// Not `disable_slat`.
    pub slat: bool,
    /// Not `disable_bw_measurement`.
    pub bw: bool,
    /// `bwavgtime`: over which time bandwidth is averaged for its extremes.
    pub bw_window: Duration,
    /// `iopsavgtime`: the same for I/Os per second.
    pub iops_window: Duration,
    /// `log_avg_msec`: the step of logs; without it each I/O is one line.
    pub log_step: Option<Duration>,
    /// `significant_figures`, 1 to 10.
    pub significant_figures: u8,
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u16,
    /// `unit_base`: 0 (as it comes), 8 (bytes) or 1 (bits).
    pub unit_base: u8,
}
