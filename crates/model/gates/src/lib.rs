//! Gates: what any right model of a drive must do, computed apart from the model,
//! from what textbooks and data sheets say, and drawn beside what the model does.
//!
//! Pure: no clock, no files. A [`Gate`] puts a load on a drive of virtual time and
//! hands back [`Figure`]s and a [`Chart`]; [`GATES`] lists them all. [`page`] makes
//! a drive's page in `docs/drives/` of them.

mod chart;
mod draw;
mod gate;
mod gates;
mod hdd;
pub mod load;
pub mod page;
pub mod smr;
mod sources;
pub mod ssd;
pub mod theory;

pub use chart::{Axis, Chart, Curve, Mark, Scale};
pub use draw::draw;
pub use gate::{Checked, Expected, Figure, Gate, Outcome};
pub use gates::{GATES, check};
pub use sources::{KINDS_OF_SOURCES, Known, SourceKind, Value, values};
