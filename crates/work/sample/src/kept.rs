//! What became of data that were written.

use serde::{Deserialize, Serialize};

/// Blocks of 4 KiB that were read back and compared with what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeptData {
    /// As they were written.
    pub right: u64,
    /// Others than were written, and nothing said so.
    pub wrong: u64,
    /// Refused with an error.
    pub unreadable: u64,
    /// Files that they are of.
    #[serde(default)]
    pub files: u64,
    /// Files of which not all blocks are right.
    #[serde(default)]
    pub damaged: u64,
}
