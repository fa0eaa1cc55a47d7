//! The distributions that Filebench loads as libraries (`cvar(type=…)`).

use super::{Uniform, gamma};

/// One kind of custom variable.
#[derive(Debug)]
pub struct CustomKind {
    /// Its `type`, such as `cvar-gamma`.
    pub name: &'static str,
    /// Its parameters with their defaults (upstream's `cvars/*.h`).
    pub parameters: &'static [(&'static str, f64)],
    /// What is wrong with the values, if anything.
    check: fn(&[f64]) -> Option<&'static str>,
    draw: fn(&[f64], &mut dyn Uniform) -> f64,
    mean: fn(&[f64]) -> f64,
}

/// All kinds. Formulas: upstream's `cvars/mtwist/randistrs.c`, which takes them
/// from Law and Kelton, Simulation Modeling and Analysis (1991).
pub static CUSTOM_KINDS: &[CustomKind] = &[
    CustomKind {
        name: "cvar-erlang",
        // Upstream's 'rate' is used as the mean.
        parameters: &[("shape", 1.0), ("rate", 1.0)],
        check: |p| {
            if p[0] > 10_000.0 {
                return Some("shape must not be above 10000");
            }
            positive(p)
        },
        draw: |p, rng| {
            let order = p[0].max(1.0) as u32;
            let sum: f64 = (0..order).map(|_| -above_zero(rng).ln()).sum();
            p[1] * sum / f64::from(order)
        },
        mean: |p| p[1],
    },
    CustomKind {
        name: "cvar-exponential",
        parameters: &[("mean", 1.0)],
        check: positive,
        draw: |p, rng| -p[0] * above_zero(rng).ln(),
        mean: |p| p[0],
    },
    CustomKind {
        name: "cvar-gamma",
        // Unlike a randvar's, this gamma is not multiplied by 1000.
        parameters: &[("mean", 4096.0), ("gamma", 1.5)],
        check: |p| {
            if p[1] <= 0.0 { Some("gamma must be above 0") } else { positive(p) }
        },
        draw: |p, rng| gamma(rng, p[1], p[0] / p[1]),
        mean: |p| p[0],
    },
    CustomKind {
        name: "cvar-lognormal",
        parameters: &[("shape", 1.0), ("scale", 1.0)],
        check: positive,
        draw: |p, rng| normal(rng, p[1], p[0]).exp(),
        mean: |p| (p[1] + p[0] * p[0] / 2.0).exp(),
    },
    CustomKind {
        name: "cvar-normal",
        parameters: &[("mean", 0.0), ("sigma", 1.0)],
        check: |p| if p[1] < 0.0 { Some("sigma must not be negative") } else { None },
        draw: |p, rng| normal(rng, p[0], p[1]),
        mean: |p| p[0],
    },
    CustomKind {
        name: "cvar-triangular",
        parameters: &[("lower", 0.0), ("upper", 1.0), ("mode", 0.5)],
        check: |p| {
            let fits = p[0] < p[1] && p[0] <= p[2] && p[2] <= p[1];
            if fits { None } else { Some("expected lower <= mode <= upper, and lower < upper") }
        },
        draw: |p, rng| {
            let mode = (p[2] - p[0]) / (p[1] - p[0]);
            let u = rng.unit();
            let x =
                if u <= mode { (mode * u).sqrt() } else { 1.0 - ((1.0 - mode) * (1.0 - u)).sqrt() };
            p[0] + (p[1] - p[0]) * x
        },
        mean: |p| (p[0] + p[1] + p[2]) / 3.0,
    },
    CustomKind {
        name: "cvar-uniform",
        parameters: &[("lower", 0.0), ("upper", 1.0)],
        check: |p| if p[0] <= p[1] { None } else { Some("expected lower <= upper") },
        draw: |p, rng| p[0] + rng.unit() * (p[1] - p[0]),
        mean: |p| (p[0] + p[1]) / 2.0,
    },
    CustomKind {
        name: "cvar-weibull",
        parameters: &[("shape", 1.0), ("scale", 1.0)],
        check: |p| {
            if p[0] <= 0.0 { Some("shape must be above 0") } else { positive(p) }
        },
        draw: |p, rng| p[1] * (-above_zero(rng).ln()).powf(1.0 / p[0]),
        mean: |p| p[1] * factorial(1.0 / p[0]),
    },
];

fn positive(parameters: &[f64]) -> Option<&'static str> {
    let negative = parameters.iter().any(|p| *p < 0.0);
    negative.then_some("parameters must not be negative")
}

/// A number in (0, 1], for logarithms.
fn above_zero(rng: &mut dyn Uniform) -> f64 {
    loop {
        let u = rng.unit();
        if u > 0.0 {
            return u;
        }
    }
}

/// Marsaglia's polar method; the second number of the pair is dropped.
fn normal(rng: &mut dyn Uniform, mean: f64, sigma: f64) -> f64 {
    loop {
        let x = 2.0 * rng.unit() - 1.0;
        let y = 2.0 * rng.unit() - 1.0;
        let square = x * x + y * y;
        if square > 0.0 && square <= 1.0 {
            return mean + sigma * x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// Γ(1 + x) for x > 0, by Stirling's series after shifting x above 8: exact to
/// 1e-9, which is enough for a prediction.
fn factorial(x: f64) -> f64 {
    let mut divisor = 1.0;
    let mut z = 1.0 + x;
    while z < 9.0 {
        divisor *= z;
        z += 1.0;
    }
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    ((z - 0.5) * z.ln() - z + 0.5 * std::f64::consts::TAU.ln() + series).exp() / divisor
}

/// A custom variable's distribution.
#[derive(Debug, Clone)]
pub struct Custom {
    kind: &'static CustomKind,
    values: Vec<f64>,
}

/// Why the parameters of a distribution are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CustomError {
    /// A part without ':'.
    #[error("invalid parameter '{found}': expected key:value")]
    Form {
        /// The part.
        found: String,
    },
    /// A parameter that the distribution does not have.
    #[error(
        "{kind} has no parameter '{key}'{}; expected {}",
        disklab_source::did_you_mean(key, known.iter().copied()),
        disklab_source::one_of(known)
    )]
    Parameter {
        /// The distribution.
        kind: &'static str,
        /// The parameter.
        key: String,
        /// Those that it has.
        known: Vec<&'static str>,
    },
    /// A value that is not a finite number.
    #[error("invalid number '{found}' for '{key}'")]
    Number {
        /// The parameter.
        key: String,
        /// Its value.
        found: String,
    },
    /// Values that make no distribution.
    #[error("{kind}: {wrong}")]
    Values {
        /// The distribution.
        kind: &'static str,
        /// What is wrong with them.
        wrong: &'static str,
    },
}

impl Custom {
    /// From `key:value;key:value…`, as after `parameters=`; what is not given has
    /// its default.
    ///
    /// # Errors
    /// `CustomError`: a form, a parameter or a number that this distribution does not have.
    pub fn new(kind: &'static CustomKind, text: &str) -> Result<Self, CustomError> {
        let mut values: Vec<f64> = kind.parameters.iter().map(|(_, default)| *default).collect();
        for part in text.split(';').filter(|part| !part.trim().is_empty()) {
            let (key, value) = part
                .split_once(':')
                .ok_or_else(|| CustomError::Form { found: part.trim().to_owned() })?;
            let (key, value) = (key.trim(), value.trim());
            let Some(index) = kind.parameters.iter().position(|(name, _)| *name == key) else {
                return Err(CustomError::Parameter {
                    kind: kind.name,
                    key: key.to_owned(),
                    known: kind.parameters.iter().map(|(name, _)| *name).collect(),
                });
            };
            values[index] =
                value.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| {
                    CustomError::Number { key: key.to_owned(), found: value.to_owned() }
                })?;
        }
        match (kind.check)(&values) {
            Some(wrong) => Err(CustomError::Values { kind: kind.name, wrong }),
            None => Ok(Self { kind, values }),
        }
    }

    /// The entry of the table that says what it draws.
    pub fn kind(&self) -> &'static CustomKind {
        self.kind
    }

    /// The mean, before `min`, `max` and `round`.
    pub fn mean(&self) -> f64 {
        (self.kind.mean)(&self.values)
    }

    pub(super) fn draw(&self, rng: &mut dyn Uniform) -> f64 {
        (self.kind.draw)(&self.values, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn custom(name: &str, text: &str) -> Result<Custom, CustomError> {
        let kind = CUSTOM_KINDS.iter().find(|k| k.name == name).expect("known");
        Custom::new(kind, text)
    }

    #[test]
    fn each_has_the_mean_that_it_says() {
        for (name, text, mean) in [
            ("cvar-erlang", "shape:3;rate:10", 10.0),
            ("cvar-exponential", "mean:4096", 4096.0),
            ("cvar-gamma", "mean:131072;gamma:1.5", 131_072.0),
            ("cvar-gamma", "", 4096.0),
            ("cvar-lognormal", "shape:0.5;scale:2", (2.125_f64).exp()),
            ("cvar-normal", "mean:50;sigma:3", 50.0),
            ("cvar-triangular", "lower:1;upper:10;mode:4", 5.0),
            ("cvar-uniform", "lower:4096;upper:8192;", 6144.0),
            ("cvar-weibull", "shape:1;scale:7", 7.0),
            // Γ(1.5) = √π/2.
            ("cvar-weibull", "shape:2;scale:1", 0.886_226_925_452_758),
        ] {
            let custom = custom(name, text).expect(text);
            assert!((custom.mean() / mean - 1.0).abs() < 1e-8, "{name}: {}", custom.mean());
            let mut rng = Rng::stream(11, 0);
            let n = 200_000;
            let drawn = (0..n).map(|_| custom.draw(&mut rng)).sum::<f64>() / f64::from(n);
            assert!((drawn / mean - 1.0).abs() < 0.02, "{name} {text}: {drawn}");
        }
    }

    #[test]
    fn wrong_parameters_are_reported() {
        let error = custom("cvar-gamma", "mean:4;gama:2").expect_err("a slip");
        assert!(matches!(&error, CustomError::Parameter { key, .. } if key == "gama"), "{error:?}");
        assert!(error.to_string().contains("did you mean 'gamma'"), "{error}");
        let form = CustomError::Form { found: "mean".to_owned() };
        assert_eq!(custom("cvar-gamma", "mean").map(drop), Err(form));
        for (text, key) in [("mean:x", "mean"), ("sigma:inf", "sigma")] {
            let error = custom("cvar-normal", text).expect_err(text);
            assert!(matches!(&error, CustomError::Number { key: k, .. } if k == key), "{error:?}");
        }
        for (name, text, part) in [
            ("cvar-gamma", "gamma:0", "above 0"),
            ("cvar-uniform", "lower:2;upper:1", "lower <= upper"),
            ("cvar-triangular", "mode:7", "mode"),
            ("cvar-erlang", "shape:1000000", "10000"),
            ("cvar-normal", "sigma:-1", "negative"),
        ] {
            let error = custom(name, text).expect_err(text);
            let CustomError::Values { wrong, .. } = error else { panic!("{error:?}") };
            assert!(wrong.contains(part), "{wrong}");
        }
    }
}
