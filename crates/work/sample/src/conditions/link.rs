//! How fast a drive's link is, and how fast it could be.

use serde::{Deserialize, Serialize};

/// The link of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// `SATA`, `PCIe` or `USB`.
    pub kind: String,
    /// As negotiated, in the link's own words, such as `3.0 Gbps` or `8.0 GT/s x2`.
    pub speed: String,
    /// Bytes per second that it can carry, after its line code.
    pub bytes_per_second: u64,
    /// The same of what both ends could do, where they tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes_per_second: Option<u64>,
}
