//! Random numbers of a fault: the same for the same seed.

use disklab_content::next_splitmix64;

/// A stream of numbers.
#[derive(Debug, Clone)]
pub(super) struct FaultNumbers(pub u64);

impl FaultNumbers {
    /// From 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (next_splitmix64(&mut self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 to below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        // The share of numbers that come once more is at most `end` of 2^64.
        next_splitmix64(&mut self.0) % end.max(1)
    }

    /// How many trials there are up to the next event of one in `mean`, at least 1.
    pub fn gap(&mut self, mean: f64) -> u64 {
        ((1.0 - self.share()).ln() * -mean) as u64 + 1
    }
}
