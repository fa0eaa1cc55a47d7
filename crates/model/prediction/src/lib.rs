//! What a cell will cost.
//!
//! [`CellPrediction::new`] takes a cell's plan and what is known of the machine, the [`Medium`],
//! and gives time, space, and the bytes written to each drive. What a stack makes of its workload's
//! I/O follows from the shape of its layers.

mod medium;
mod prediction;
mod schedule;
mod seconds;
mod stack_cost;
#[cfg(test)]
mod testing;

pub use medium::{Medium, Simulation};
pub use prediction::{CellPrediction, PredictionError};
pub use schedule::seconds_side_by_side;
