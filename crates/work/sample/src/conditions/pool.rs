//! ZFS: pools, and what its cache (ARC) gave.

use serde::{Deserialize, Serialize};

/// A ZFS pool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Pool {
    /// As zpool(8) lists it.
    pub name: String,
    /// `ONLINE`, `DEGRADED`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Bytes before compression for each byte after it, over all that is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<f64>,
    /// Base-2 logarithms of the sector sizes of its vdevs, each once, of a pool that the
    /// stack made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ashift: Vec<u8>,
    /// When writes are safe: `standard`, `always` or `disabled` (zfsprops(7)), of a pool that
    /// the stack made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<String>,
    /// A scrub or resilver in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_work: Option<String>,
}

/// What ZFS's cache did around a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArcActivity {
    /// Lookups that were answered from memory.
    pub hits: u64,
    /// Those that were not.
    pub misses: u64,
    /// Its size at the end, in bytes.
    pub bytes: u64,
}
