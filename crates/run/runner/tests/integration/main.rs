//! Runs without a command line.

mod in_a_directory;
mod plans;
