//! Checks of solid-state drives, and the loads and closed forms that they are made of.

pub(crate) mod amplification;
mod closed_forms;
pub(crate) mod depth;
mod load;
pub(crate) mod reads;
mod structure;
pub(crate) mod writes;

pub use closed_forms::{
    fifo_write_amplification, greedy_write_amplification, program_rate, read_latency,
    steady_write_rate, unmapped_read_latency,
};
pub use load::{
    RatePoint, random_iops, random_write_rates, sequential_read_rate, sequential_write_rates,
    small_read_latency,
};
pub use structure::{Traffic, spare_layout, structure_write_amplification};
