//! The variances of comparisons that share what disturbs them, estimated together.
//!
//! Three repeats say little about one comparison's scatter, but twenty comparisons of one workload
//! say much about what such scatter is like. Smyth (2004, Statistical Applications in Genetics and
//! Molecular Biology 3(1), article 3; `limma` in R) takes the variances of all of them as drawn
//! from one distribution, a scaled inverse chi-squared with its own degrees of freedom, and moves
//! each towards its centre: the less they differ, the more.
//!
//! It takes for granted that the noise of the comparisons is alike, not equal. One that is far
//! noisier than the others, as where a stack stalls, is left alone (as Phipson et al. 2016, Annals
//! of Applied Statistics 10(2), guard against outliers): it is judged by its own variance.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use statrs::function::gamma::digamma;

use crate::student::mean_and_deviation;

/// With fewer comparisons, nothing is known about how their variances scatter.
const FEWEST: usize = 4;
/// Variances below this share of their median count as it: one of three repeats that happen to
/// agree has a logarithm without a bound (`limma` uses the same).
const LEAST: f64 = 1e-5;
/// A variance beyond this quantile of what the others make expected is an outlier.
const OUTLIER: f64 = 0.95;

/// What the variances of comparisons have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VariancePrior {
    /// Their centre, of logarithms of ratios.
    pub variance: f64,
    /// How much that says, as degrees of freedom; infinite if they differ by no more than chance.
    pub freedom: f64,
    /// No comparison has more degrees of freedom than this together with its own: half of all that
    /// were estimated from, since comparisons with one baseline share its noise.
    pub most: f64,
}

impl VariancePrior {
    /// From the logarithms of the ratios of each comparison, one a block. None of fewer than four
    /// comparisons, or if most of them have no scatter at all.
    pub fn of<'a>(comparisons: impl IntoIterator<Item = &'a [f64]>) -> Option<Self> {
        let mut variances: Vec<(f64, f64)> = comparisons
            .into_iter()
            .filter(|logs| logs.len() > 1)
            .map(|logs| (mean_and_deviation(logs).1.powi(2), logs.len() as f64 - 1.0))
            .filter(|(variance, _)| variance.is_finite())
            .collect();
        if variances.len() < FEWEST {
            return None;
        }
        variances.sort_by(|a, b| a.0.total_cmp(&b.0));
        let median = variances[variances.len() / 2].0;
        if median <= 0.0 {
            return None;
        }
        // Their logarithms, each without the bias that so few degrees of freedom give it.
        let unbiased: Vec<f64> = variances
            .iter()
            .map(|(v, d)| v.max(LEAST * median).ln() - digamma(d / 2.0) + (d / 2.0).ln())
            .collect();
        let (mean, deviation) = mean_and_deviation(&unbiased);
        let own: f64 = variances.iter().map(|(_, d)| trigamma(d / 2.0)).sum();
        let between = deviation.powi(2) - own / variances.len() as f64;
        let most = variances.iter().map(|(_, d)| d).sum::<f64>() / 2.0;
        if between <= 0.0 {
            return Some(Self { variance: mean.exp(), freedom: f64::INFINITY, most });
        }
        let half = inverse_trigamma(between);
        let variance = (mean + digamma(half) - half.ln()).exp();
        let sound = variance.is_finite() && variance > 0.0 && half > 0.0;
        sound.then_some(Self { variance, freedom: 2.0 * half, most })
    }

    /// A comparison's variance and degrees of freedom, moved towards the others'.
    pub(crate) fn moderate(&self, variance: f64, freedom: f64) -> (f64, f64) {
        if self.is_outlier(variance, freedom) {
            return (variance, freedom);
        }
        let moderated = if self.freedom.is_infinite() {
            self.variance
        } else {
            let sum = self.freedom + freedom;
            (self.freedom * self.variance + freedom * variance) / sum
        };
        (moderated, (self.freedom + freedom).min(self.most.max(freedom)))
    }

    fn is_outlier(&self, variance: f64, freedom: f64) -> bool {
        // An infinite number of degrees of freedom is not taken; so many are as good.
        let prior = self.freedom.min(self.most.max(1.0)).min(1e6);
        FisherSnedecor::new(freedom, prior)
            .map_or(true, |f| variance / self.variance > f.inverse_cdf(OUTLIER))
    }
}

/// The derivative of [`digamma`], by recurrence and its asymptotic series (Abramowitz and Stegun
/// 6.4.6 and 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series = z * (1.0 / 6.0 - z * (1.0 / 30.0 - z * (1.0 / 42.0 - z / 30.0)));
    sum + 1.0 / x + z / 2.0 + series / x
}

/// Where [`trigamma`] has this value above 0: Newton's method on 1/trigamma (Smyth 2004, appendix).
fn inverse_trigamma(value: f64) -> f64 {
    if value > 1e7 {
        return 1.0 / value.sqrt();
    }
    if value < 1e-6 {
        return 1.0 / value;
    }
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let at = trigamma(x);
        // The derivative of trigamma, from both sides.
        let step = x * 1e-5;
        let slope = (trigamma(x + step) - trigamma(x - step)) / (2.0 * step);
        let change = at * (1.0 - at / value) / slope;
        x += change;
        if (change / x).abs() < 1e-8 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use statrs::distribution::{ChiSquared, Normal};

    use super::*;

    #[test]
    fn trigamma_is_inverted_everywhere() {
        for value in [1e-9, 1e-6, 3e-4, 0.2, 1.6449, 40.0, 1e7, 1e9] {
            let at = inverse_trigamma(value);
            assert!((trigamma(at) / value - 1.0).abs() < 1e-3, "{value}: {at}");
        }
    }

    #[test]
    fn trigamma_is_that_of_the_tables() {
        // π²/6, π²/2, and R's trigamma(c(2.5, 10, 100)).
        for (x, expected) in [
            (1.0, 1.644_934_066_848_226),
            (0.5, 4.934_802_200_544_679),
            (2.5, 0.490_357_756_100_2),
            (10.0, 0.105_166_335_681_7),
            (100.0, 0.010_050_166_663_3),
        ] {
            assert!((trigamma(x) / expected - 1.0).abs() < 1e-8, "{x} {}", trigamma(x));
            assert!((inverse_trigamma(expected) / x - 1.0).abs() < 1e-5, "{x}");
        }
    }

    /// Comparisons of so many blocks each, with variances drawn around 1e-4.
    fn comparisons(n: usize, blocks: usize, freedom: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let chi = ChiSquared::new(freedom).expect("a number");
        (0..n)
            .map(|_| {
                let variance = 1e-4 * freedom / chi.inverse_cdf(random.random_range(0.001..0.999));
                let normal = Normal::new(0.1, variance.sqrt()).expect("a number");
                (0..blocks)
                    .map(|_| normal.inverse_cdf(random.random_range(1e-6..0.999_999)))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn what_variances_have_in_common_is_found() {
        let prior = |n, blocks, freedom, seed| {
            let all = comparisons(n, blocks, freedom, seed);
            VariancePrior::of(all.iter().map(Vec::as_slice)).expect("enough")
        };
        for blocks in [3, 4, 8] {
            let found = prior(4000, blocks, 6.0, 1);
            assert!((found.freedom / 6.0 - 1.0).abs() < 0.2, "{blocks}: {found:?}");
            assert!((found.variance / 1e-4 - 1.0).abs() < 0.1, "{blocks}: {found:?}");
        }
        // Equal ones differ by chance alone, or nearly.
        assert!(prior(400, 4, 200.0, 2).freedom > 20.0);
    }

    #[test]
    fn an_outlier_is_judged_by_its_own_variance() {
        let all = comparisons(20, 3, 200.0, 3);
        let prior = VariancePrior::of(all.iter().map(Vec::as_slice)).expect("enough");
        assert_eq!(prior.moderate(1e-2, 2.0), (1e-2, 2.0));
        let (variance, freedom) = prior.moderate(1e-5, 2.0);
        assert!(variance > 2e-5 && freedom > 10.0 && freedom <= 20.0, "{variance} {freedom}");
    }

    #[test]
    fn nothing_is_in_common_of_few_or_of_what_does_not_scatter() {
        let same = [0.1; 3];
        assert_eq!(VariancePrior::of([same.as_slice(); 3]), None);
        assert_eq!(VariancePrior::of([same.as_slice(); 30]), None);
        assert_eq!(VariancePrior::of([[0.1].as_slice(); 30]), None);
    }

    proptest! {
        #[test]
        fn any_logarithms_give_a_sound_prior(
            all in prop::collection::vec(prop::collection::vec(-1e3_f64..1e3, 0..6), 0..12),
            variance in 0.0_f64..1e6, freedom in 1_u32..30,
        ) {
            let Some(prior) = VariancePrior::of(all.iter().map(Vec::as_slice)) else { return Ok(()) };
            prop_assert!(prior.variance > 0.0 && prior.variance.is_finite(), "{prior:?}");
            let (moderated, more) = prior.moderate(variance, f64::from(freedom));
            prop_assert!(moderated >= 0.0 && moderated.is_finite());
            prop_assert!(more >= f64::from(freedom) && more.is_finite());
            // Never beyond what the comparison and the others show.
            let (low, high) = (variance.min(prior.variance), variance.max(prior.variance));
            prop_assert!((low..=high).contains(&moderated) || (moderated - low).abs() < 1e-9);
        }
    }
}
