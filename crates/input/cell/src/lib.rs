//! A cell: one measurement.
//!
//! Pure. [`Levels`] say which it is, [`order()`] lays the cells of a run out in randomised
//! complete blocks.

mod levels;
mod order;

pub use levels::{Cell, Levels};
pub use order::{Draws, cell_seed, order};
