//! The surroundings of a run or a cell: system, programs, drives.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Conditions, MountState};

/// The surroundings of a run or a cell. Absent values were not available.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// `uname -srvm`, such as `Linux 6.12.1 #1 SMP x86_64`.
    pub kernel: String,
    /// The distribution's name.
    pub distribution: Option<String>,
    /// The processor's name.
    pub processor: Option<String>,
    /// Processors online.
    pub processors: u32,
    /// Main memory in bytes.
    pub memory_bytes: u64,
    /// Whether a hypervisor is known to lie below.
    pub virtual_machine: Option<String>,
    /// Versions of the programs used.
    pub tools: Vec<Tool>,
    /// Mounts of the stack, as the kernel reports them.
    pub mounts: Vec<MountState>,
    /// Model, firmware and state of each.
    pub drives: Vec<DriveState>,
    /// 1-minute load average before and after the cell.
    pub load: Option<(f64, f64)>,
    /// Bytes that block devices outside the stack moved during the cell.
    pub background_bytes: Option<u64>,
    /// Whatever else was found, by name.
    pub extra: BTreeMap<String, String>,
    /// What held around a cell: evidence for audits. Runs of before had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// The kernel of the lab's guests, of a run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab_kernel: Option<LabKernelIdentity>,
}

/// What tells a kernel of the lab from another: two builds may share their release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabKernelIdentity {
    /// SHA-256 of its file, in hexadecimal.
    pub digest: String,
    /// Digest of its whole configuration, if it prints one.
    pub configuration: Option<String>,
    /// What it was built from (options and patches, source, compiler), if disklab built it.
    pub recipe: Option<String>,
}

impl fmt::Display for LabKernelIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.digest.get(..16).unwrap_or(&self.digest);
        write!(f, "SHA-256 {digest}")?;
        if let Some(configuration) = &self.configuration {
            write!(f, ", .config {configuration}")?;
        }
        match &self.recipe {
            Some(recipe) => write!(f, ", built from {recipe}"),
            None => f.write_str(", not built by disklab"),
        }
    }
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The program.
    pub name: String,
    /// What it says of its version, in one line.
    pub version: String,
}

/// A drive as the kernel and the drive itself describe it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveState {
    /// Its name in the study, or its device name.
    pub drive: String,
    /// Its device node.
    pub device: String,
    /// Model, where it tells one.
    pub model: Option<String>,
    /// Serial number, where it tells one.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Capacity in bytes.
    pub size_bytes: u64,
    /// Logical and physical sector size in bytes.
    pub sectors: Option<(u32, u32)>,
    /// Whether the kernel takes it for a rotating disk.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// `write back` or `write through`, as the kernel sees it.
    pub write_cache: Option<String>,
    /// World-wide name or another identifier that no two drives share.
    pub wwid: Option<String>,
    /// `host-aware` or `host-managed` where the kernel sees a zoned drive.
    pub zoned: Option<String>,
    /// Speed of its link as negotiated, such as `6.0 Gb/s`.
    pub link_speed: Option<String>,
    /// Bytes per second that its link carries, if the user named a model whose link is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_second: Option<f64>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// What SMART said, as `smartctl --json` gives it, cut to what matters.
    pub smart: Option<serde_json::Value>,
}
