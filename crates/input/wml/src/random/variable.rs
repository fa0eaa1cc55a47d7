//! Random variables: `randvar(…)` and `cvar(…)`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Custom, Rand48, RandomTable, Uniform, gamma};

/// How the values of a random variable are spread.
#[derive(Debug, Clone)]
pub enum RandomShape {
    /// Evenly over [min, 2·mean − min].
    Uniform,
    /// min + Γ with this shape (upstream's `gamma`/1000) and the mean `mean`.
    Gamma {
        /// The shape, above 0.
        shape: f64,
    },
    /// By a table, moved to `min` and `mean`.
    Tabular(RandomTable),
    /// A `cvar`.
    Custom(Custom),
}

/// A random variable of a personality. Every use of it draws anew.
#[derive(Debug, Clone)]
pub struct RandomVariable {
    /// Its name without the `$`.
    pub name: String,
    /// How its values are spread.
    pub distribution: RandomShape,
    /// The mean that `mean=` asks for, or that follows from the distribution.
    pub mean: f64,
    /// Lowest value: where the distribution starts, or the clip of a `cvar`.
    pub min: f64,
    /// Highest value, of a `cvar`.
    pub max: f64,
    /// Values are rounded to multiples of this; 0 rounds nothing.
    pub round: f64,
    /// The state that upstream's `rand48` source has, from `seed=`; none with
    /// `randsrc=urandom`. It counts with `compat_rng` only: otherwise the stream
    /// of the drawing thread, which the run's seed decides, gives the numbers.
    pub rand48: Option<Arc<AtomicU64>>,
    /// What every draw is multiplied with: 1, unless [`scaled`](Self::scaled).
    pub factor: f64,
}

impl RandomVariable {
    /// A draw. Cheap: nothing is allocated, nothing is locked.
    pub fn draw(&self, rng: &mut impl Uniform) -> f64 {
        self.draw_about(rng, self.mean)
    }

    /// A draw with another mean, which a `cvar` does not heed.
    pub fn draw_about(&self, rng: &mut impl Uniform, mean: f64) -> f64 {
        let value = match &self.rand48 {
            Some(state) if rng.is_upstream() => self.spread(&mut Shared(state), mean),
            _ => self.spread(rng, mean),
        };
        value * self.factor
    }

    /// The same variable, its draws multiplied with `factor`.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { factor: self.factor * factor, ..self.clone() }
    }

    fn spread(&self, rng: &mut impl Uniform, mean: f64) -> f64 {
        let value = match &self.distribution {
            RandomShape::Uniform => rng.unit() * 2.0 * (mean - self.min) + self.min,
            RandomShape::Gamma { shape } => {
                gamma(rng, *shape, (mean - self.min) / shape) + self.min
            }
            RandomShape::Tabular(table) => table.draw(rng, self.min, mean),
            RandomShape::Custom(custom) => {
                // Not `clamp`, which panics where the bounds are no numbers.
                return self.rounded(custom.draw(rng)).max(self.min).min(self.max);
            }
        };
        self.rounded(value)
    }

    /// Its distribution, for the record of a run.
    pub fn show(&self) -> String {
        let kind = match &self.distribution {
            RandomShape::Uniform => "uniform".to_owned(),
            RandomShape::Gamma { shape } => format!("gamma of shape {shape}"),
            RandomShape::Tabular(_) => "tabular".to_owned(),
            RandomShape::Custom(custom) => custom.kind().name.to_owned(),
        };
        format!("{kind}, mean {}, min {}", self.mean, self.min)
    }

    fn rounded(&self, value: f64) -> f64 {
        if self.round > 0.0 { (value / self.round).round() * self.round } else { value }
    }
}

/// A `rand48` state that threads share. Upstream's threads race for it; these
/// never hand out a state twice.
struct Shared<'a>(&'a AtomicU64);

impl Shared<'_> {
    fn next(&self) -> u64 {
        let turned = |state| Some(Rand48::after(state));
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, turned) {
            Ok(before) | Err(before) => Rand48::after(before),
        }
    }
}

impl Uniform for Shared<'_> {
    fn next_u64(&mut self) -> u64 {
        let high = self.next() >> 16;
        (high << 32) | (self.next() >> 16)
    }

    fn unit(&mut self) -> f64 {
        Rand48::number(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use proptest::prelude::*;

    fn variable(distribution: RandomShape, mean: f64, min: f64, round: f64) -> RandomVariable {
        RandomVariable {
            name: "size".to_owned(),
            distribution,
            mean,
            min,
            max: f64::INFINITY,
            round,
            rand48: Some(Arc::new(AtomicU64::new(0))),
            factor: 1.0,
        }
    }

    fn mean_of(variable: &RandomVariable, rng: &mut Rng) -> f64 {
        (0..100_000).map(|_| variable.draw(rng)).sum::<f64>() / 100_000.0
    }

    #[test]
    fn uniform_and_gamma_keep_their_mean_above_their_minimum() {
        let mut rng = Rng::stream(2, 2);
        for distribution in [RandomShape::Uniform, RandomShape::Gamma { shape: 1.5 }] {
            let variable = variable(distribution, 10_000.0, 1_000.0, 0.0);
            let mean = mean_of(&variable, &mut rng);
            assert!((mean / 10_000.0 - 1.0).abs() < 0.02, "{mean}");
            assert!((0..10_000).all(|_| variable.draw(&mut rng) >= 1_000.0));
        }
    }

    #[test]
    fn values_are_rounded_to_the_nearest_multiple() {
        let variable = variable(RandomShape::Uniform, 8192.0, 0.0, 1024.0);
        let mut rng = Rng::stream(2, 3);
        assert!((0..1000).all(|_| variable.draw(&mut rng) % 1024.0 == 0.0));
        let mean = mean_of(&variable, &mut rng);
        assert!((mean / 8192.0 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn scaled_variables_are_the_same_but_larger() {
        let one = variable(RandomShape::Uniform, 0.5, 0.0, 0.0);
        let large = one.scaled(50.0);
        let draw = |v: &RandomVariable| v.draw(&mut Rng::stream(4, 4));
        assert_eq!(draw(&large), draw(&one) * 50.0);
        // They share their state.
        let mut alone = Rand48::new(0);
        let mut compat = Rng::compat();
        assert_eq!(large.draw(&mut compat), alone.unit() * 50.0);
        assert_eq!(one.draw(&mut compat), alone.unit());
    }

    #[test]
    fn with_the_upstream_generator_the_seed_decides() {
        let one = variable(RandomShape::Uniform, 0.5, 0.0, 0.0);
        let mut alone = Rand48::new(0);
        let mut compat = Rng::compat();
        for _ in 0..5 {
            assert_eq!(one.draw(&mut compat), alone.unit());
        }
        let urandom = RandomVariable { rand48: None, ..one };
        assert_eq!(urandom.draw(&mut Rng::compat()), Rng::compat().unit());
    }

    proptest! {
        #[test]
        fn no_parameters_panic_or_hang(seed: u64, kind in 0..3, mean: f64, min: f64, round: f64, shape: f64) {
            let distribution = match kind {
                0 => RandomShape::Uniform,
                1 => RandomShape::Gamma { shape },
                _ => RandomShape::Tabular(RandomTable::new(&[super::super::TableRow { percent: 100, min, max: mean }]).expect("100 %")),
            };
            let _ = variable(distribution, mean, min, round).draw(&mut Rng::stream(seed, 0)) as u64;
        }
    }
}
