//! The kinds of faults: one file each, and one line in the table.

use super::clauses::FaultKind;

mod away;
mod dies;
mod loses;
mod misdirects;
mod picks;
mod rots;
mod slow;
mod stalls;
mod unreadable;

/// All kinds of faults, in the order of `disklab list faults`.
pub static FAULTS: &[FaultKind] = &[
    dies::KIND,
    away::KIND,
    unreadable::KIND,
    slow::KIND,
    stalls::KIND,
    rots::KIND,
    loses::KIND,
    misdirects::KIND,
];
