//! What a lab knows of a cell, and its guest cannot.

use serde::{Deserialize, Serialize};

/// What a lab knows of a cell, from the boot of its guest to the end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LabFacts {
    /// How long the guest ran, in nanoseconds of virtual time.
    pub virtual_ns: u64,
    /// What the content of the drives took on this machine.
    pub content: KeptContent,
    /// What drives did behind the guest's back; those that did nothing are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<UnseenWork>,
}

/// What the content of modelled drives takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeptContent {
    /// Bytes of data, at their highest.
    pub disk_bytes: u64,
    /// Bytes of memory for the index, estimated.
    pub memory_bytes: u64,
}

/// What a drive did that no request asked for, or that the guest cannot see.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnseenWork {
    /// The drive's name in the study.
    pub drive: String,
    /// Of the host below the guest, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostWork>,
    /// Of a shingled drive's translation layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shingled: Option<ShingledWork>,
}

/// What the host below a guest did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostWork {
    /// Reads of the guest.
    pub reads: u64,
    /// Those that did not wait for the drive.
    pub hits: u64,
    /// Flushes given to the drive.
    pub flushes: u64,
}

/// What a shingled drive's translation layer did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ShingledWork {
    /// Bytes in the persistent cache at the end.
    pub cached_bytes: u64,
    /// Bands cleaned: all that the persistent cache held of them was merged.
    pub bands_cleaned: u64,
    /// Bands written whole with sequential data, past the persistent cache.
    pub bands_streamed: u64,
    /// How often the map was written to the medium.
    pub map_flushes: u64,
}
