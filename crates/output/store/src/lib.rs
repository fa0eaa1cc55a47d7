//! Runs: one directory with a SQLite file and the raw outputs next to it.

mod cell_directory;
mod claim;
mod clock;
mod database;
mod directory;
mod error;
mod machines;
mod merge;
mod model;
mod provenance;
mod raw;
mod rows;
mod run;
mod schema;
mod stacks;
mod unfinished;
mod untrusted;

pub use cell_directory::CellDirectory;
pub use claim::DirectoryClaim;
pub use clock::now;
pub use directory::RunDirectory;
pub use disklab_study::{LeftOut, PlannedStack};
pub use error::{NoPart, StoreError};
pub use model::{CellRecord, CellState, RunInfo, Session};
pub use provenance::{Difference, Provenance, RunAspect};
pub use run::Run;
pub use untrusted::open_guarded;
