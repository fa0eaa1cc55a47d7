//! Why a drive of a plan cannot have a fault.

use disklab_cell::MOST_FAULTS;
use disklab_drive::InvalidFault;

/// Why a fault cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultProblem {
    /// It, or one of its clauses, is none.
    #[error(transparent)]
    Invalid(#[from] InvalidFault),
    /// The stack has fewer drives.
    #[error("there is no drive {drive}: {} has {count}", if stack.is_empty() { "the guest" } else { stack })]
    NoSuchDrive {
        /// Its number, from 1.
        drive: u32,
        /// The stack's id; none of a session.
        stack: String,
        /// How many there are.
        count: usize,
    },
    /// The cell does not run in the lab.
    #[error("only drives of the lab can have faults")]
    NotLab,
    /// There are more than a cell has.
    #[error("a cell has up to {MOST_FAULTS} faults")]
    TooMany,
}
