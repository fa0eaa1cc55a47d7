//! What counts as met.

use serde::Serialize;

use crate::{Row, RowKind};

/// By how much a figure may differ from the published one.
pub const VALUE_TOLERANCE: f64 = 0.15;
/// By how much a ratio may differ from the published one.
pub const RATIO_TOLERANCE: f64 = 0.25;
/// Two figures that differ by no more than this are equivalent.
pub const SAME_TOLERANCE: f64 = 0.10;

/// By how much the end of a band may be off because numbers are binary.
const ROUNDING: f64 = 1e-12;

/// The values that meet a row, in the row's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AcceptedBand {
    /// From here, itself included; for orders, excluded where it is 1.
    pub low: f64,
    /// Up to here; none where there is no upper end.
    pub high: Option<f64>,
    /// Whether the ends themselves are outside: an order asks for more or less than 1.
    pub is_open: bool,
}

impl AcceptedBand {
    /// What meets a row: its value with the tolerance of its kind, widened to the
    /// published range where there is one. A range without an upper end has none here
    /// either. Nothing where the row has no value.
    pub fn of(row: &Row) -> Option<Self> {
        let value = row.value?;
        let around = |tolerance: f64| {
            let low = row.low.unwrap_or(value).min(value * (1.0 - tolerance));
            let high = row.high.unwrap_or(value).max(value * (1.0 + tolerance));
            let is_endless = row.low.is_some() && row.high.is_none();
            Self { low, high: (!is_endless).then_some(high), is_open: false }
        };
        Some(match row.kind {
            RowKind::Value => around(VALUE_TOLERANCE),
            RowKind::Ratio => around(RATIO_TOLERANCE),
            RowKind::Order if value > 0.0 => Self { low: 1.0, high: None, is_open: true },
            RowKind::Order if value < 0.0 => Self { low: 0.0, high: Some(1.0), is_open: true },
            RowKind::Order => {
                Self { low: 1.0 - SAME_TOLERANCE, high: Some(1.0 + SAME_TOLERANCE), is_open: false }
            }
        })
    }

    /// Whether a value meets the row.
    pub fn holds(&self, value: f64) -> bool {
        if self.is_open {
            // A share of 0 is below any other.
            (value > self.low || self.low == 0.0 && value == 0.0)
                && self.high.is_none_or(|high| value < high)
        } else {
            // 15 % more than 100 is a little less than 115 in binary.
            value >= self.low * (1.0 - ROUNDING)
                && self.high.is_none_or(|high| value <= high * (1.0 + ROUNDING))
        }
    }

    /// Whether an interval lies wholly inside, or wholly outside, as its centre does.
    pub fn is_clear_of(&self, low: f64, high: f64) -> bool {
        let above = self.high.is_some_and(|end| low > end);
        (self.holds(low) && self.holds(high)) || high < self.low || above
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::row;

    #[test]
    fn tolerances_and_ranges() {
        let band = |kind, value, low, high| {
            let mut row = row(kind, value);
            (row.low, row.high) = (low, high);
            AcceptedBand::of(&row).expect("a value")
        };
        let value = band(RowKind::Value, 100.0, None, None);
        assert!(value.holds(85.0) && value.holds(115.0));
        assert!(!value.holds(84.9) && !value.holds(115.1));
        let repeats = band(RowKind::Value, 5.6, Some(5.0), Some(6.6));
        assert!(repeats.holds(6.6) && repeats.holds(4.8) && !repeats.holds(6.7));
        let ratio = band(RowKind::Ratio, 2.0, None, None);
        assert!(ratio.holds(1.5) && ratio.holds(2.5) && !ratio.holds(2.6));
        let more_than = band(RowKind::Ratio, 2.0, Some(2.0), None);
        assert!(more_than.holds(1.5) && more_than.holds(80.0) && !more_than.holds(1.4));
    }

    #[test]
    fn orders_go_by_sign() {
        let band = |sign| AcceptedBand::of(&row(RowKind::Order, sign)).expect("a value");
        assert!(band(1.0).holds(1.001) && !band(1.0).holds(1.0) && !band(1.0).holds(0.5));
        assert!(band(-1.0).holds(0.999) && band(-1.0).holds(0.0) && !band(-1.0).holds(1.0));
        assert!(band(0.0).holds(0.9) && band(0.0).holds(1.1) && !band(0.0).holds(1.11));
    }

    #[test]
    fn a_row_without_a_value_has_no_band() {
        let row = Row { value: None, ..row(RowKind::Value, 1.0) };
        assert_eq!(AcceptedBand::of(&row), None);
    }

    proptest! {
        #[test]
        fn the_published_value_is_reproduced(
            value in 1e-3_f64..1e9,
            down in 0.0_f64..1.0,
            up in 1.0_f64..9.0,
            ratio: bool,
        ) {
            let kind = if ratio { RowKind::Ratio } else { RowKind::Value };
            let range = (Some(value * down), Some(value * up));
            let row = Row { low: range.0, high: range.1, ..row(kind, value) };
            let band = AcceptedBand::of(&row).expect("a value");
            prop_assert!(band.holds(value));
            prop_assert!(band.holds(value * down) && band.holds(value * up));
        }

        #[test]
        fn an_interval_that_straddles_an_end_is_not_clear(
            low in 0.1_f64..10.0,
            width in 0.0_f64..10.0,
            sign in -1_i32..=1,
        ) {
            let band = AcceptedBand::of(&row(RowKind::Order, f64::from(sign))).expect("a value");
            let high = low + width;
            let same = band.holds(low) == band.holds(high);
            // Both ends outside, on different sides, is no agreement.
            let around = !band.holds(low) && !band.holds(high) && low < band.low
                && band.high.is_some_and(|end| high > end);
            prop_assert!(band.is_clear_of(low, high) == (same && !around)
                || low == 1.0 || high == 1.0);
        }
    }
}
