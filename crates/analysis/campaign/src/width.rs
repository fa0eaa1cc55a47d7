//! How exactly a figure or a ratio is known.

use disklab_stats::Interval;

/// How far an interval goes from its centre, as a share: 0.05 where it lies between
/// 1/1.05 and 1.05 of it. 0 where all values are one, which may be 0; infinite where it
/// goes down to 0 or below, of which nothing is a share.
pub(crate) fn reach((centre, interval): (f64, Interval)) -> f64 {
    if interval.low == interval.high {
        0.0
    } else if interval.low > 0.0 {
        (interval.high / centre).max(centre / interval.low) - 1.0
    } else {
        f64::INFINITY
    }
}

/// Whether a figure is known within ±`share`.
pub(crate) fn is_within(figure: (f64, Interval), share: f64) -> bool {
    reach(figure) <= share.max(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn figure(low: f64, centre: f64, high: f64) -> (f64, Interval) {
        (centre, Interval { low, high, confidence: 0.95 })
    }

    #[test]
    fn the_farther_end_counts() {
        for (figure, share) in [
            (figure(1.0 / 1.05, 1.0, 1.02), 0.05),
            (figure(0.99, 1.0, 1.05), 0.05),
            (figure(100.0, 100.0, 100.0), 0.0),
            (figure(0.0, 0.0, 0.0), 0.0),
        ] {
            assert!((reach(figure) - share).abs() < 1e-12, "{figure:?}");
            assert!(is_within(figure, share + 1e-12), "{figure:?}");
            assert!(share == 0.0 || !is_within(figure, share - 1e-12), "{figure:?}");
        }
        assert!(is_within(figure(3.0, 3.0, 3.0), -1.0), "nothing is more exact than one value");
        for unbounded in [figure(0.0, 1.0, 2.0), figure(-1.0, 1.0, 1.01), figure(-2.0, -1.0, -0.5)]
        {
            assert!(!is_within(unbounded, 1e9), "{unbounded:?}");
        }
        assert!(!is_within(figure(1.0, f64::NAN, 1.01), 0.5));
    }

    proptest! {
        #[test]
        fn units_do_not_matter_and_neither_does_the_side(
            centre in 1e-3_f64..1e3, down in 0.0_f64..2.0, up in 0.0_f64..2.0, factor in 1e-6_f64..1e6,
        ) {
            let of = |scale: f64, down: f64, up: f64| {
                let centre = centre * scale;
                reach(figure(centre / down.exp(), centre, centre * up.exp()))
            };
            let share = of(1.0, down, up);
            prop_assert!((share - down.max(up).exp_m1()).abs() <= 1e-9 * (1.0 + share));
            prop_assert!((share - of(factor, up, down)).abs() <= 1e-9 * (1.0 + share));
        }
    }
}
