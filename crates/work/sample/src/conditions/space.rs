//! How full a file system is, and how much of the workload's files is data.

use serde::{Deserialize, Serialize};

/// The space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// All bytes.
    pub bytes: u64,
    /// Used bytes before the workload prepared its files.
    pub used_before: u64,
    /// Used bytes when it had ended, after its files were written back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_after: Option<u64>,
    /// Over how many of all bytes its large files were laid out, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_over: Option<u64>,
    /// The files in its directory, when it had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileData>,
}

/// What is in a directory's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileData {
    /// Files, or the most that are looked at.
    pub files: u64,
    /// Their sizes.
    pub bytes: u64,
    /// Of these, bytes that are neither hole nor reserved and never written.
    pub data: u64,
    /// Bytes of blocks that the file system says it has given to them.
    pub allocated: u64,
    /// The largest of their sizes.
    pub largest: u64,
}
