//! A value, and between what it may lie.

use rand::Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// How many standard deviations the ends of a 95 % interval are from its middle.
const ENDS: f64 = 1.959_964;

/// A positive value with a 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uncertain {
    /// The value that is most likely.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Uncertain {
    /// Known exactly.
    pub fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Whether it is known exactly.
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }

    /// Drawn: each side is the half of a log-normal distribution whose end is at the interval's.
    pub(crate) fn draw(&self, random: &mut impl Rng) -> f64 {
        let Ok(normal) = Normal::new(0.0, 1.0) else { return self.value };
        let z = normal.inverse_cdf(random.random_range(1e-9..1.0));
        let end = if z < 0.0 { self.low } else { self.high };
        if self.value <= 0.0 || end <= 0.0 {
            return self.value;
        }
        self.value * (end / self.value).powf(z.abs() / ENDS)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_fortieth_lies_beyond_each_end() {
        let value = Uncertain { value: 10.0, low: 5.0, high: 40.0 };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<f64> = (0..40_000).map(|_| value.draw(&mut random)).collect();
        let share = |is: &dyn Fn(f64) -> bool| {
            drawn.iter().filter(|value| is(**value)).count() as f64 / drawn.len() as f64
        };
        for (found, expected) in [
            (share(&|v| v < 5.0), 0.025),
            (share(&|v| v > 40.0), 0.025),
            (share(&|v| v < 10.0), 0.5),
        ] {
            assert!((found - expected).abs() < 0.008, "{found} for {expected}");
        }
        let exact = Uncertain::exact(3.0);
        assert!(exact.is_exact() && exact.draw(&mut random) == 3.0);
    }

    #[test]
    fn what_has_no_logarithm_is_as_it_is() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for (value, low, high) in [(0.0, 0.0, 1.0), (2.0, 0.0, 2.0), (2.0, -1.0, 2.0)] {
            let value = Uncertain { value, low, high };
            for _ in 0..50 {
                assert_eq!(value.draw(&mut random), value.value, "{value:?}");
            }
        }
    }
}
