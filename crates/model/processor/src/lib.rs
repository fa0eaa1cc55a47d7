//! Processors: what their work costs in the lab, where it is free otherwise.
//!
//! In the lab's virtual time, the clock is frozen while the kernel computes. A
//! processor (`processors/*.toml`) says how long a system call, a checksum or a
//! parity takes on a machine of its kind; the lab's kernel
//! (`kernel/patches/processor.patch`) advances the clock by that, where the work
//! is done. `docs/internals/cpu-cost.md` says what that can tell and what it cannot.

mod cost;
mod file;
mod shipped;

pub use cost::{COSTS, ChargeCost, CostUnit, PARAMETERS};
pub use file::{Processor, from_node, load};
pub use shipped::{SHIPPED, by_name};
