//! Outputs of real programs, imported.

mod bounds;
mod real_outputs;
mod too_fast;
