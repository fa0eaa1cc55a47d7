//! The command trace: every program that ran, in order, as it was called.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use disklab_sample::TraceEntry;

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
