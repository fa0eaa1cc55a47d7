//! Checks: what any right model of a drive must do, computed apart from the model,
//! from what textbooks and data sheets say, and drawn next to the model's results.
//!
//! Pure: no clock, no files. A [`Check`] puts a load on a drive of virtual time and
//! hands back [`CheckFigure`]s and a [`Chart`]; [`CHECKS`] lists them all. [`page`] makes
//! a drive's page in `docs/drives/` of them.

mod chart;
mod check;
mod checks;
mod draw;
mod hdd;
pub mod load;
mod of_shipped;
pub mod page;
pub mod smr;
mod sources;
pub mod ssd;
pub mod summary;
pub mod theory;

pub use chart::{Axis, Chart, Curve, Mark, Scale};
pub use check::{Check, CheckFigure, Checked, DriveColumns, Expected, Outcome};
pub use checks::{CHECKS, check};
pub use draw::draw;
pub use sources::{KINDS_OF_SOURCES, Known, SourceKind, SourcedValue, values};
