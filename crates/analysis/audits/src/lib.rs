//! Samples in groups, and what makes them suspect.
//!
//! An [`Auditor`] takes samples one by one; [`Audited`] comes out. Audits are one file each in
//! `audits/` and one line in [`AUDITS`].

mod audit;
mod auditor;
mod audits;
#[cfg(test)]
mod characterization_tests;
mod describe;
mod evidence;
mod finding;
pub mod floors;
mod groups;
mod measure;
mod measure_name;
mod modes;
mod suspect_groups;
#[cfg(test)]
extern crate self as disklab_audits;
#[cfg(test)]
mod testing;
mod unsteady;

pub use audit::{Audit, Reproducer};
pub use auditor::{Audited, Auditor};
pub use audits::{AUDITS, CORRELATED_REPEATS, TWO_MODES, audits_markdown};
pub use describe::{Described, describe, figure_id};
pub use evidence::{Unfinished, in_a_line};
pub use finding::{Finding, Severity};
pub use groups::{DriveBytes, Group, GroupKey, LatencySummary, MemoryReadShare, Observation};
pub use measure::measure_of;
pub use measure_name::{measure_heading, measure_in_sentence};
pub use modes::{modes, modes_of};
pub use suspect_groups::SuspectGroups;
pub use unsteady::{NotSteadyCells, Unsteady};
