//! Evidence for audits: what held around a cell's workload and may have set its
//! figures instead of the drives. One kind of evidence is one file.

mod array;
mod clock;
mod drive;
mod lazy_init;
mod link;
mod memory;
mod pool;
mod power;
mod space;

use serde::{Deserialize, Serialize};

pub use array::ArrayState;
pub use clock::Clock;
pub use drive::DriveConditions;
pub use lazy_init::{OTHER_LAZY_INIT, OWN_LAZY_INIT, UNKNOWN_LAZY_INIT};
pub use link::Link;
pub use memory::MemoryActivity;
pub use pool::{ArcActivity, Pool};
pub use power::Power;
pub use space::{FileData, Space};

/// What held around a cell's workload, its preparation included. What is absent was
/// not available: it says nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// The kernel's release, such as `6.12.1-amd64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The clock, and whether it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Swapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryActivity>,
    /// Frequency, throttling, battery.
    #[serde(skip_serializing_if = "Power::is_unknown")]
    pub power: Power,
    /// Whether the processor has instructions for AES.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aes: Option<bool>,
    /// Limits of disklab's own control group, such as `io.max 8:0 rbps=1048576`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Background maintenance that ran as the workload started or when it had ended, such as
    /// `resync of md0`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
    /// Arrays over the drives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<ArrayState>,
    /// What lies between the directory and the drives and changes what is measured:
    /// `encryption`, `snapshot`, `network (nfs4)`, `memory (tmpfs)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beneath: Vec<String>,
    /// The file system's space, and what is in the workload's files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<Space>,
    /// The version of ZFS's module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zfs: Option<String>,
    /// ZFS pools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<Pool>,
    /// ZFS's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arc: Option<ArcActivity>,
    /// The drives, beyond [`crate::DriveState`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<DriveConditions>,
}
