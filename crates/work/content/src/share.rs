//! Shares of a whole.

use std::fmt;

/// A share, from nothing to all, in steps of a millionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Share(u32);

const WHOLE: u32 = 1_000_000;

impl Share {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Each of them: 100 %.
    pub const ALL: Self = Self(WHOLE);

    /// `part` from 0 to 1; what lies outside is taken for the nearer end, and what
    /// is no number for nothing.
    pub fn new(part: f64) -> Self {
        // `as` takes NaN for 0; the bounds hold by `clamp`.
        Self((part.clamp(0.0, 1.0) * f64::from(WHOLE)).round() as u32)
    }

    /// Whole percents, as fio has them; more than 100 is taken for all.
    pub fn percent(percent: u32) -> Self {
        Self(percent.min(100) * (WHOLE / 100))
    }

    /// From 0 to 1.
    pub fn part(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// What is missing to all.
    pub fn rest(self) -> Self {
        Self(WHOLE - self.0)
    }

    /// So much of `whole`, rounded to the nearest.
    pub fn of(self, whole: usize) -> usize {
        let part = (whole as u128 * u128::from(self.0) + u128::from(WHOLE / 2)) / u128::from(WHOLE);
        // Not more than `whole`.
        part as usize
    }

    /// The number below which this share of all 64-bit numbers lies; for all of
    /// them, the largest.
    pub(crate) fn threshold(self) -> u64 {
        let below = (u128::from(self.0) << 64) / u128::from(WHOLE);
        u64::try_from(below).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Ten digits at most, of which trailing zeros say nothing.
        write!(f, "{} %", self.part() * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ends_and_nonsense() {
        assert_eq!(Share::new(f64::NAN), Share::NONE);
        assert_eq!(Share::new(-3.0), Share::NONE);
        assert_eq!(Share::new(3.0), Share::ALL);
        assert_eq!(Share::percent(101), Share::ALL);
        assert_eq!(Share::percent(30), Share::new(0.3));
        assert_eq!(Share::percent(30).rest(), Share::percent(70));
        assert_eq!(Share::percent(30).to_string(), "30 %");
        assert_eq!(Share::percent(50).threshold(), 1 << 63);
        assert_eq!(Share::ALL.threshold(), u64::MAX);
    }

    proptest! {
        #[test]
        fn parts_fit_the_whole(part in 0.0_f64..=1.0, whole in 0_usize..1 << 40) {
            let share = Share::new(part);
            prop_assert!(share.of(whole) <= whole);
            let sum = share.of(whole) + share.rest().of(whole);
            prop_assert!(sum.abs_diff(whole) <= 1);
            prop_assert!((share.part() - part).abs() < 1e-6);
        }
    }
}
