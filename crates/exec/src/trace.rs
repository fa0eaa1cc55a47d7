//! The command trace: every program that ran, in order, as it was called.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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
        crate::command_line::join(&self.argv)
    }
}

/// A list of [`TraceEntry`] that clones share.
#[derive(Debug, Clone)]
pub struct Trace {
    began: Instant,
    entries: Arc<Mutex<Vec<TraceEntry>>>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { began: Instant::now(), entries: Arc::default() }
    }
}

impl Trace {
    /// Seconds since the trace began.
    pub fn now_seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Adds an entry.
    pub fn push(&self, entry: TraceEntry) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// Records a thing done by disklab itself (a file written to sysfs, caches
    /// dropped), in the form of the command that would do it.
    pub fn note(&self, argv: &[&str]) {
        self.push(TraceEntry {
            at_seconds: self.now_seconds(),
            argv: argv.iter().map(|s| (*s).to_owned()).collect(),
            cwd: None,
            status: "0".to_owned(),
            elapsed_seconds: 0.0,
        });
    }

    /// Takes all entries out.
    pub fn take(&self) -> Vec<TraceEntry> {
        std::mem::take(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A copy of all entries.
    pub fn entries(&self) -> Vec<TraceEntry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
