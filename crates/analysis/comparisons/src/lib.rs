//! What the groups of a run, or of two, say of each other: answers, comparisons and leads.

mod ahead;
mod answer;
mod answers;
mod asked;
#[cfg(test)]
mod characterization_tests;
mod compare;
mod figures;
mod label;
mod quantity;
mod screen;
#[cfg(test)]
mod testing;
mod two_runs;

pub use ahead::{Ahead, ahead};
pub use answer::{Answer, Comparison, ComparisonOutcome, Point};
pub use answers::{Lead, answers, leads};
pub use quantity::{
    Distance, Quantity, Unit, confidence_level, plain_value, range, ratio, show_figure, times,
    times_range, value,
};
pub use screen::StandingClaims;
pub use two_runs::{
    Change, InconclusiveReason, JudgedFigure, JudgedRatio, MOST, Manner, Values, judge,
};
