//! What may be lost in some years, stack by stack.

mod table;
mod words;

pub use table::{DriveAtRisk, RebuildSource, RiskTable, RiskTerms, StackRisk};
