//! Runs: one folder with a SQLite file and the raw outputs beside it.

mod error;
mod model;
mod raw;
mod rows;
mod run;
mod schema;

pub use error::StoreError;
pub use model::{CellRecord, CellState, LeftOut, PlannedStack, RunInfo, Session};
pub use run::Run;
