//! Values that are looked up or drawn when they are used.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::random::{RandomVariable, Uniform};

/// A number of a personality, bound late: every use asks for it anew.
#[derive(Debug, Clone)]
pub enum Attribute {
    /// Always the same.
    Constant(u64),
    /// A variable that a later `set` of the script changes (see
    /// [`ScriptCommand::Set`](crate::ScriptCommand::Set)); all others are constants by now.
    Variable(Arc<Variable>),
    /// A random variable: every use draws.
    Random(Arc<RandomVariable>),
}

/// A variable whose value changes while the script runs.
#[derive(Debug)]
pub struct Variable {
    /// Its name without the `$`.
    pub name: String,
    pub(crate) first: u64,
    pub(crate) now: AtomicU64,
}

impl Variable {
    /// Its value now.
    pub fn get(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Gives it a value, for everything that is bound to it.
    pub fn set(&self, value: u64) {
        self.now.store(value, Ordering::Relaxed);
    }
}

impl Attribute {
    /// The value for one use. Negative draws are 0, fractions are cut off.
    pub fn draw(&self, rng: &mut impl Uniform) -> u64 {
        match self {
            Self::Constant(n) => *n,
            Self::Variable(variable) => variable.get(),
            // `as` saturates: a negative draw or no number is 0.
            Self::Random(variable) => variable.draw(rng) as u64,
        }
    }

    /// Like [`draw`](Self::draw), with the fraction.
    pub fn draw_exactly(&self, rng: &mut impl Uniform) -> f64 {
        match self {
            Self::Random(variable) => variable.draw(rng),
            _ => self.draw(rng) as f64,
        }
    }

    /// The number, where it is not drawn at random.
    pub fn fixed(&self) -> Option<u64> {
        match self {
            Self::Constant(n) => Some(*n),
            Self::Variable(variable) => Some(variable.get()),
            Self::Random(_) => None,
        }
    }

    /// The mean: for predictions.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(n) => *n as f64,
            Self::Variable(variable) => variable.get() as f64,
            Self::Random(variable) => variable.mean * variable.factor,
        }
    }

    /// Whether it is 0 at every use.
    pub fn is_zero(&self) -> bool {
        matches!(self, Self::Constant(0))
    }
}

impl From<u64> for Attribute {
    fn from(n: u64) -> Self {
        Self::Constant(n)
    }
}

/// A value that is drawn once for each instance of its flowop (each thread
/// instance), and then kept: `workingset`, and `value` of `finishon…`.
#[derive(Debug, Clone)]
pub struct PerInstance(pub Attribute);

impl PerInstance {
    /// Draws it; keep the result as long as the thread lives.
    pub fn draw(&self, rng: &mut impl Uniform) -> u64 {
        self.0.draw(rng)
    }
}
