//! fio's JSON (`--output-format=json+`, version 3.33), which fio's own tools and
//! others' read.

use disklab_jobfile::SteadyFigure;
use disklab_sample::{Direction, Latency};
use serde_json::{Map, Value, json};

use super::bandwidth::BandwidthSpread;
use super::{DirectionReport, EngineReport, JobReport};
use crate::io_failure::IoFailure;
use crate::steady::SteadyState;

/// The version whose format this is.
const FORMAT: &str = "fio-3.33";

/// Upper ends of the ranges in fio's `latency_us` and `latency_ms` (stat.c:
/// stat_calc_lat_u and its like).
const RANGES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

impl EngineReport {
    /// As fio 3 would write it as `json+`, with `disklab version` besides `fio version`.
    pub fn to_fio_json(&self) -> Value {
        self.fio_json(Detail::Bins)
    }

    /// As fio 3 would write it as `json`: without the bins of the histograms.
    pub fn to_brief_fio_json(&self) -> Value {
        self.fio_json(Detail::Percentiles)
    }

    fn fio_json(&self, detail: Detail) -> Value {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.unwrap_or_default();
        json!({
            "fio version": FORMAT,
            "disklab version": env!("CARGO_PKG_VERSION"),
            "timestamp": now.as_secs(),
            "timestamp_ms": u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            "time": seconds_as_date(now.as_secs()),
            "global options": {},
            "jobs": self.jobs.iter().map(|job| job.fio_json(detail)).collect::<Vec<_>>(),
            "disk_util": [],
        })
    }
}

/// How much of the distributions is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// `json`.
    Percentiles,
    /// `json+`: all bins, too.
    Bins,
}

impl JobReport {
    fn fio_json(&self, detail: Detail) -> Value {
        let errno = self.error.as_ref().map_or(0, IoFailure::errno);
        let share = |ns: u64| match self.elapsed_ns {
            0 => 0.0,
            elapsed => ns as f64 * 100.0 / elapsed as f64 / f64::from(self.clones.max(1)),
        };
        let mut job = json!({
            "jobname": self.name,
            "groupid": self.group,
            "error": errno,
            "eta": 0,
            "elapsed": self.elapsed_ns.div_ceil(1_000_000_000),
            "job options": self
                .options
                .iter()
                .map(|(name, value)| (name.clone(), Value::from(value.clone())))
                .collect::<Map<_, _>>(),
            "read": self.side(&self.read, Direction::Read, detail),
            "write": self.side(&self.write, Direction::Write, detail),
            "trim": self.side(&DirectionReport::default(), Direction::Trim, detail),
            "sync": {
                "total_ios": self.sync.as_ref().map_or(0, |l| l.histogram.count()),
                "lat_ns": self.latency(self.sync.as_ref(), true, detail),
            },
            "job_runtime": self.elapsed_ns / 1_000_000,
            "usr_cpu": share(self.user_ns),
            "sys_cpu": share(self.system_ns),
            "ctx": self.context_switches,
            "majf": self.faults.0,
            "minf": self.faults.1,
            "iodepth_level": levels(["1", "2", "4", "8", "16", "32", ">=64"], self.depths),
            "iodepth_submit": levels(BY_POWER, self.submits),
            "iodepth_complete": levels(BY_POWER, self.completes),
        });
        if let Some(job) = job.as_object_mut() {
            self.add_rest(job);
        }
        job
    }

    /// What is not in each of fio's reports, or comes after the rest.
    fn add_rest(&self, job: &mut Map<String, Value>) {
        let mut add = |name: &str, value: Value| job.insert(name.to_owned(), value);
        if let Some(failure) = &self.error {
            add("error_text", failure.to_string().into());
        }
        for (name, unit, next) in [
            ("latency_ns", 1_u64, 1000_u64),
            ("latency_us", 1000, 1_000_000),
            ("latency_ms", 1_000_000, u64::MAX),
        ] {
            add(name, self.ranges(unit, next));
        }
        add("latency_depth", self.depth.into());
        let target = self.latency_target.as_ref();
        let ns = target.map_or(0, |target| target.latency.as_nanos());
        let window = target.map_or(0, |target| target.window.as_micros());
        let percentile = target.map_or(100.0, |target| target.percentile);
        let whole = |n: u128| Value::from(u64::try_from(n).unwrap_or(u64::MAX));
        add("latency_target", whole(ns));
        add("latency_percentile", percentile.into());
        add("latency_window", whole(window));
        if let Some(steadiness) = &self.steadiness {
            add("steadystate", steady(steadiness));
        }
        add("total_err", self.passed_over.into());
        add("ioengine", self.engine.into());
        add("notes", self.notes.clone().into());
    }

    fn side(&self, done: &DirectionReport, direction: Direction, detail: Detail) -> Value {
        let nanoseconds = |d: std::time::Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        let spread = |window, count: fn(&crate::measure::SeriesBin) -> u64| {
            if done.operations == 0 || direction == Direction::Trim {
                return BandwidthSpread::default();
            }
            BandwidthSpread::of(
                &self.series,
                direction,
                nanoseconds(window),
                self.elapsed_ns,
                count,
            )
        };
        let bytes = spread(self.reporting.bw_window, |cell| cell.bytes);
        let ios = spread(self.reporting.iops_window, |cell| cell.operations);
        let kib = |bytes: f64| bytes / 1024.0;
        let mean = kib(bytes.mean);
        let total = kib(done.bytes_per_second());
        let percent = if total > 0.0 { (mean * 100.0 / total).min(100.0) } else { 0.0 };
        json!({
            "io_bytes": done.bytes,
            "io_kbytes": done.bytes / 1024,
            "bw_bytes": done.bytes_per_second() as u64,
            "bw": total as u64,
            "iops": done.operations_per_second(),
            "runtime": done.runtime_ns / 1_000_000,
            "total_ios": done.operations,
            "short_ios": done.short,
            "drop_ios": 0,
            "slat_ns": self.latency(done.submission.as_ref(), self.reporting.slat_percentiles, detail),
            "clat_ns": self.latency(done.completion.as_ref(), self.reporting.clat_percentiles, detail),
            "lat_ns": self.latency(done.total.as_ref(), self.reporting.lat_percentiles, detail),
            "bw_min": kib(bytes.min) as u64,
            "bw_max": kib(bytes.max) as u64,
            "bw_agg": percent,
            "bw_mean": mean,
            "bw_dev": kib(bytes.deviation),
            "bw_samples": bytes.samples,
            "iops_min": ios.min as u64,
            "iops_max": ios.max as u64,
            "iops_mean": ios.mean,
            "iops_stddev": ios.deviation,
            "iops_samples": ios.samples,
        })
    }

    /// A latency object.
    fn latency(&self, latency: Option<&Latency>, percentiles: bool, detail: Detail) -> Value {
        let Some(latency) = latency.filter(|l| l.histogram.count() > 0) else {
            return json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0});
        };
        let mut object = json!({
            "min": latency.min_ns,
            "max": latency.max_ns,
            "mean": latency.mean_ns,
            "stddev": latency.deviation_ns,
            "N": latency.histogram.count(),
        });
        if let Some(object) = object.as_object_mut() {
            if percentiles {
                let list = self.reporting.percentiles.iter().map(|percent| {
                    let value = latency.histogram.quantile(percent / 100.0);
                    (format!("{percent:.6}"), Value::from(value.min(latency.max_ns)))
                });
                object.insert("percentile".to_owned(), list.collect::<Map<_, _>>().into());
            }
            if detail == Detail::Bins {
                let bins = latency.histogram.bins().into_iter();
                let bins = bins.map(|(ns, count)| (ns.to_string(), Value::from(count)));
                object.insert("bins".to_owned(), bins.collect::<Map<_, _>>().into());
            }
        }
        object
    }

    /// Percent of the I/Os whose latency lies in fio's ranges of one unit.
    fn ranges(&self, unit: u64, end: u64) -> Value {
        let latencies = || [&self.read, &self.write].into_iter().filter_map(|d| d.total.as_ref());
        let all: u64 = latencies().map(|l| l.histogram.count()).sum();
        let mut counts = [0_u64; 12];
        let bins = latencies().flat_map(|l| l.histogram.bins());
        for (ns, count) in bins.filter(|(ns, _)| (*ns >= unit || unit == 1) && *ns < end) {
            let at = RANGES.iter().position(|to| ns < to * unit);
            // Milliseconds have two more: up to 2000, and beyond.
            counts[at.unwrap_or(if ns < 2000 * unit { 10 } else { 11 })] += count;
        }
        let share = |count: u64| count as f64 * 100.0 / all.max(1) as f64;
        let shares = RANGES.iter().zip(counts).map(|(to, n)| (to.to_string(), share(n).into()));
        let mut object: Map<String, Value> = shares.collect();
        if end == u64::MAX {
            object.insert("2000".to_owned(), share(counts[10]).into());
            object.insert(">=2000".to_owned(), share(counts[11]).into());
        }
        object.into()
    }
}

/// fio's steps of what was submitted, or had ended, at once (show_io_u in stat.c).
const BY_POWER: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Counts as percent of all.
fn levels(names: [&str; 7], counts: [u64; 7]) -> Value {
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let level =
        |(name, count): (&str, u64)| (name.to_owned(), Value::from(count as f64 * 100.0 / all));
    names.into_iter().zip(counts).map(level).collect::<Map<_, _>>().into()
}

/// fio's object, without the figures of each second.
fn steady(steadiness: &SteadyState) -> Value {
    let rule = &steadiness.rule;
    let percent = if rule.percent { "%" } else { "" };
    let figure = match (rule.figure, rule.slope) {
        (SteadyFigure::Iops, false) => "iops",
        (SteadyFigure::Iops, true) => "iops_slope",
        (SteadyFigure::Bandwidth, false) => "bw",
        (SteadyFigure::Bandwidth, true) => "bw_slope",
    };
    json!({
        "ss": format!("{figure}:{:.6}{percent}", rule.limit),
        "duration": rule.seconds,
        "attained": u8::from(steadiness.attained),
        "criterion": format!("{:.6}{percent}", steadiness.criterion),
    })
}

/// `2026-01-31 12:00:00` UTC of seconds since 1970 (the civil calendar by the
/// algorithm of Howard Hinnant's `civil_from_days`).
fn seconds_as_date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(seconds_as_date(0), "1970-01-01 00:00:00");
        assert_eq!(seconds_as_date(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(seconds_as_date(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(seconds_as_date(1_795_280_400), "2026-11-21 17:00:00");
    }
}
