//! Exit codes, and errors that carry one.

use std::fmt;

/// Done.
pub const DONE: u8 = 0;
/// A cell failed, or a finding is severe.
pub const FAILED: u8 = 1;
/// Usage error or bad input; nothing was touched.
pub const USAGE_ERROR: u8 = 2;
/// `compare`: something is slower in the second run.
pub const REGRESSION: u8 = 10;
/// `compare`: too noisy to tell.
pub const TOO_NOISY: u8 = 11;
/// `compare`: too few samples to tell.
pub const TOO_FEW: u8 = 12;
/// Interrupted, resumable.
pub const INTERRUPTED: u8 = 130;

/// An error for the user, with the exit code it leads to.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    message: String,
}

impl Failure {
    /// Usage error or bad input.
    pub fn usage_error(message: impl fmt::Display) -> Self {
        Self { code: USAGE_ERROR, message: message.to_string() }
    }

    /// Something went wrong on the way.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self { code: FAILED, message: message.to_string() }
    }

    /// The same, with a further line.
    pub fn with(mut self, line: &str) -> Self {
        self.message = format!("{}\n{line}", self.message);
        self
    }

    /// The user asked to stop.
    pub fn interrupted(message: impl fmt::Display) -> Self {
        Self { code: INTERRUPTED, message: message.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
