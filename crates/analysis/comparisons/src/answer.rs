//! The answer to a question: a measure, its figures, and how they compare.

use disklab_sample::OperationKind;
use disklab_stats::{Estimate, Interval};
use disklab_study::{Measure, Question};

/// The answer to one question: the points of a chart, and comparisons.
#[derive(Debug, Clone)]
pub struct Answer {
    /// As the study asks it.
    pub question: Question,
    /// What was compared.
    pub measure: Measure,
    /// What the operations of all its figures are.
    pub operation: OperationKind,
    /// Whether latencies are those of commits: until a write was durable.
    pub committed: bool,
    /// One point per stack and figure.
    pub points: Vec<Point>,
    /// Each stack against the baseline, per figure.
    pub comparisons: Vec<Comparison>,
    /// The groups that the question covers, by index, whether they have the measure or not.
    pub covered: Vec<usize>,
    /// How often the campaign looked at its samples to decide whether to continue, 1 where
    /// it did not: each p is multiplied by it.
    pub looks: usize,
    /// Whether the study asks this, or asks nothing at all; else it was made up for a
    /// workload that no question covers.
    pub by_study: bool,
}

/// One bar, or one point of a line.
#[derive(Debug, Clone)]
pub struct Point {
    /// The group it stands for, by index.
    pub group: usize,
    /// Layout part of the stack's id.
    pub layout: String,
    /// File-system part of the stack's id; the whole id for whole stacks.
    pub file_system: String,
    /// Name of the figure where a question covers several, made of what tells
    /// them apart: workload, step, direction; empty where there is only one.
    pub figure: String,
    /// Position on a line chart: the parameter's value as written, such as `4k`.
    pub x: Option<String>,
    /// The figure.
    pub estimate: Estimate,
}

/// One stack against the baseline.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Stack compared.
    pub stack: String,
    /// Stack it is compared with.
    pub baseline: String,
    /// The compared stack's group, by index: that of the [`Point`] it belongs to.
    pub group: usize,
    /// The baseline's group, by index.
    pub baseline_group: usize,
    /// Name of the figure, as in [`Point::figure`].
    pub figure: String,
    /// Position on a line chart, as in [`Point::x`].
    pub x: Option<String>,
    /// Blocks in which both were measured.
    pub pairs: usize,
    /// Stack ÷ baseline, paired over blocks.
    pub ratio: f64,
    /// Interval of the ratio: where all lies within ±5 %, that at 95 %, else the one that
    /// belongs to the corrected p. None for one pair, and where it says nothing.
    pub interval: Option<Interval>,
    /// Probability of such a ratio where there is no difference, Holm-corrected
    /// over the answer's comparisons; none for one pair.
    pub p: Option<f64>,
    /// What may be said.
    pub outcome: ComparisonOutcome,
}

/// What a comparison allows to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonOutcome {
    /// Better than the baseline (for latency and elapsed time: less).
    Better,
    /// Worse than the baseline.
    Worse,
    /// The whole interval lies within ±5 %.
    Equivalent,
    /// The samples don't say.
    Inconclusive,
    /// Measured once: no interval, no verdict.
    Once,
}

impl ComparisonOutcome {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Once => "once",
        }
    }
}
