//! What is reported.

use std::time::Duration;

/// Which logs are written when all is done, each under the beginning of its files' names;
/// an empty one stands for the job's name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Logs {
    /// `write_bw_log`.
    pub bandwidth: Option<String>,
    /// `write_iops_log`.
    pub operations: Option<String>,
    /// `write_lat_log`.
    pub latency: Option<String>,
    /// Not `per_job_logs`: all jobs share one file.
    pub together: bool,
}

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
    /// `write_bw_log` and its like: the beginnings of the names of log files.
    pub logs: Logs,
    /// `log_avg_msec`: the step of logs; without it each I/O is one line.
    pub log_step: Option<Duration>,
    /// `significant_figures`, 1 to 10.
    pub significant_figures: u8,
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u16,
    /// `unit_base`: 0 (as it comes), 8 (bytes) or 1 (bits).
    pub unit_base: u8,
}
