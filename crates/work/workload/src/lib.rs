//! Workloads: what is run on a stack.
//!
//! Each kind is one file and one line in [`WORKLOADS`]. A workload prepares its
//! data, then runs its steps; the [`WorkContext`] puts counters around each step.

mod caches;
mod context;
mod corpus;
mod data;
mod duration;
mod earlier_files;
mod error;
mod events;
mod kinds;
mod output_problem;
mod reader;
mod spread;
mod steady;
mod study_files;
mod tally;
#[cfg(test)]
mod testing;
mod tree;
mod variables;
mod workload;

pub use caches::Remounter;
pub use context::{StepOutcome, WorkContext};
pub use earlier_files::EarlierFiles;
pub use error::{Damage, FioJobFailure, WorkloadError};
pub use events::{Caretaker, EVENTS, EventKind, PassInUse, WorkEvent};
#[doc(hidden)]
pub use kinds::jobs_in_report;
pub use kinds::{WORKLOADS, find_workload, read_workload};
pub use output_problem::OutputProblem;
pub use spread::FileSpread;
pub use study_files::StudyFiles;
pub use workload::{Context, Cost, ReadWorkload, Workload, WorkloadKind};
