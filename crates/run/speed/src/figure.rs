//! What was measured, several times, and what it should be.

use disklab_stats::median;

/// What a figure should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SpeedTarget {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

/// A figure, measured several times.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedFigure {
    /// A word for programs.
    pub key: &'static str,
    /// What it is, for people.
    pub name: &'static str,
    /// As it is shown: 'µs', 'MB/s'.
    pub unit: &'static str,
    /// What it should be, if there is a goal.
    pub target: Option<SpeedTarget>,
    /// As measured, in order.
    pub values: Vec<f64>,
}

impl SpeedFigure {
    /// The value in the middle; the mean of the two in the middle of an even
    /// number. `None` where nothing was measured.
    pub fn median(&self) -> Option<f64> {
        median(&self.values)
    }

    /// The smallest and the largest value.
    pub fn spread(&self) -> Option<(f64, f64)> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        Some((*sorted.first()?, *sorted.last()?))
    }

    /// Whether the median is what it should be; `None` without a target or values.
    pub fn is_met(&self) -> Option<bool> {
        let median = self.median()?;
        self.target.map(|target| match target {
            SpeedTarget::AtMost(limit) => median <= limit,
            SpeedTarget::AtLeast(limit) => median >= limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(values: &[f64], target: Option<SpeedTarget>) -> SpeedFigure {
        SpeedFigure { key: "k", name: "n", unit: "u", target, values: values.to_vec() }
    }

    #[test]
    fn medians_and_targets() {
        let odd = figure(&[9.0, 1.0, 2.0], Some(SpeedTarget::AtMost(2.0)));
        assert_eq!((odd.median(), odd.spread()), (Some(2.0), Some((1.0, 9.0))));
        assert_eq!(odd.is_met(), Some(true));
        let even = figure(&[4.0, 1.0, 2.0, 3.0], Some(SpeedTarget::AtLeast(2.6)));
        assert_eq!((even.median(), even.is_met()), (Some(2.5), Some(false)));
        assert_eq!(figure(&[1.0], None).is_met(), None);
        let none = figure(&[], Some(SpeedTarget::AtMost(1.0)));
        assert_eq!((none.median(), none.spread(), none.is_met()), (None, None, None));
    }
}
