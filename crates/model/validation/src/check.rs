//! What a check is, and what comes out of it.

use disklab_drive::DriveFile;
use serde::Serialize;

use crate::Chart;

/// A load on a drive, and what theory says of it.
#[derive(Debug)]
pub struct Check {
    /// Short name.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What is done, what is compared with what, and where that comes from: a
    /// paragraph or more, in Markdown.
    pub about: &'static str,
    /// Set if the summary shows each drive, not the farthest one only: of published figures each
    /// is worth a row.
    pub by_drive: Option<DriveColumns>,
    /// Does it. `None` where it says nothing about drives of this kind.
    pub run: fn(&DriveFile) -> Option<Outcome>,
}

/// Headings of a table with a row for each drive.
#[derive(Debug, Clone, Copy)]
pub struct DriveColumns {
    /// What the model did.
    pub model: &'static str,
    /// What it should have done.
    pub theory: &'static str,
}

/// What came out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Single figures.
    pub figures: Vec<CheckFigure>,
    /// The pictures.
    pub charts: Vec<Chart>,
}

/// A figure of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckFigure {
    /// What was measured.
    pub name: String,
    /// Its unit; empty for a bare number.
    pub unit: &'static str,
    /// What the model did.
    pub model: f64,
    /// What it should have done.
    pub expected: Expected,
}

/// What theory says about a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Expected {
    /// This value, from which a right model differs by the part `tolerance` at most.
    Near {
        /// What theory computes.
        value: f64,
        /// The part of it by which the model may differ, such as 0.01.
        tolerance: f64,
    },
    /// At most this much.
    AtMost {
        /// What the figure must not exceed.
        bound: f64,
    },
    /// Drives are usually within these bounds; one outside may be right.
    Usual {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
}

/// A check with its outcome for a drive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// [`Check::id`].
    pub id: &'static str,
    /// [`Check::title`].
    pub title: &'static str,
    /// [`Check::about`].
    #[serde(skip)]
    pub about: &'static str,
    /// What came out.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl CheckFigure {
    /// A figure that theory knows within the part `tolerance`.
    pub fn near(
        name: impl Into<String>,
        unit: &'static str,
        model: f64,
        value: f64,
        tolerance: f64,
    ) -> Self {
        Self { name: name.into(), unit, model, expected: Expected::Near { value, tolerance } }
    }

    /// A figure that must not exceed `bound`.
    pub fn at_most(name: impl Into<String>, unit: &'static str, model: f64, bound: f64) -> Self {
        Self { name: name.into(), unit, model, expected: Expected::AtMost { bound } }
    }

    /// A figure that is usually from `low` to `high`.
    pub fn usual(
        name: impl Into<String>,
        unit: &'static str,
        model: f64,
        (low, high): (f64, f64),
    ) -> Self {
        Self { name: name.into(), unit, model, expected: Expected::Usual { low, high } }
    }

    /// By which part the model differs from theory, where theory has a value.
    pub fn difference(&self) -> Option<f64> {
        match self.expected {
            Expected::Near { value, .. } if value != 0.0 => Some(self.model / value - 1.0),
            _ => None,
        }
    }

    /// Whether the model does as expected. What is not a number is never met.
    pub fn is_met(&self) -> bool {
        match self.expected {
            Expected::Near { value, tolerance } => {
                (self.model - value).abs() <= tolerance * value.abs()
            }
            Expected::AtMost { bound } => self.model <= bound,
            Expected::Usual { low, high } => (low..=high).contains(&self.model),
        }
    }

    /// Whether the model is wrong if this figure is not met.
    pub fn is_binding(&self) -> bool {
        !matches!(self.expected, Expected::Usual { .. })
    }
}

impl Checked {
    /// The binding figures that are not met.
    pub fn missed(&self) -> impl Iterator<Item = &CheckFigure> {
        self.outcome.figures.iter().filter(|figure| figure.is_binding() && !figure.is_met())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_held_to_what_is_expected() {
        let near = |model| CheckFigure::near("x", "", model, 100.0, 0.01);
        assert!(near(99.0).is_met() && near(101.0).is_met() && !near(101.1).is_met());
        assert!(!near(f64::NAN).is_met());
        assert!((near(101.0).difference().unwrap() - 0.01).abs() < 1e-12);
        assert!(CheckFigure::at_most("x", "", 1.0, 1.0).is_met());
        assert!(!CheckFigure::at_most("x", "", f64::NAN, 1.0).is_met());
        let usual = CheckFigure::usual("x", "", 4.0, (2.0, 3.0));
        assert!(!usual.is_met() && !usual.is_binding() && usual.difference().is_none());
        let outcome = Outcome { figures: vec![usual, near(90.0)], charts: Vec::new() };
        let checked = Checked { id: "x", title: "x", about: "", outcome };
        assert_eq!(checked.missed().count(), 1);
    }
}
