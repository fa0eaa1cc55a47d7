//! fio's JSON, of all versions since 2.1.
//!
//! Field by field rather than by a schema: what is there differs between
//! versions, and numbers come as integers, floats, or (for the minimum of
//! nothing) as the largest integer.

use disklab_sample::{Direction, Latency, LatencyHistogram};
use serde_json::{Deserializer, Map, Value};

use crate::{OutputProblem, WorkloadError};

/// What one run of fio reported.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioOutput {
    /// Such as `fio-3.33`.
    pub version: String,
    /// One for each job, or with `group_reporting` for each group.
    pub jobs: Vec<JobOutput>,
}

/// What one job, or a group of them, did.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobOutput {
    /// The section's name.
    pub name: String,
    /// 0, or why it failed (errno).
    pub error: i64,
    /// Operations that failed and were passed over, as `continue_on_error` asks.
    pub passed_over: u64,
    /// What it did in each direction in which it did anything.
    pub done: Vec<DirectionOutput>,
    /// Latencies of its `fsync` and `fdatasync`, where fio gave their distribution.
    pub sync: Option<Latency>,
}

/// What was done in one direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DirectionOutput {
    /// Which.
    pub direction: Direction,
    /// Bytes moved.
    pub bytes: u64,
    pub operations: u64,
    /// Nanoseconds from its first to its last operation.
    pub runtime_ns: u64,
    /// As fio reckons it.
    pub bytes_per_second: f64,
    /// As fio reckons it.
    pub operations_per_second: f64,
    /// Latencies, where fio gave their distribution.
    pub latency: Option<(LatencyKind, Latency)>,
    /// Latencies of writes and the syncs that followed them, together.
    pub commit: Option<Latency>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LatencyKind {
    /// From submission to completion: what an application waits.
    Total,
    /// From when the kernel had taken the operation. Differs from the total
    /// where submitting takes long, as with buffered asynchronous I/O.
    Completion,
}

/// Reads fio's standard output: its JSON and any lines around it.
///
/// # Errors
/// [`WorkloadError::Output`] if there is no report in it.
pub(super) fn parse(text: &str) -> Result<FioOutput, WorkloadError> {
    // fio writes warnings to the same place; a few even into the middle.
    let without_warnings = || {
        let kept = text.lines().filter(|line| !line.starts_with("fio:"));
        kept.collect::<Vec<_>>().join("\n")
    };
    let report = find(text).or_else(|| find(&without_warnings())).ok_or_else(|| {
        let start: String = text.trim().chars().take(200).collect();
        let problem = OutputProblem::Unexpected { expected: "a JSON report", found: start };
        WorkloadError::output("fio", problem)
    })?;
    let jobs = report.get("jobs").and_then(Value::as_array).into_iter().flatten();
    let jobs: Vec<JobOutput> = jobs.filter_map(Value::as_object).map(job).collect();
    if jobs.is_empty() {
        return Err(WorkloadError::output("fio", OutputProblem::NoJobs));
    }
    Ok(FioOutput { version: text_of(&report, "fio version"), jobs })
}

/// How many jobs a text of fio's reports. For the fuzzer, which gives it any.
///
/// # Errors
/// [`WorkloadError::Output`] if there is no report in it.
pub fn jobs_in_report(text: &str) -> Result<usize, WorkloadError> {
    parse(text).map(|output| output.jobs.len())
}

/// The first object in the text that has `jobs`.
fn find(text: &str) -> Option<Map<String, Value>> {
    let starts = text.match_indices('{').map(|(at, _)| at);
    // Only at the start of a line, so that a long report is not tried from each
    // of its braces.
    let starts = starts.filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n');
    starts.take(100).find_map(|at| {
        match Deserializer::from_str(&text[at..]).into_iter::<Value>().next() {
            Some(Ok(Value::Object(object))) if object.contains_key("jobs") => Some(object),
            _ => None,
        }
    })
}

fn job(job: &Map<String, Value>) -> JobOutput {
    let directions =
        [("read", Direction::Read), ("write", Direction::Write), ("trim", Direction::Trim)];
    let done = directions.into_iter().filter_map(|(key, direction)| {
        let done = done(job.get(key)?.as_object()?, direction);
        (done.bytes > 0 || done.operations > 0).then_some(done)
    });
    JobOutput {
        name: text_of(job, "jobname"),
        error: number(job, "error").unwrap_or(0.0) as i64,
        passed_over: number(job, "total_err").unwrap_or(0.0) as u64,
        done: done.collect(),
        sync: job.get("sync").and_then(|s| latency(s.as_object()?)).map(|(_, latency)| latency),
    }
}

fn done(report: &Map<String, Value>, direction: Direction) -> DirectionOutput {
    let whole = |key| number(report, key).filter(|n| *n >= 0.0).map(|n| n as u64);
    // Before fio 3, which has `io_kbytes` besides, `io_bytes` were KiB.
    let unit = if report.contains_key("io_kbytes") { 1 } else { 1024 };
    let bytes = whole("io_bytes").unwrap_or(0).saturating_mul(unit);
    let bytes_per_second =
        // `bw` is KiB/s in all versions, and rounded.
        number(report, "bw_bytes").or(number(report, "bw").map(|kib| kib * 1024.0));
    let iops = number(report, "iops").unwrap_or(0.0);
    let runtime_ms = whole("runtime").unwrap_or(0);
    DirectionOutput {
        direction,
        bytes,
        // Versions before 2.1.5 did not count them.
        operations: whole("total_ios")
            .unwrap_or_else(|| (iops * runtime_ms as f64 / 1000.0).round() as u64),
        runtime_ns: runtime_ms.saturating_mul(1_000_000),
        bytes_per_second: bytes_per_second.unwrap_or(0.0),
        operations_per_second: iops,
        latency: latency(report),
        commit: None,
    }
}

/// The total latency, or the completion latency where only that has bins.
/// Before fio 3, latencies were microseconds, under names without `_ns`.
fn latency(report: &Map<String, Value>) -> Option<(LatencyKind, Latency)> {
    let candidates = [
        ("lat_ns", LatencyKind::Total, 1.0),
        ("lat", LatencyKind::Total, 1000.0),
        ("clat_ns", LatencyKind::Completion, 1.0),
        ("clat", LatencyKind::Completion, 1000.0),
    ];
    candidates.into_iter().find_map(|(key, kind, ns)| {
        let report = report.get(key)?.as_object()?;
        let mut histogram = LatencyHistogram::new();
        for (bin, count) in report.get("bins")?.as_object()? {
            if let (Ok(bin), Some(count)) = (bin.parse::<f64>(), count.as_u64()) {
                histogram.record((bin * ns) as u64, count);
            }
        }
        if histogram.count() == 0 {
            return None;
        }
        // fio's own figures are of the single latencies; the bins are rounded.
        let from_bins = Latency::from_histogram(histogram);
        let exact =
            |key: &str| number(report, key).map(|n| n * ns).filter(|n| (0.0..1e18).contains(n));
        Some((
            kind,
            Latency {
                min_ns: exact("min").map_or(from_bins.min_ns, |n| n as u64),
                max_ns: exact("max").map_or(from_bins.max_ns, |n| n as u64),
                mean_ns: exact("mean").unwrap_or(from_bins.mean_ns),
                deviation_ns: exact("stddev").unwrap_or(from_bins.deviation_ns),
                histogram: from_bins.histogram,
            },
        ))
    })
}

fn number(object: &Map<String, Value>, key: &str) -> Option<f64> {
    object.get(key)?.as_f64().filter(|n| n.is_finite())
}

fn text_of(object: &Map<String, Value>, key: &str) -> String {
    object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As fio 3 writes it with --output-format=json+ and lat_percentiles=1.
    pub const VERSION_3: &str = r#"{
  "fio version" : "fio-3.33",
  "timestamp" : 1700000000,
  "global options" : { "randseed" : "7" },
  "jobs" : [
    {
      "jobname" : "mix", "groupid" : 0, "error" : 0, "eta" : 2147483647, "elapsed" : 1,
      "job options" : { "rw" : "randrw" },
      "read" : {
        "io_bytes" : 8192, "io_kbytes" : 8, "bw_bytes" : 4096000, "bw" : 4000,
        "iops" : 1000.000000, "runtime" : 2, "total_ios" : 2, "short_ios" : 0, "drop_ios" : 0,
        "slat_ns" : { "min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0 },
        "clat_ns" : { "min" : 900, "max" : 1100, "mean" : 1000.0, "stddev" : 141.4, "N" : 2,
          "percentile" : { "99.000000" : 1096 }, "bins" : { "900" : 1, "1096" : 1 } },
        "lat_ns" : { "min" : 1000, "max" : 1201, "mean" : 1100.5, "stddev" : 142.1, "N" : 2,
          "percentile" : { "99.000000" : 1192 }, "bins" : { "1000" : 1, "1192" : 1 } }
      },
      "write" : {
        "io_bytes" : 4096, "io_kbytes" : 4, "bw_bytes" : 2048000, "bw" : 2000,
        "iops" : 500.0, "runtime" : 2, "total_ios" : 1,
        "lat_ns" : { "min" : 5000, "max" : 5000, "mean" : 5000.0, "stddev" : 0.0, "N" : 1,
          "bins" : { "4992" : 1 } }
      },
      "trim" : { "io_bytes" : 0, "io_kbytes" : 0, "runtime" : 0, "total_ios" : 0 },
      "sync" : { "total_ios" : 0, "lat_ns" : { "min" : 0 } },
      "usr_cpu" : 1.5, "sys_cpu" : 2.5
    }
  ],
  "disk_util" : []
}"#;

    /// As fio 2.2 wrote it: KiB and microseconds.
    pub const VERSION_2: &str = r#"{
  "fio version" : "fio-2.2.10",
  "jobs" : [
    {
      "jobname" : "seq", "groupid" : 0, "error" : 0,
      "read" : {
        "io_bytes" : 1024, "bw" : 512, "iops" : 128.00, "runtime" : 2000, "total_ios" : 256,
        "clat" : { "min" : 10, "max" : 20, "mean" : 15.0, "stddev" : 1.0,
          "percentile" : { "99.000000" : 20 }, "bins" : { "15" : 256 } },
        "lat" : { "min" : 11, "max" : 21, "mean" : 16.0, "stddev" : 1.0 }
      },
      "write" : { "io_bytes" : 0, "bw" : 0, "iops" : 0.0, "runtime" : 0 }
    }
  ]
}"#;

    #[test]
    fn version_3() {
        let output = parse(VERSION_3).expect("parsed");
        assert_eq!(output.version, "fio-3.33");
        let job = &output.jobs[0];
        assert_eq!((job.name.as_str(), job.error, job.done.len()), ("mix", 0, 2));
        let read = &job.done[0];
        assert_eq!((read.bytes, read.operations, read.runtime_ns), (8192, 2, 2_000_000));
        assert_eq!(read.bytes_per_second, 4_096_000.0);
        let (kind, latency) = read.latency.as_ref().expect("latency");
        assert_eq!((*kind, latency.min_ns, latency.max_ns), (LatencyKind::Total, 1000, 1201));
        assert_eq!((latency.mean_ns, latency.histogram.count()), (1100.5, 2));
    }

    #[test]
    fn version_2() {
        let output = parse(VERSION_2).expect("parsed");
        let read = &output.jobs[0].done[0];
        assert_eq!(output.jobs[0].done.len(), 1);
        assert_eq!((read.bytes, read.operations), (1 << 20, 256));
        assert_eq!(read.bytes_per_second, 524_288.0);
        let (kind, latency) = read.latency.as_ref().expect("latency");
        assert_eq!(
            (*kind, latency.min_ns, latency.mean_ns),
            (LatencyKind::Completion, 10_000, 15_000.0)
        );
        assert_eq!(latency.histogram.count(), 256);
    }

    #[test]
    fn lines_around_and_within_are_ignored() {
        let around = format!(
            "note: both iodepth >= 1 and synchronous I/O engine\n{{ odd\n{VERSION_3}\n\nfio: done\n"
        );
        assert_eq!(parse(&around).expect("around").jobs.len(), 1);
        let within = VERSION_3.replacen("\"jobs\"", "\nfio: a warning\n\"jobs\"", 1);
        assert_eq!(parse(&within).expect("within"), parse(VERSION_3).expect("clean"));
    }

    #[test]
    fn invalid_reports_are_errors_that_show_the_text() {
        for (text, part) in [
            ("", "found nothing"),
            ("fio: engine x not loadable", "found 'fio: engine"),
            ("{}", "found '{}'"),
            ("{\"jobs\": []}", "no jobs"),
            ("{\"jobs\": 5}", "no jobs"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn absent_fields_are_no_figures() {
        let output =
            parse(r#"{"jobs": [{"total_err": 7, "read": {"io_kbytes": 1, "total_ios": 3}}, {}]}"#);
        let jobs = output.expect("parsed").jobs;
        assert_eq!((jobs[0].passed_over, jobs[1].passed_over), (7, 0));
        let read = &jobs[0].done[0];
        assert_eq!((read.bytes, read.operations, read.latency.is_none()), (0, 3, true));
        assert!(jobs[1].done.is_empty());
    }

    proptest! {
        #[test]
        fn no_mutation_panics(
            old in any::<bool>(), at in any::<prop::sample::Index>(), to in any::<char>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut text: Vec<char> = if old { VERSION_2 } else { VERSION_3 }.chars().collect();
            let at = at.index(text.len());
            text[at] = to;
            let _ = parse(&text.iter().collect::<String>());
            text.truncate(cut.index(text.len()));
            let _ = parse(&text.iter().collect::<String>());
        }

        #[test]
        fn no_number_panics(
            key in "io_bytes|io_kbytes|bw|bw_bytes|iops|runtime|total_ios|min|max|mean",
            number in "-?[0-9]{1,25}(\\.[0-9]{1,3})?(e[0-9]{1,3})?|null|true|\"x\"|\\[\\]",
        ) {
            let mut text = String::new();
            for line in VERSION_3.split_inclusive(&format!("\"{key}\" : ")) {
                text.push_str(line);
                if line.ends_with(" : ") {
                    text.push_str(&number);
                    text.push_str(", \"rest\" : ");
                }
            }
            if let Ok(output) = parse(&text) {
                for done in output.jobs.iter().flat_map(|j| &j.done) {
                    prop_assert!(done.bytes_per_second.is_finite());
                }
            }
        }

        #[test]
        fn no_text_panics(text in "(\\PC|\n|\\{|\\}|\"jobs\"|:|\\[){0,200}") {
            let _ = parse(&text);
        }
    }
}
