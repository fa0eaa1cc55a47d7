//! The machine on which a cell runs.

use std::path::PathBuf;
use std::time::Duration;

use disklab_config::Node;
use disklab_units::Bytes;
use serde::{Deserialize, Serialize};

/// Where a cell runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum MachinePlan {
    /// A guest of the lab, on modelled drives.
    Lab(Box<LabPlan>),
    /// This machine, on loop devices.
    Loop,
    /// This machine, on disks that are erased.
    Disks,
    /// This machine, in a directory as it is.
    Directory(PathBuf),
}

/// A guest of the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabPlan {
    /// The machine whose settings it has, such as `debian-13`.
    pub machine: String,
    /// Memory, the page cache included.
    pub memory: Bytes,
    /// Which of the lab's kernels, if it is not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linux: Option<String>,
    /// The parts that the lab's own kernel has for it: configuration options.
    pub parts: Vec<String>,
    /// The processor whose work is charged; work is free if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Node>,
    /// Bytes per second of the bus that all drives share; each has its own if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<u64>,
    /// Seconds after which the kernel gives up a command of a drive; drives are SCSI disks then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scsi_timeout: Option<u64>,
    /// The host between the guest and its drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostPlan>,
    /// Virtual time after which it is stopped.
    pub limit: Duration,
}

impl LabPlan {
    /// With less memory, programs such as mkfs.xfs are killed.
    pub const LEAST_MEMORY: Bytes = Bytes::mib(128);
}

/// A host below a guest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostPlan {
    /// Its table in the study.
    pub table: Node,
    /// The cache mode of the virtual disks, if it is another than the table's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<String>,
}
