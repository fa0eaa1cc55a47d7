//! What will run on a bench, and what will not.

use serde::{Deserialize, Serialize};

/// A stack on a bench.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedStack {
    /// Its id.
    pub id: String,
    /// Its layers, bottom-up, in the study's notation.
    pub layers: String,
    /// The drives below it, by their names in the study.
    pub drives: Vec<String>,
    /// Predicted usable bytes.
    pub capacity: u64,
    /// How many drives may fail.
    pub tolerates: u32,
}

/// A stack, a workload or a pair of them that does not run here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The stack; every stack where absent.
    pub stack: Option<String>,
    /// The workload; every workload where absent.
    pub workload: Option<String>,
    /// Why: `needs md (raid5) in the kernel`.
    pub why: String,
}
