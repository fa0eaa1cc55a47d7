//! Figures of many runs in one database, SQLite or PostgreSQL: what became of each, and where it
//! changed. No run is changed by it.

mod archive;
mod database;
mod error;
mod run;
mod series;

pub use archive::{AddedRun, ListedRun, RunArchive, SeriesFilter};
pub use error::ArchiveError;
pub use run::ArchivedRun;
pub use series::{FigureSeries, SeriesChange, SeriesPoint};
