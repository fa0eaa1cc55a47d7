//! Gamma-distributed numbers, by the algorithms that Filebench uses.

use std::f64::consts::{E, PI};

use super::Uniform;

/// Above this shape, the distribution's width, 1/√shape of its mean, is below what an f64
/// tells apart: a draw is the mean. Shapes near f64's largest would never be drawn from.
const LARGEST_SHAPE: f64 = 1e31;

/// A draw from the gamma distribution with this shape and scale; its mean is
/// shape·scale. 0 where the shape is not positive.
///
/// Knuth, The Art of Computer Programming 2, 3rd edition: §3.4.1 algorithm A for
/// shapes above 1, and the answer to exercise 16 (algorithm G) below.
pub fn gamma(rng: &mut (impl Uniform + ?Sized), shape: f64, scale: f64) -> f64 {
    // Also refuses what is no number: the loops below would not end.
    if !(shape > 0.0 && shape.is_finite() && scale.is_finite()) {
        return 0.0;
    }
    scale
        * match shape {
            a if a <= 1.0 => small(rng, a),
            a if a < LARGEST_SHAPE => large(rng, a),
            a => a,
        }
}

fn small(rng: &mut (impl Uniform + ?Sized), a: f64) -> f64 {
    let p = E / (a + E);
    loop {
        let u = rng.unit();
        let v = loop {
            let v = rng.unit();
            if v != 0.0 {
                break v;
            }
        };
        let (x, q) = if u < p {
            let x = v.powf(1.0 / a);
            (x, (-x).exp())
        } else {
            let x = 1.0 - v.ln();
            (x, x.powf(a - 1.0))
        };
        if rng.unit() < q {
            return x;
        }
    }
}

fn large(rng: &mut (impl Uniform + ?Sized), a: f64) -> f64 {
    let root = (2.0 * a - 1.0).sqrt();
    loop {
        let y = (PI * rng.unit()).tan();
        let x = root * y + a - 1.0;
        if x <= 0.0 {
            continue;
        }
        let bound = (1.0 + y * y) * ((a - 1.0) * (x / (a - 1.0)).ln() - root * y).exp();
        if rng.unit() <= bound {
            return x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Rand48, Rng};

    /// Mean and variance of many draws.
    fn moments(shape: f64, scale: f64) -> (f64, f64) {
        let mut rng = Rng::stream(3, 0);
        let n = 400_000;
        let drawn: Vec<f64> = (0..n).map(|_| gamma(&mut rng, shape, scale)).collect();
        let mean = drawn.iter().sum::<f64>() / n as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        (mean, variance)
    }

    #[test]
    fn its_moments_are_those_of_the_distribution() {
        for (shape, scale) in [(0.1, 5.0), (0.5, 2.0), (1.0, 3.0), (1.5, 87381.3), (9.0, 1.0)] {
            let (mean, variance) = moments(shape, scale);
            assert!((mean / (shape * scale) - 1.0).abs() < 0.02, "{shape}: mean {mean}");
            let expected = shape * scale * scale;
            assert!((variance / expected - 1.0).abs() < 0.05, "{shape}: variance {variance}");
        }
    }

    #[test]
    fn huge_shapes_are_their_mean() {
        for shape in [LARGEST_SHAPE / 2.0, LARGEST_SHAPE, f64::MAX / 2.0, f64::MAX] {
            let drawn = gamma(&mut Rng::stream(1, 0), shape, 1.0);
            assert!((drawn / shape - 1.0).abs() < 1e-12, "{shape}: {drawn}");
        }
    }

    #[test]
    fn invalid_shapes_give_zero() {
        for shape in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(gamma(&mut Rand48::new(1), shape, 1.0), 0.0);
        }
        assert_eq!(gamma(&mut Rand48::new(1), 1.5, f64::INFINITY), 0.0);
    }
}
