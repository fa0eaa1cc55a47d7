//! The 48-bit linear congruential generator of `drand48(3)`.

use super::Uniform;

/// Multiplier and increment of `drand48(3)` (POSIX).
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

/// `erand48(3)`: what Filebench draws its random variables, its trees and its
/// `cvar-gamma` from.
///
/// An unseeded glibc `drand48` starts from 0, and Filebench seeds none: its trees
/// are the same in every run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rand48 {
    state: u64,
}

impl Rand48 {
    /// From the lowest 48 bits of `seed`, as `seed=` of a random variable.
    pub fn new(seed: u64) -> Self {
        Self { state: seed & MASK }
    }

    /// The state after `state`.
    pub(super) fn after(state: u64) -> u64 {
        MULTIPLIER.wrapping_mul(state).wrapping_add(INCREMENT) & MASK
    }

    /// The number in [0, 1) that a state stands for.
    pub(super) fn number(state: u64) -> f64 {
        state as f64 / (1_u64 << 48) as f64
    }
}

impl Uniform for Rand48 {
    fn next_u64(&mut self) -> u64 {
        self.state = Self::after(self.state);
        let high = self.state >> 16;
        self.state = Self::after(self.state);
        (high << 32) | (self.state >> 16)
    }

    fn unit(&mut self) -> f64 {
        self.state = Self::after(self.state);
        Self::number(self.state)
    }

    fn is_upstream(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_c_library() {
        // printf("%.15f", drand48()) four times without a seed, glibc 2.36.
        let mut source = Rand48::default();
        let drawn: Vec<String> = (0..4).map(|_| format!("{:.15}", source.unit())).collect();
        assert_eq!(
            drawn,
            ["0.000000000000039", "0.000985394674650", "0.041631001594613", "0.176642642542916"]
        );
    }
}
