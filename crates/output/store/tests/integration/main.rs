//! Runs written, read, resumed and merged.

mod cell_directory;
mod machines;
mod merge;
mod mishaps;
mod run;
mod stacks;
mod support;
mod untrusted;
