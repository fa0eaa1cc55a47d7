//! The drives of a cell.

use std::path::PathBuf;

use disklab_config::Node;
use disklab_units::Bytes;
use serde::{Deserialize, Serialize};

/// A drive below the stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrivePlan {
    /// Its name in the study.
    pub name: String,
    /// Its place among the study's drives, from 0.
    pub position: u32,
    /// Its capacity.
    pub size: Bytes,
    /// What it is.
    pub kind: DriveKind,
    /// What it is for, if not for data: the name of an input, such as `log`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// Where the bytes of a drive go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DriveKind {
    /// A sparse file of the cell's own, attached as a loop device.
    File,
    /// A disk of this machine, by its stable name.
    Disk(PathBuf),
    /// Into the memory of a model, in the lab.
    Model(DriveModelPlan),
}

/// The model that stands for a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveModelPlan {
    /// The id of a shipped model, or the name of the user's file.
    pub model: String,
    /// The text of the user's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Fields of it with other values, such as `cache.dirty-limit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, Node)>,
    /// The serial number that the guest sees.
    pub serial: String,
}
