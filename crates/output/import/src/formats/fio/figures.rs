//! The figures of fio's jobs.
//!
//! Fields and units: `stat.c` of fio 3.33 (`add_ddir_status_json`). `bw` is KiB/s in
//! all versions; `io_bytes` are KiB before fio 3, which has `io_kbytes` besides;
//! latencies are microseconds before fio 3, nanoseconds where the name ends in `_ns`.

use disklab_sample::{Direction, Figure, Latency, LatencyHistogram};
use disklab_source::SourceError;

use crate::json::Json;
use crate::reading::{figure, moments};

/// What one job did in one direction.
pub(super) struct Done {
    bytes: u64,
    operations: Option<u64>,
    runtime_ms: f64,
    bytes_per_second: Option<f64>,
    iops: Option<f64>,
    latency: Option<Latencies>,
}

/// Latencies, as far as they were told.
struct Latencies {
    /// The field, such as `clat_ns`.
    field: &'static str,
    detail: Detail,
    count: f64,
    latency: Latency,
}

/// How much is known of a distribution; the more, the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Bins,
    Percentiles,
    Moments,
}

/// Total latencies, then those of completion; nanoseconds of a unit.
const FIELDS: [(&str, f64); 4] =
    [("lat_ns", 1.0), ("lat", 1000.0), ("clat_ns", 1.0), ("clat", 1000.0)];

/// How many latencies a list of percentiles stands for where nobody says.
const UNTOLD: f64 = 10_000.0;

/// Reads one direction of a job; none where it did nothing in it.
///
/// # Errors
/// Where a figure is no number, or the figures contradict each other.
pub(super) fn done(job: &Json, name: &str) -> Result<Option<Done>, SourceError> {
    let Some(report) = job.get(name) else { return Ok(None) };
    let unit = if report.get("io_kbytes").is_some() { 1 } else { 1024 };
    let bytes = report.count("io_bytes")?.unwrap_or(0).saturating_mul(unit);
    let operations = report.count("total_ios")?;
    let iops = report.number("iops")?;
    if bytes == 0 && operations.unwrap_or(0) == 0 && iops.unwrap_or(0.0) == 0.0 {
        return Ok(None);
    }
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
    Ok(Some(Done {
        bytes,
        operations,
        runtime_ms,
        bytes_per_second,
        iops,
        latency: reported(report)?,
    }))
}

/// The latencies of which most is known.
fn reported(report: &Json) -> Result<Option<Latencies>, SourceError> {
    let mut all = Vec::new();
    for (field, unit) in FIELDS {
        let Some(report) = report.get(field) else { continue };
        let exact = |name: &str| report.number(name).map(|n| n.map(|n| n * unit));
        let count = report.number("N")?;
        let (Some(mean), Some(max)) = (exact("mean")?, exact("max")?) else { continue };
        if max == 0.0 || count == Some(0.0) {
            continue;
        }
        let (min, deviation) = (exact("min")?.unwrap_or(0.0), exact("stddev")?.unwrap_or(0.0));
        let mut latency = moments(min, mean, max, deviation);
        let mut detail = Detail::Moments;
        if let Some(bins) = report.get("bins") {
            latency.histogram = bins_of(bins, unit)?;
            detail = Detail::Bins;
        } else if let Some(list) = report.get("percentile") {
            // fio before 3 does not tell how many there were.
            let count = count.unwrap_or(UNTOLD);
            latency.histogram = percentiles(list, unit, count, (min, max))?;
            detail = Detail::Percentiles;
        }
        if latency.histogram.count() == 0 {
            detail = Detail::Moments;
        }
        all.push(Latencies { field, detail, count: count.unwrap_or(0.0), latency });
    }
    // Stable: total latencies before those of completion.
    all.sort_by_key(|reported| reported.detail);
    Ok(all.into_iter().next())
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

/// 99.9 per cent of 2000 are 1998, and a little more as floats reckon.
const ROUNDING: f64 = 1e-6;

/// A histogram that is exact at the reported percentiles. Between two of them
/// stands the middle of both.
fn percentiles(
    list: &Json,
    unit: f64,
    count: f64,
    (min, max): (f64, f64),
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
    let mut histogram = LatencyHistogram::new();
    let (mut below, mut last) = (0_u64, min);
    // Counts above this have no more percentiles than a million.
    let count = count.clamp(1.0, 1e6);
    for (share, ns, value) in &points {
        if *ns < last && last != min {
            return Err(value
                .place
                .error("`percentile`: a higher one is smaller than a lower one"));
        }
        let upto = (share * count - ROUNDING).ceil() as u64;
        if upto > below {
            histogram.record(f64::midpoint(last.min(*ns), *ns) as u64, upto - below - 1);
            histogram.record(*ns as u64, 1);
            below = upto;
        }
        last = *ns;
    }
    if !points.is_empty() {
        histogram.record(max.max(last) as u64, (count as u64).saturating_sub(below));
    }
    Ok(histogram)
}

/// One figure of all jobs of a name, and what to say of its latencies. As in fio's own
/// 'Run status group', the throughput is all bytes over the longest runtime.
pub(super) fn together(direction: Direction, all: &[Done]) -> (Figure, Option<String>) {
    let longest = all.iter().map(|d| d.runtime_ms).fold(0.0, f64::max);
    let mut figure = figure(direction, longest / 1000.0);
    figure.bytes = all.iter().fold(0, |sum, d| sum.saturating_add(d.bytes));
    figure.operations =
        all.iter().map(|d| d.operations).try_fold(0_u64, |sum, n| Some(sum.saturating_add(n?)));
    let above = |n: f64| Some(n).filter(|n| *n > 0.0 && n.is_finite());
    if let [one] = all {
        // fio's clock is finer than the milliseconds that it shows.
        figure.bytes_per_second = one.bytes_per_second.and_then(above);
        figure.operations_per_second = one.iops.and_then(above);
    } else {
        let seconds = longest / 1000.0;
        figure.bytes_per_second = above(figure.bytes as f64 / seconds);
        figure.operations_per_second = match figure.operations {
            Some(operations) => above(operations as f64 / seconds),
            None => above(all.iter().filter_map(|d| d.iops).sum()),
        };
    }
    let (latency, note) = merged(all);
    figure.latency = latency;
    (figure, note)
}

/// The latencies of several jobs: of their distributions only such as can be added.
fn merged(all: &[Done]) -> (Option<Latency>, Option<String>) {
    let reported: Option<Vec<&Latencies>> = all.iter().map(|d| d.latency.as_ref()).collect();
    let Some(reported) = reported.filter(|t| !t.is_empty()) else { return (None, None) };
    let first = reported[0];
    if reported.iter().any(|t| t.field != first.field) {
        return (
            None,
            Some("Its jobs told latencies of different kinds; they were left out.".to_owned()),
        );
    }
    let completion = first.field.starts_with("clat");
    let kind =
        if completion { "from the kernel's taking the operation to its completion" } else { "" };
    let exact = reported.iter().all(|t| t.detail == Detail::Bins);
    let mut latency = first.latency.clone();
    if reported.len() > 1 {
        let count: f64 = reported.iter().map(|t| t.count).sum();
        let mean = |of: &dyn Fn(&Latencies) -> f64| {
            let sum: f64 = reported.iter().map(|t| t.count * of(t)).sum();
            if count > 0.0 { sum / count } else { 0.0 }
        };
        let mean_ns = mean(&|t| t.latency.mean_ns);
        let squares = mean(&|t| t.latency.deviation_ns.powi(2) + t.latency.mean_ns.powi(2));
        let mut histogram = LatencyHistogram::new();
        if exact {
            reported.iter().for_each(|t| histogram.merge(&t.latency.histogram));
        }
        latency = Latency {
            min_ns: reported.iter().map(|t| t.latency.min_ns).min().unwrap_or_default(),
            max_ns: reported.iter().map(|t| t.latency.max_ns).max().unwrap_or_default(),
            mean_ns,
            deviation_ns: (squares - mean_ns.powi(2)).max(0.0).sqrt(),
            histogram,
        };
    }
    let known = match (first.detail, reported.len()) {
        _ if exact => "",
        (Detail::Percentiles, 1) => {
            "known at the percentiles that fio listed; what lies between is interpolated"
        }
        (_, 1) => "known by mean and extremes only",
        _ => {
            "of several jobs, and cannot be added up without bins (--output-format=json+): mean and extremes only"
        }
    };
    let parts: Vec<&str> = [kind, known].into_iter().filter(|p| !p.is_empty()).collect();
    let note = (!parts.is_empty()).then(|| format!("Latencies are {}.", parts.join(", ")));
    (Some(latency), note)
}
