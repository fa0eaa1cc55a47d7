//! What the five studies published, and what a run measured. Pure.
//!
//! [`Catalogue`] holds the rows that were published (`published/published.csv`),
//! the rules that name the measured figure for each (`published/mapping.toml`)
//! and what is known about rows that are missed (`published/findings.toml`).
//! [`compare()`] looks a run's figures up and judges them: reproduced, not reproduced, or not
//! measured, and why.

mod accepted;
mod catalogue;
mod compare;
mod drawn;
mod finding;
mod judged_row;
mod measured;
mod no_figure;
mod own;
mod record;
mod row;
mod rule;
mod sensitivity;
mod tally;
#[cfg(test)]
mod testing;

pub use accepted::{AcceptedBand, RATIO_TOLERANCE, SAME_TOLERANCE, VALUE_TOLERANCE};
pub use catalogue::Catalogue;
pub use compare::{RowComparison, compare};
pub use drawn::{DrawnDrives, DrawnRow, drawn, may_fail};
pub use finding::{FindingCause, RowFinding};
pub use judged_row::{JudgedRow, MeasuredValue, RowStatus};
pub use measured::{CellEnd, CellFate, MeasuredRun};
pub use no_figure::NoFigure;
pub use own::{OwnRatio, compared_with, own_claims};
pub use record::{comparisons_of_csv, rows_csv};
pub use row::{Row, RowKind};
pub use rule::{MeasuredStep, MeasuredTarget, Rule};
pub use sensitivity::{Moved, MovedRow, NO_EFFECT, Parameter, RangeEnd, Sensitivity, sensitivity};
pub use tally::RowTally;
