//! The figures of a job in fio's JSON.
//!
//! Fields and units: `stat.c` of fio 3.33 (`add_ddir_status_json`). `bw` is KiB/s in
//! all versions; `io_bytes` are KiB before fio 3, which has `io_kbytes` besides;
//! latencies are microseconds before fio 3, nanoseconds where the name ends in `_ns`.

use disklab_sample::LatencyHistogram;
use disklab_source::SourceError;

use super::figures::{JobDone, JobLatencies, LatencyDetail};
use crate::json::Json;
use crate::reading::{moments, percentiles};

/// Reads one direction of a job; none where it did nothing in it.
///
/// # Errors
/// Where a figure is no number, or the figures contradict each other.
pub(super) fn done(
    job: &Json,
    name: &str,
    version: Option<&str>,
) -> Result<Option<JobDone>, SourceError> {
    let Some(report) = job.get(name) else { return Ok(None) };
    let runtime_ms = report.number("runtime")?.unwrap_or(0.0);
    let bytes_per_second = match (report.number("bw_bytes")?, report.number("bw")?) {
        (Some(exact), kib) => {
            // A figure that was edited or converted shows here. Kibibytes are rounded.
            let off = |kib: f64| (kib * 1024.0 - exact).abs() > 0.02 * exact + 4096.0;
            if let Some(kib) = kib.filter(|kib| off(*kib)) {
                return Err(report.place.error(format!(
                    "`bw_bytes` is {exact} bytes/s, and `bw` {kib} KiB/s: one of them is not fio's"
                )));
            }
            Some(exact)
        }
        (None, kib) => kib.map(|kib| kib * 1024.0),
    };
    let counted = report.count("io_bytes")?.unwrap_or(0);
    let in_bytes = report.get("io_kbytes").is_some()
        || in_bytes(counted, bytes_per_second.unwrap_or(0.0) * runtime_ms / 1000.0, version);
    let bytes = counted.saturating_mul(if in_bytes { 1 } else { 1024 });
    let operations = report.count("total_ios")?;
    let iops = report.number("iops")?;
    if bytes == 0 && operations.unwrap_or(0) == 0 && iops.unwrap_or(0.0) == 0.0 {
        return Ok(None);
    }
    let latency = latencies(report, operations)?;
    Ok(Some(JobDone { bytes, operations, runtime_ms, bytes_per_second, iops, latency }))
}

/// Whether `io_bytes` are bytes: as bandwidth and time say, else as fio of this version counts.
fn in_bytes(counted: u64, expected: f64, version: Option<&str>) -> bool {
    if expected >= 1.0 && counted > 0 {
        // Between the two factors, 1 and 1024, in their proportion.
        return expected / (counted as f64) < 32.0;
    }
    let old = |version: &str| ["fio-1.", "fio-2."].iter().any(|old| version.starts_with(old));
    !version.is_some_and(old)
}

/// Total latencies, then those of completion: field, nanoseconds of its unit.
const FIELDS: [(&str, f64, bool); 4] = [
    ("lat_ns", 1.0, false),
    ("lat", 1000.0, false),
    ("clat_ns", 1.0, true),
    ("clat", 1000.0, true),
];

/// How many latencies a list of percentiles stands for where fio does not say.
pub(super) const UNCOUNTED: f64 = 10_000.0;

/// The latencies of which most is known.
fn latencies(report: &Json, operations: Option<u64>) -> Result<Option<JobLatencies>, SourceError> {
    let mut all = Vec::new();
    for (field, unit, completion) in FIELDS {
        let Some(report) = report.get(field) else { continue };
        let exact = |name: &str| report.number(name).map(|n| n.map(|n| n * unit));
        let count = report.number("N")?;
        let (Some(mean), Some(max)) = (exact("mean")?, exact("max")?) else { continue };
        if max == 0.0 || count == Some(0.0) {
            continue;
        }
        let (min, deviation) = (exact("min")?.unwrap_or(0.0), exact("stddev")?.unwrap_or(0.0));
        let mut latency = moments(min, mean, max, deviation);
        let mut detail = LatencyDetail::Moments;
        if let Some(bins) = report.get("bins") {
            latency.histogram = bins_of(bins, unit)?;
            detail = LatencyDetail::Bins;
        } else if let Some(list) = report.get("percentile") {
            // fio before 3 does not tell how many there were.
            let count = count.unwrap_or(UNCOUNTED);
            latency.histogram = listed(list, unit, count, (min, max))?;
            detail = LatencyDetail::Percentiles;
        }
        if latency.histogram.count() == 0 {
            detail = LatencyDetail::Moments;
        }
        // As many as operations, but for those that `ramp_time` left out.
        let count = count.or(operations.map(|n| n as f64)).unwrap_or(0.0);
        all.push(JobLatencies { completion, detail, count, latency });
    }
    Ok(JobLatencies::best(all))
}

fn bins_of(bins: &Json, unit: f64) -> Result<LatencyHistogram, SourceError> {
    let mut histogram = LatencyHistogram::new();
    for (bin, count) in bins.entries() {
        let ns: f64 =
            bin.parse().ok().filter(|n: &f64| *n >= 0.0 && n.is_finite()).ok_or_else(|| {
                count.place.error(format!("`bins`: expected a latency as the name, found '{bin}'"))
            })?;
        histogram.record((ns * unit) as u64, count.as_number("bins")? as u64);
    }
    Ok(histogram)
}

/// The histogram of a list of percentiles.
fn listed(
    list: &Json,
    unit: f64,
    count: f64,
    ends: (f64, f64),
) -> Result<LatencyHistogram, SourceError> {
    let mut points = Vec::new();
    for (name, value) in list.entries() {
        let share: f64 =
            name.parse().ok().filter(|p| (0.0..=100.0).contains(p)).ok_or_else(|| {
                value
                    .place
                    .error(format!("`percentile`: expected 0 to 100 as the name, found '{name}'"))
            })?;
        // fio before 3 fills its list up with zeros.
        if share > 0.0 {
            points.push((share / 100.0, value.as_number("percentile")? * unit, value));
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shares: Vec<(f64, f64)> = points.iter().map(|(share, ns, _)| (*share, *ns)).collect();
    percentiles(&shares, count, ends).map_err(|number| {
        points[number].2.place.error("`percentile`: a higher one is smaller than a lower one")
    })
}
