//! Runs written, read, resumed and merged.

mod merge;
mod run;
mod support;
mod untrusted;
