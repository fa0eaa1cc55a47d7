//! Runs written, read, resumed and merged.

mod merge;
mod run;
mod stacks;
mod support;
mod untrusted;
