//! One program that ran, as it was called.

use serde::{Deserialize, Serialize};

/// One program that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// Seconds since the trace began.
    pub at_seconds: f64,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The working directory, where it was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// How it ended: `0`, `exit code 1`, `signal 9`.
    pub status: String,
    /// How long it took, in seconds.
    pub elapsed_seconds: f64,
}

impl TraceEntry {
    /// The command line as one would type it.
    pub fn command_line(&self) -> String {
        crate::command_line(&self.argv)
    }
}
