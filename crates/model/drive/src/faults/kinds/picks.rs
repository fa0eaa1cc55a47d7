//! Which writes a fault meets.

use crate::faults::clauses::{Clauses, InvalidFault};
use crate::faults::numbers::FaultNumbers;

/// What its kinds take.
pub(super) const CLAUSES: [(&str, &str); 2] =
    [("N writes", "the next N"), ("1 write in N", "one in so many, drawn by the seed")];

/// The next so many writes, or one in so many.
pub(super) enum PickedWrites {
    Next(u64),
    OneIn { mean: f64, gap: u64, numbers: FaultNumbers },
}

impl PickedWrites {
    pub fn read(clauses: &mut Clauses<'_>) -> Result<Self, InvalidFault> {
        if let Some(mean) = clauses.rate("write")? {
            let mut numbers = FaultNumbers(clauses.seed);
            return Ok(Self::OneIn { mean, gap: numbers.gap(mean), numbers });
        }
        let missing = || InvalidFault::new("expected '3 writes' or '1 write in 1000'");
        clauses.count("write")?.map(Self::Next).ok_or_else(missing)
    }

    /// Whether the next write is one of them.
    pub fn is_next(&mut self) -> bool {
        match self {
            Self::Next(left) => {
                let is_one = *left > 0;
                *left -= u64::from(is_one);
                is_one
            }
            Self::OneIn { mean, gap, numbers } => {
                *gap -= 1;
                let is_one = *gap == 0;
                if is_one {
                    *gap = numbers.gap(*mean).max(1);
                }
                is_one
            }
        }
    }
}
