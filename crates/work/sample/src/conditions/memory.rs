//! What became of memory around a cell.

use serde::{Deserialize, Serialize};

/// What became of memory around a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemoryActivity {
    /// Bytes read back from swap.
    pub swapped_in: u64,
    /// Bytes written to swap.
    pub swapped_out: u64,
    /// Processes that the kernel killed for want of memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub killed: u64,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}
