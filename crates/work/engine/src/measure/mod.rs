//! What is measured, at the cost of a few nanoseconds an I/O.

mod clock;
mod histogram;
mod series;
mod usage;

pub(crate) use clock::now_ns;
pub(crate) use histogram::Histogram;
pub(crate) use series::{Counter, FINEST_NS};
pub use series::{SeriesBin, SeriesCells};
pub(crate) use usage::Usage;
