//! The clock: what it is made of, and whether it was set or stopped meanwhile.

use serde::{Deserialize, Serialize};

/// The clock around a cell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Clock {
    /// What the kernel counts with, such as `tsc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// By how much the time of day went further than the steady clock, in
    /// milliseconds: a step, or slewing by NTP; negative where it was set back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stepped_ms: i64,
    /// How long the machine slept (suspended), in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slept_ms: i64,
    /// How long the cell took, its preparation included, in milliseconds.
    pub elapsed_ms: i64,
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}
