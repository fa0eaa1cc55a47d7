//! One figure over time, and where it changed.

use std::path::PathBuf;

use disklab_sample::OperationKind;
use disklab_stats::level_changes;
use disklab_study::Measure;
use jiff::Timestamp;

/// What the points of a series have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeriesKey {
    pub(crate) study: String,
    pub(crate) setting: String,
    pub(crate) stack: String,
    pub(crate) workload: String,
    pub(crate) levels: String,
    pub(crate) step: String,
    pub(crate) direction: String,
    pub(crate) part: String,
    pub(crate) operation: String,
}

/// One figure of all runs that have it in common, in the order in which they began.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureSeries {
    /// The study's id.
    pub study: String,
    /// Bench, scale and options, of a real machine the processor.
    pub setting: String,
    /// The stack's id.
    pub stack: String,
    /// The workload's id.
    pub workload: String,
    /// Levels of the study's axes, as `memory=8GiB linux=7.3`; empty without axes.
    pub levels: String,
    /// The step's name.
    pub step: String,
    /// What was done: read, write and others.
    pub direction: String,
    /// The whole of the step, or its steady part.
    pub part: String,
    /// What is counted per second.
    pub operation: OperationKind,
    /// What was measured.
    pub measure: Measure,
    /// One for each run.
    pub points: Vec<SeriesPoint>,
    /// Where the figure changed.
    pub changes: Vec<SeriesChange>,
}

/// The figure of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesPoint {
    /// The run's id in the archive.
    pub run: String,
    /// Where it lay when it was added.
    pub path: PathBuf,
    /// When it began.
    pub began: Timestamp,
    /// disklab's version.
    pub disklab: String,
    /// The kernels that the run's cells ran on.
    pub kernel: String,
    /// SHA-256 of the study's text.
    pub study_digest: String,
    /// The stack's drives.
    pub drives: String,
    /// The figure, in bytes per second, operations per second, seconds, nanoseconds or deadlines.
    pub value: f64,
    /// Its 95 % interval; none if it was measured once.
    pub ends: Option<(f64, f64)>,
    /// From so many repeats.
    pub repeats: i64,
    /// The audits that doubt it.
    pub suspect: String,
}

/// A change of the figure.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesChange {
    /// The first point of what comes after it.
    pub at: usize,
    /// The mean until then, from the change before on.
    pub before: f64,
    /// The mean from then on, to the next change.
    pub after: f64,
    /// What else is different between the two runs: its name, before, and after.
    pub besides: Vec<(&'static str, String, String)>,
}

impl FigureSeries {
    pub(crate) fn new(key: SeriesKey, measure: Measure, mut points: Vec<SeriesPoint>) -> Self {
        points.sort_by(|a, b| (a.began, &a.run).cmp(&(b.began, &b.run)));
        let changes = changes(&points);
        let operation = serde_json::from_value(key.operation.into()).unwrap_or_default();
        Self {
            study: key.study,
            setting: key.setting,
            stack: key.stack,
            workload: key.workload,
            levels: key.levels,
            step: key.step,
            direction: key.direction,
            part: key.part,
            operation,
            measure,
            points,
            changes,
        }
    }
}

fn changes(points: &[SeriesPoint]) -> Vec<SeriesChange> {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let starts = level_changes(&values);
    let ends = starts.iter().skip(1).copied().chain([values.len()]);
    let mean = |segment: &[f64]| segment.iter().map(|v| v / segment.len() as f64).sum::<f64>();
    let means: Vec<f64> =
        starts.iter().zip(ends).map(|(start, end)| mean(&values[*start..end])).collect();
    let change = |(at, means): (&usize, &[f64])| SeriesChange {
        at: *at,
        before: means[0],
        after: means[1],
        besides: besides(&points[at - 1], &points[*at]),
    };
    starts.iter().skip(1).zip(means.windows(2)).map(change).collect()
}

/// What is different between two runs besides the figure.
fn besides(a: &SeriesPoint, b: &SeriesPoint) -> Vec<(&'static str, String, String)> {
    let short = |digest: &str| digest.get(..8).unwrap_or(digest).to_owned();
    let all = [
        ("kernel", a.kernel.clone(), b.kernel.clone()),
        ("disklab", a.disklab.clone(), b.disklab.clone()),
        ("drives", a.drives.clone(), b.drives.clone()),
        ("the study's text", short(&a.study_digest), short(&b.study_digest)),
    ];
    all.into_iter().filter(|(_, before, after)| before != after).collect()
}
