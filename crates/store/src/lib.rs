//! Runs: one folder with a SQLite file and the raw outputs beside it.

mod claim;
mod error;
mod grounds;
mod merge;
mod model;
mod raw;
mod rows;
mod run;
mod schema;
mod untrusted;

pub use claim::DirectoryClaim;
pub use disklab_study::{LeftOut, PlannedStack};
pub use error::StoreError;
pub use grounds::{Difference, Grounds, LAB_KERNEL};
pub use model::{CellRecord, CellState, RunInfo, Session};
pub use run::Run;
