//! What may be lost in some years, stack by stack.

mod drive;
mod table;
mod words;

pub use drive::DriveAtRisk;
pub use table::{RebuildSource, RiskTable, RiskTerms, StackRisk};
