//! What a probe found.

use std::collections::BTreeMap;

use crate::estimate::ProbedValue;

/// What a probe found out about a drive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Values by their [`Field`](crate::Field)'s path.
    pub values: BTreeMap<&'static str, ProbedValue>,
    /// What could not be found, and why; and what is remarkable.
    pub notes: Vec<String>,
    /// What was measured on the way.
    pub curves: Vec<MeasuredCurve>,
}

/// Measured points, such as rates over the place.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredCurve {
    /// What it shows.
    pub title: &'static str,
    /// What the first and the second numbers are.
    pub columns: [&'static str; 2],
    /// What was measured, `(x, y)` in the units of the axes.
    pub points: Vec<(f64, f64)>,
}

impl Findings {
    /// Notes a value.
    pub(crate) fn found(&mut self, path: &'static str, estimate: ProbedValue) {
        debug_assert!(crate::Field::by_path(path).is_some(), "{path}");
        self.values.insert(path, estimate);
    }

    /// Notes that something was not found, or is remarkable.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Takes what another probe of the same drive found.
    pub fn join(&mut self, other: Self) {
        self.values.extend(other.values);
        self.notes.extend(other.notes);
        self.curves.extend(other.curves);
    }

    /// The value of a field, if it was found.
    pub fn value(&self, path: &str) -> Option<f64> {
        self.values.get(path).map(|estimate| estimate.value)
    }
}
