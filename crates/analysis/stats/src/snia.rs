//! Steady state by SNIA's rule.
//!
//! SNIA, Solid State Storage Performance Test Specification 2.0.2, section 2.1.24:
//! within a window of five rounds, the largest value is at most 20 % of their
//! average above the smallest, and the line fitted to them rises or falls by at
//! most 10 % of the average over the window.

/// Rounds in a window.
pub const SNIA_ROUNDS: usize = 5;
const MOST_RANGE: f64 = 0.20;
const MOST_EXCURSION: f64 = 0.10;

/// How steady a window of [`SNIA_ROUNDS`] rounds is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SniaWindow {
    /// Largest less smallest value, as a share of the average.
    pub range: f64,
    /// How far the fitted line goes from the first round to the last, as a share of
    /// the average; without sign.
    pub excursion: f64,
}

impl SniaWindow {
    /// The window of these rounds; none unless there are five positive, finite ones.
    pub fn of(rounds: &[f64]) -> Option<Self> {
        if rounds.len() != SNIA_ROUNDS || !rounds.iter().all(|r| r.is_finite() && *r > 0.0) {
            return None;
        }
        let average = rounds.iter().map(|r| r / SNIA_ROUNDS as f64).sum::<f64>();
        let least = rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rounds.iter().copied().fold(0.0, f64::max);
        // Positions −2 to 2: their squares sum to 10.
        let slope = rounds.iter().zip(-2_i8..).map(|(r, x)| f64::from(x) * r / 10.0).sum::<f64>();
        let span = (SNIA_ROUNDS - 1) as f64;
        Some(Self { range: (most - least) / average, excursion: (slope * span / average).abs() })
    }

    /// Whether it passes.
    pub fn is_steady(&self) -> bool {
        // The limits are inclusive, and rounding must not tip a value on them.
        self.range <= MOST_RANGE + 1e-12 && self.excursion <= MOST_EXCURSION + 1e-12
    }
}

/// The first of the first five rounds that are steady.
pub fn snia_steady_from(rounds: &[f64]) -> Option<usize> {
    rounds.windows(SNIA_ROUNDS).position(|w| SniaWindow::of(w).is_some_and(|w| w.is_steady()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_cases_of_the_notes() {
        let window = |rounds: [f64; 5]| SniaWindow::of(&rounds).expect("a window");
        let passes = window([100.0, 96.0, 104.0, 98.0, 102.0]);
        assert!((passes.range - 0.08).abs() < 1e-12 && (passes.excursion - 0.024).abs() < 1e-12);
        assert!(passes.is_steady());
        // The range of 20 is within 22, but the line rises by 20, more than 11.
        let rises = window([100.0, 105.0, 110.0, 115.0, 120.0]);
        assert!(rises.range < 0.2 && rises.excursion > 0.1 && !rises.is_steady());
        let spread = window([90.0, 100.0, 112.0, 96.0, 102.0]);
        assert!(spread.range > 0.2 && !spread.is_steady());
    }

    #[test]
    fn the_first_steady_window_is_found() {
        let mut rounds = vec![500.0, 300.0, 200.0, 150.0];
        rounds.extend([100.0; 6]);
        assert_eq!(snia_steady_from(&rounds), Some(4));
        assert_eq!(snia_steady_from(&rounds[..8]), None);
        assert_eq!(snia_steady_from(&[]), None);
    }

    #[test]
    fn rounds_without_a_steady_window_give_none() {
        for rounds in [&[1.0; 4][..], &[1.0; 6], &[1.0, 1.0, 0.0, 1.0, 1.0], &[f64::NAN; 5]] {
            assert_eq!(SniaWindow::of(rounds), None);
        }
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(
            rounds in proptest::collection::vec(0.1_f64..1e6, 5), unit in 1e-6_f64..1e6
        ) {
            let scaled: Vec<f64> = rounds.iter().map(|r| r * unit).collect();
            let (a, b) = (SniaWindow::of(&rounds).expect("one"), SniaWindow::of(&scaled).expect("one"));
            prop_assert!((a.range - b.range).abs() < 1e-9 * (1.0 + a.range));
            prop_assert!((a.excursion - b.excursion).abs() < 1e-9 * (1.0 + a.excursion));
        }
    }
}
