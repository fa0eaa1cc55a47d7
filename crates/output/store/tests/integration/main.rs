//! Runs written, read, resumed and merged.

mod machines;
mod merge;
mod mishaps;
mod run;
mod stacks;
mod support;
mod untrusted;
