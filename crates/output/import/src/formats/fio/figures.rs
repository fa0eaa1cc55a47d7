//! The figures of fio's jobs, and those of several jobs together.

use disklab_sample::{Direction, Figure, Latency, LatencyHistogram};

use crate::reading::figure;

/// What one job did in one direction.
pub(super) struct JobDone {
    pub bytes: u64,
    pub operations: Option<u64>,
    pub runtime_ms: f64,
    pub bytes_per_second: Option<f64>,
    pub iops: Option<f64>,
    pub latency: Option<JobLatencies>,
}

/// Latencies, as far as they are known.
pub(super) struct JobLatencies {
    /// Whether they are those of completion, and not total ones.
    pub completion: bool,
    pub detail: LatencyDetail,
    pub count: f64,
    pub latency: Latency,
}

impl JobLatencies {
    /// Those of which most is known; total ones before those of completion.
    pub fn best(mut all: Vec<Self>) -> Option<Self> {
        all.sort_by_key(|known| (known.detail, known.completion));
        all.into_iter().next()
    }
}

/// How much is known of a distribution; the more, the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LatencyDetail {
    Bins,
    Percentiles,
    Moments,
}

/// One figure of all jobs of a name, and what to say of its latencies. As in fio's own
/// 'Run status group', the throughput is all bytes over the longest runtime.
pub(super) fn together(direction: Direction, all: &[&JobDone]) -> (Figure, Option<String>) {
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
fn merged(all: &[&JobDone]) -> (Option<Latency>, Option<String>) {
    let reported: Option<Vec<&JobLatencies>> = all.iter().map(|d| d.latency.as_ref()).collect();
    let Some(reported) = reported.filter(|t| !t.is_empty()) else { return (None, None) };
    let first = reported[0];
    if reported.iter().any(|t| t.completion != first.completion) {
        return (
            None,
            Some("Its jobs report latencies of different kinds; they were left out.".to_owned()),
        );
    }
    let kind = match first.completion {
        true => "from the kernel's taking the operation to its completion",
        false => "",
    };
    let exact = reported.iter().all(|t| t.detail == LatencyDetail::Bins);
    let mut latency = first.latency.clone();
    if reported.len() > 1 {
        let count: f64 = reported.iter().map(|t| t.count).sum();
        let mean = |of: &dyn Fn(&JobLatencies) -> f64| {
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
        (LatencyDetail::Percentiles, 1) => {
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
