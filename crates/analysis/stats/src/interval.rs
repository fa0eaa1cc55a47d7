//! Intervals.

/// An interval with its confidence level (0.95, or what small samples allow).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability with which such intervals cover the truth.
    pub confidence: f64,
}

/// How far an interval may reach, as a factor, before it says nothing.
const TENFOLD: f64 = 10.0;

impl Interval {
    /// Whether a value lies in it, the ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether it lies in another, equal ends included.
    pub fn lies_within(&self, low: f64, high: f64) -> bool {
        low <= self.low && self.high <= high
    }

    /// Whether it says anything of a figure: one that reaches tenfold above and below does
    /// not, as that of two repeats that differ.
    pub fn says_something(&self, centre: f64) -> bool {
        centre <= 0.0 || (self.low >= centre / TENFOLD && self.high <= centre * TENFOLD)
    }

    /// Half its width as a share of `centre`; infinite where that is 0.
    pub fn relative_half_width(&self, centre: f64) -> f64 {
        let half = (self.high - self.low) / 2.0;
        if half == 0.0 { 0.0 } else { (half / centre).abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_width_is_relative() {
        let interval = Interval { low: 90.0, high: 110.0, confidence: 0.95 };
        assert!((interval.relative_half_width(100.0) - 0.1).abs() < 1e-12);
        assert_eq!(interval.relative_half_width(0.0), f64::INFINITY);
        let point = Interval { low: 0.0, high: 0.0, confidence: 1.0 };
        assert_eq!(point.relative_half_width(0.0), 0.0);
        assert!(interval.says_something(100.0) && point.says_something(0.0));
        let two = Interval { low: 0.167, high: 3_357_265.0, confidence: 0.95 };
        assert!(!two.says_something(748.0));
        assert!(interval.contains(110.0) && !interval.contains(110.1));
        assert!(interval.lies_within(90.0, 120.0) && !interval.lies_within(91.0, 120.0));
    }
}
