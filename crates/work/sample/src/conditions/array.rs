//! Arrays over the drives.

use serde::{Deserialize, Serialize};

/// An array, a Btrfs of several devices, or a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayState {
    /// Its name, such as `md0`, or `btrfs` (whose UUID says nothing to people).
    pub name: String,
    /// What it is, such as `raid5`.
    pub level: Option<String>,
    /// Members that are missing or failed.
    pub missing: u32,
}
