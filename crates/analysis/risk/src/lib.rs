//! The chance to lose data in some years, and what it depends on.
//!
//! Pure. A [`disklab_cell::LossTree`] says which drives must fail, [`Hazards`] how often they do
//! and for how long one is missing; [`LossChance`] is simulated from these; [`usual_formula`] is
//! what calculators say instead.

mod failure_rate;
mod formulas;
mod hazards;
mod loss_chance;
mod simulate;
mod sources;
mod uncertain;

pub use failure_rate::{FailureRate, PUBLISHED_YEARS};
pub use formulas::usual_formula;
pub use hazards::{HazardInput, Hazards};
pub use loss_chance::{HazardSwing, LossChance};
pub use sources::{DEFAULT_REPLACEMENT, UNREADABLE};
pub use uncertain::Uncertain;

/// Hours of a year of 365.25 days.
pub const HOURS_PER_YEAR: f64 = 8766.0;
