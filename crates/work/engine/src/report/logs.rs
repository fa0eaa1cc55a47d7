//! Logs as fio writes them: `write_bw_log`, `write_iops_log`, `write_lat_log`.

use std::fmt::Write;
use std::path::PathBuf;

use disklab_jobfile::Logs;
use disklab_sample::Direction;

use super::{EngineReport, JobReport};

/// Which of fio's logs a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// KiB per second.
    Bandwidth,
    /// I/Os per second.
    Operations,
    /// Mean latency in nanoseconds.
    Latency,
}

impl LogKind {
    /// fio's word in the file's name: `NAME_bw.1.log`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bandwidth => "bw",
            Self::Operations => "iops",
            Self::Latency => "lat",
        }
    }
}

impl JobReport {
    /// A log in fio's format ('Log file formats' in its HOWTO): time in
    /// milliseconds, value, direction (0 read, 1 write), block size, offset, one
    /// line for each interval in which something was done. The interval is
    /// `log_avg_msec`, or that of [`JobReport::series`] where it is longer.
    pub fn log(&self, kind: LogKind) -> String {
        let mut series = self.series.clone();
        let step = self.reporting.log_step.map_or(0, |step| step.as_nanos());
        series.coarsen(u64::try_from(step).unwrap_or(u64::MAX));
        let seconds = series.interval_ns as f64 / 1e9;
        let mut text = String::new();
        for at in 0..series.read.len() {
            let end_ms = (at as u64 + 1).saturating_mul(series.interval_ns) / 1_000_000;
            for (number, direction) in [(0, Direction::Read), (1, Direction::Write)] {
                let cell = series.of(direction)[at];
                if cell.operations == 0 {
                    continue;
                }
                let value = match kind {
                    LogKind::Bandwidth => (cell.bytes as f64 / 1024.0 / seconds) as u64,
                    LogKind::Operations => (cell.operations as f64 / seconds) as u64,
                    LogKind::Latency => cell.latency_ns / cell.operations,
                };
                // As fio for averages: no block size, no offset.
                // Writing into a string cannot fail.
                let _ = writeln!(text, "{end_ms}, {value}, {number}, 0, 0");
            }
        }
        text
    }
}

impl EngineReport {
    /// All logs of a kind: name of the file, as fio would call it, and content.
    pub fn logs(&self, kind: LogKind) -> Vec<(String, String)> {
        let name = |number: usize, job: &JobReport| {
            let safe = job.name.replace(['/', '\\'], "_");
            format!("{safe}_{}.{}.log", kind.word(), number + 1)
        };
        self.jobs.iter().enumerate().map(|(n, job)| (name(n, job), job.log(kind))).collect()
    }

    /// The logs that the jobs ask for (`write_bw_log` and its like): path of the file, and
    /// content. Jobs without `per_job_logs` add to one.
    pub fn wanted_logs(&self) -> Vec<(PathBuf, String)> {
        let mut logs: Vec<(PathBuf, String)> = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            for (kind, path) in log_paths(&job.name, &job.reporting.logs, number) {
                let text = job.log(kind);
                match logs.iter_mut().find(|(known, _)| *known == path) {
                    Some((_, before)) => before.push_str(&text),
                    None => logs.push((path, text)),
                }
            }
        }
        logs
    }
}

/// The logs that a job asks for, as fio calls them (add_job in init.c); `number` counts jobs
/// and their clones from 0.
pub fn log_paths(job: &str, logs: &Logs, number: usize) -> Vec<(LogKind, PathBuf)> {
    let kinds = [
        (LogKind::Bandwidth, &logs.bandwidth),
        (LogKind::Operations, &logs.operations),
        (LogKind::Latency, &logs.latency),
    ];
    let path = |(kind, begin): (LogKind, &Option<String>)| {
        let begin = begin.as_deref()?;
        let safe = job.replace('/', "_");
        let begin = if begin.is_empty() { safe.as_str() } else { begin };
        let number = if logs.together { String::new() } else { format!(".{}", number + 1) };
        Some((kind, PathBuf::from(format!("{begin}_{}{number}.log", kind.word()))))
    };
    kinds.into_iter().filter_map(path).collect()
}
