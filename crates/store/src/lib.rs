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
pub use error::{NoPart, StoreError};
pub use grounds::{Aspect, Difference, Grounds};
pub use model::{CellRecord, CellState, RunInfo, Session};
pub use run::Run;
