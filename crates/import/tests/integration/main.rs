//! Outputs of real programs, imported.

mod real_outputs;
mod too_fast;
