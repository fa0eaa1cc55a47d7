//! What can go wrong with a program.

use std::io;
use std::time::Duration;

use crate::Interrupted;

/// Why a program did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The program is not installed.
    #[error("'{0}' is not installed (`disklab doctor` says which package has it)")]
    Missing(String),
    /// It could not be started.
    #[error("cannot start '{program}': {source}")]
    Start {
        /// Its name, without arguments.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// It ended with an error.
    #[error("`{command}` failed ({status}){}", said(stderr))]
    Failed {
        /// The command line.
        command: String,
        /// The exit code or signal, in words.
        status: String,
        /// The end of what it wrote to its standard error.
        stderr: String,
    },
    /// It took longer than allowed and was stopped.
    #[error("`{command}` was stopped after {} seconds", limit.as_secs())]
    TimedOut {
        /// The command line.
        command: String,
        /// How long it was allowed to take.
        limit: Duration,
    },
    /// The user asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Its input or output could not be carried.
    #[error("input or output of '{program}': {source}")]
    Pipe {
        /// Its name, without arguments.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
}

fn said(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
