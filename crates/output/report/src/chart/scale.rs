//! Axes: from values to positions, with ticks at numbers that people like.

/// Values beyond these are drawn at the edge; within them the arithmetic of
/// ticks neither overflows nor vanishes.
const SMALLEST: f64 = 1e-300;
const LARGEST: f64 = 1e300;

/// Fewest and most ticks of an axis.
const FEWEST: usize = 3;
const MOST: usize = 10;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AxisScale {
    /// Where the ticks are, ascending; the first and the last are the axis's ends.
    pub(crate) ticks: Vec<f64>,
    /// Whether it is logarithmic.
    pub(crate) logarithmic: bool,
}

impl AxisScale {
    /// A linear axis from zero to at least `high`, with ticks that are nice in a unit of this size.
    pub(crate) fn linear(high: f64, unit: f64) -> Self {
        let mut axis = Self::in_steps(high / unit, &[1.0, 2.0, 2.5, 5.0, 10.0]);
        axis.ticks.iter_mut().for_each(|tick| *tick *= unit);
        axis
    }

    /// The same for what is counted: there are no halves between the ticks.
    pub(crate) fn counting(high: f64) -> Self {
        Self::in_steps(sane(high).max(4.0).ceil(), &[1.0, 2.0, 5.0, 10.0])
    }

    fn in_steps(high: f64, nice: &[f64]) -> Self {
        let high = sane(high);
        // At most seven steps; of the nice ones times a power of ten, the first that is
        // long enough.
        let rough = high / 7.0;
        let power = 10_f64.powi(rough.log10().floor() as i32);
        let step = nice
            .iter()
            .map(|nice| nice * power)
            .find(|step| *step >= rough * (1.0 - 1e-9))
            .unwrap_or(power * 10.0);
        let steps = ((high / step).ceil() as usize).clamp(FEWEST - 1, MOST - 1);
        Self { ticks: (0..=steps).map(|n| n as f64 * step).collect(), logarithmic: false }
    }

    /// A logarithmic axis over at least `low` to `high`, with decades as its
    /// ends. Within few decades there are ticks at 2 and 5 as well.
    pub(crate) fn logarithmic(low: f64, high: f64) -> Self {
        let (low, high) = (sane(low.min(high)), sane(high.max(low)));
        let first = decade_below(low);
        let mut last = decade_above(high);
        if last <= first {
            last = first + 1;
        }
        let decades = (last - first) as usize;
        let ticks: Vec<f64> = if decades <= 3 {
            let within: &[f64] = if decades == 3 { &[1.0, 3.0] } else { &[1.0, 2.0, 5.0] };
            let mut ticks: Vec<f64> = (first..last)
                .flat_map(|d| within.iter().map(move |n| n * 10_f64.powi(d)))
                .collect();
            ticks.push(10_f64.powi(last));
            // The decades may reach far beyond the values: cut what holds none.
            while ticks.len() > FEWEST && ticks[1] <= low {
                ticks.remove(0);
            }
            while ticks.len() > FEWEST && ticks[ticks.len() - 2] >= high {
                ticks.pop();
            }
            ticks
        } else {
            // A whole number of equal steps.
            let step = decades.div_ceil(MOST - 1).max(1) as i32;
            let steps = (last - first + step - 1) / step;
            (0..=steps).map(|n| 10_f64.powi((first + n * step).min(308))).collect()
        };
        Self { ticks, logarithmic: true }
    }

    /// Linear from zero, or logarithmic where the values' range demands it:
    /// where the smallest would be less than a hundredth of the axis.
    pub(crate) fn fitting(values: impl Iterator<Item = f64>, unit: f64) -> Self {
        let (low, high) = extent(values);
        if high / low > 100.0 { Self::logarithmic(low, high) } else { Self::linear(high, unit) }
    }

    /// Where a value is, in percent of the axis; outside values are at its ends.
    pub(crate) fn percent(&self, value: f64) -> f64 {
        let (Some(&low), Some(&high)) = (self.ticks.first(), self.ticks.last()) else { return 0.0 };
        let share = if self.logarithmic {
            (value.max(SMALLEST).ln() - low.ln()) / (high.ln() - low.ln())
        } else {
            (value - low) / (high - low)
        };
        if share.is_finite() {
            share.clamp(0.0, 1.0) * 100.0
        } else if share > 0.0 {
            100.0
        } else {
            0.0
        }
    }
}

/// The smallest and largest of the positive finite values; 1 and 1 where there
/// are none.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|v| v.is_finite() && *v > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    if high > 0.0 { (low, high) } else { (1.0, 1.0) }
}

fn sane(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 { 1.0 } else { value.clamp(SMALLEST, LARGEST) }
}

fn decade_below(value: f64) -> i32 {
    let mut decade = value.log10().floor() as i32;
    while 10_f64.powi(decade) > value {
        decade -= 1;
    }
    decade
}

fn decade_above(value: f64) -> i32 {
    let mut decade = value.log10().ceil() as i32;
    while 10_f64.powi(decade) < value {
        decade += 1;
    }
    decade
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn familiar_ranges() {
        assert_eq!(
            AxisScale::linear(113.0, 1.0).ticks,
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]
        );
        assert_eq!(AxisScale::linear(329.0, 1.0).ticks.last(), Some(&350.0));
        let hours = AxisScale::linear(71_000.0, 3600.0).ticks;
        assert_eq!(hours, [0.0, 18_000.0, 36_000.0, 54_000.0, 72_000.0], "0, 5, 10, 15, 20 h");
        assert_eq!(AxisScale::logarithmic(0.2, 180.0).ticks.first(), Some(&0.1));
        assert_eq!(AxisScale::logarithmic(3.0, 40.0).ticks, [2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(AxisScale::logarithmic(10.0, 10_000_000.0).ticks.len(), 7);
    }

    #[test]
    fn counts_have_integer_ticks() {
        assert_eq!(AxisScale::counting(0.0).ticks, [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(AxisScale::counting(17.5).ticks, [0.0, 5.0, 10.0, 15.0, 20.0]);
        for high in 0..3000 {
            let scale = AxisScale::counting(f64::from(high));
            assert!(scale.ticks.iter().all(|tick| tick.fract() == 0.0), "{scale:?}");
            check(&scale, 0.0, f64::from(high));
        }
    }

    #[test]
    fn nothing_and_nonsense_still_give_an_axis() {
        for scale in [
            AxisScale::fitting(std::iter::empty(), 1.0),
            AxisScale::fitting([0.0, 0.0].into_iter(), 1.0),
            AxisScale::fitting([f64::NAN, f64::INFINITY].into_iter(), 1.0),
            AxisScale::linear(f64::NAN, 1.0),
            AxisScale::logarithmic(-1.0, f64::INFINITY),
        ] {
            assert!((FEWEST..=MOST).contains(&scale.ticks.len()), "{scale:?}");
            for value in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!((0.0..=100.0).contains(&scale.percent(value)), "{scale:?} {value}");
            }
        }
    }

    /// Whether a tick reads as one or two digits and a power of ten.
    fn is_nice(tick: f64) -> bool {
        let digits = format!("{tick:.9e}");
        let mantissa = digits.split('e').next().unwrap_or_default().trim_end_matches('0');
        mantissa.chars().filter(char::is_ascii_digit).count() <= 3
    }

    fn check(scale: &AxisScale, low: f64, high: f64) {
        let ticks = &scale.ticks;
        assert!((FEWEST..=MOST).contains(&ticks.len()), "{ticks:?}");
        assert!(ticks.windows(2).all(|w| w[0] < w[1]), "{ticks:?}");
        assert!(ticks.iter().all(|t| t.is_finite() && is_nice(*t)), "{ticks:?}");
        assert!(ticks[0] <= low * (1.0 + 1e-9), "{low} {ticks:?}");
        assert!(ticks[ticks.len() - 1] >= high * (1.0 - 1e-9), "{high} {ticks:?}");
    }

    fn positive() -> impl Strategy<Value = f64> {
        prop_oneof![-290.0..290.0, -9.0..12.0, Just(0.0)].prop_map(|power| 10_f64.powf(power))
    }

    proptest! {
        #[test]
        fn ticks_are_nice_and_cover(a in positive(), b in positive()) {
            let (low, high) = (a.min(b), a.max(b));
            check(&AxisScale::linear(high, 1.0), 0.0, high);
            check(&AxisScale::logarithmic(low, high), low, high);
            check(&AxisScale::fitting([a, b].into_iter(), 1.0), low, high);
            check(&AxisScale::logarithmic(a, a), a, a);
        }

        #[test]
        fn narrow_ranges(low in positive(), factor in 1.0_f64..2000.0) {
            check(&AxisScale::logarithmic(low, low * factor), low, low * factor);
        }

        #[test]
        fn positions_keep_the_order(a in positive(), b in positive()) {
            let scale = AxisScale::fitting([a, b].into_iter(), 1.0);
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(scale.percent(low) <= scale.percent(high));
            prop_assert!((0.0..=100.0).contains(&scale.percent(a)));
        }
    }
}
