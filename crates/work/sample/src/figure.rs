//! One measured result.

use serde::{Deserialize, Serialize};

use crate::{Latency, OperationKind};

/// One measured result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Kind of work.
    pub direction: Direction,
    /// Bytes that the workload asked for and got.
    pub bytes: u64,
    /// Operations, where they are counted.
    pub operations: Option<u64>,
    /// Nanoseconds that the work took, as the program or disklab clocked it.
    pub elapsed_ns: u64,
    /// Bytes per second. Kept apart from `bytes / elapsed_ns` because programs
    /// such as fio leave start-up out of it.
    pub bytes_per_second: Option<f64>,
    /// Completed; `None` if the program reports no number.
    pub operations_per_second: Option<f64>,
    /// Distribution of the operations' latencies.
    pub latency: Option<Latency>,
    /// Deadlines missed, where the work has deadlines: operations that were
    /// complete only after the moment at which they were needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
    /// The unit of operations per second.
    #[serde(default, skip_serializing_if = "OperationKind::is_io")]
    pub operation: OperationKind,
    /// Distribution of the times until a write was durable, where a sync of its own
    /// follows each: write and sync together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Latency>,
}

/// What kind of work a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Data read.
    Read,
    /// Data written.
    Write,
    /// Data discarded.
    Trim,
    /// Files copied: read and written.
    Copy,
    /// Files removed.
    Remove,
    /// Operations of all kinds together, such as a file server's: told in operations
    /// per second.
    Mixed,
}

impl Direction {
    /// Its word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Copy => "copy",
            Self::Remove => "remove",
            Self::Mixed => "mixed",
        }
    }
}
