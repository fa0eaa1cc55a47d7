//! A row, judged.

use disklab_stats::{CONFIDENCE, Interval};
use serde::{Deserialize, Serialize};

use crate::{AcceptedBand, Row, RowFinding, RowKind};

/// Whether a run reproduced a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowStatus {
    /// The measured value lies within what is accepted.
    Reproduced,
    /// The measured value lies outside.
    NotReproduced,
    /// There is no measured value.
    NotRun,
    /// There is a measured value, but nothing was published to compare it with.
    NothingPublished,
}

/// A measured value, in the row's unit; a ratio for ratios and orders.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeasuredValue {
    /// The figure.
    pub centre: f64,
    /// Its 95 % interval; none where it was measured once.
    pub interval: Option<(f64, f64)>,
    /// In how many blocks it was measured.
    pub n: usize,
}

impl MeasuredValue {
    /// Whether it has an interval that [says something](Interval::says_something). One that says
    /// nothing is not shown, but decides all the same whether the row is certain.
    pub fn has_telling_interval(&self) -> bool {
        self.interval.is_some_and(|(low, high)| {
            Interval { low, high, confidence: CONFIDENCE }.says_something(self.centre)
        })
    }
}

/// A row, the measured value, and what follows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedRow {
    /// What was published.
    #[serde(flatten)]
    pub row: Row,
    /// What meets it; none where nothing was published.
    pub accepted: Option<AcceptedBand>,
    /// Centre and interval of this run; `None` if it has no figure for the row.
    pub measured: Option<MeasuredValue>,
    /// The measured value over the row's [divisor](Row::divisor). In a table of rows it is
    /// rounded once, from the measured value before that was rounded.
    pub quotient: Option<f64>,
    /// The row's status.
    pub status: RowStatus,
    /// Whether the whole interval has the status of its centre; `None` if there is no
    /// interval.
    pub is_certain: Option<bool>,
    /// Whether it is one of those that are counted: published, and not bound by the
    /// processor.
    pub counts: bool,
    /// The unit of the published value, as read.
    pub read_unit: String,
    /// Why there is no measured value, or what was done to it.
    pub measured_note: Option<String>,
    /// Why it is not reproduced, if that is known; `None` if it is reproduced.
    pub finding: Option<RowFinding>,
}

impl JudgedRow {
    /// Measured ÷ published; `None` for orders, of which no figure was published.
    pub fn measured_to_published(&self) -> Option<f64> {
        self.quotient.filter(|_| self.row.kind != RowKind::Order)
    }
}
