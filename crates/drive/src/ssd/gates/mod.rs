//! What the model is held against: closed forms, and the same measured on it.
//!
//! All is pure and repeatable. The tests hold the two together; pages draw them.

mod closed_forms;
mod load;
mod structure;

pub use closed_forms::{
    fifo_write_amplification, greedy_write_amplification, program_rate, read_latency,
    steady_write_rate, unmapped_read_latency,
};
pub use load::{
    RatePoint, random_iops, random_write_rates, sequential_write_rates, small_read_latency,
};
pub use structure::{Traffic, spare_layout, structure_write_amplification};
