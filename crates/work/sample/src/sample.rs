//! All that one cell measured, raw.

use serde::{Deserialize, Serialize};

use crate::{DriveTraffic, Environment, LabFacts, Step, TraceEntry};

/// All that one cell measured, raw.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// What the workload did, in order.
    pub steps: Vec<Step>,
    /// Time that the cell took outside its workload.
    pub overhead: Overhead,
    /// The surroundings, as they were for this cell.
    pub environment: Environment,
    /// What a reader should know: how lazy initialisation and resync were dealt
    /// with, what was written beforehand, whether direct I/O was honoured.
    pub notes: Vec<Note>,
    /// Every command that ran, the layers' included.
    pub trace: Vec<TraceEntry>,
    /// What each drive did from the making of the stack until the workload's end: also
    /// making file systems, resyncing, and writing what is read. Empty in runs made before
    /// this was counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<DriveTraffic>,
    /// What the lab knows of it; none elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<LabFacts>,
}

/// Seconds that a cell took outside its workload.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Overhead {
    /// Making the drives ready and the layers, mkfs and mount included.
    pub make_seconds: f64,
    /// Waiting for a resync or a lazy initialisation.
    pub settle_seconds: f64,
    /// Syncing and dropping caches.
    pub caches_seconds: f64,
    /// Tearing everything down.
    pub tear_down_seconds: f64,
    /// Writing beforehand what the workload reads: part of the workload, not of
    /// the overhead, but not measured.
    pub prewrite_seconds: f64,
}

impl Overhead {
    /// Everything but the pre-writing and the waiting for the stack to settle.
    pub fn total_seconds(&self) -> f64 {
        self.make_seconds + self.caches_seconds + self.tear_down_seconds
    }
}

/// A note that belongs to a sample.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Note {
    /// What it is about: a layer, a program, a drive.
    pub about: String,
    /// A sentence.
    pub text: String,
}
