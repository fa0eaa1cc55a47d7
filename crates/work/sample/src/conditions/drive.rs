//! What of a drive changes results and is not in [`crate::DriveState`]: where its
//! partitions begin, its link, its own memory, the room for a file that stands for it.

use serde::{Deserialize, Serialize};

use super::Link;

/// Evidence for audits about one drive of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DriveConditions {
    /// Its name in the study, or its device name.
    pub drive: String,
    /// Where its partitions begin, in bytes; that of the partition alone where the
    /// drive is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions_at: Vec<u64>,
    /// The size in bytes of the whole drive, where this one is a partition of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_bytes: Option<u64>,
    /// The rate at which it is connected, and could be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Size of its own memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// Size in bytes of the area that takes writes first: a shingled disk's cache, or
    /// an SSD's cells with one bit each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staging_bytes: Option<u64>,
    /// What a modelled drive's flush takes, ns, and the ends of what is plausible, if that is a
    /// figure of similar drives and not of its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_of_class_ns: Option<[u64; 3]>,
    /// Free and all bytes of the file system that holds the file behind a loop device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<(u64, u64)>,
}
