//! What figures of a directory are compared with, and what the directory lies on.

use serde::{Deserialize, Serialize};

/// What figures of a directory are compared with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// What the directory lies on, in words: 'ext4 on RAID 5 of 4 drives'.
    pub lies_on: String,
    /// The share, if its files are on another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<NetworkShare>,
    /// What the lab gives for it, or why that is not known.
    pub lab: LabOutcome,
}

/// What the lab gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabOutcome {
    /// Figures of the same stack.
    Figures(LabReference),
    /// Why there are none.
    Unknown(String),
}

/// What the lab gives for the same stack.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LabReference {
    /// Layers, bottom-up.
    pub stack: String,
    /// The models of the drives, in words.
    pub drives: String,
    /// Drives that are not among disklab's models, for which one of their class stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_class: Vec<String>,
    /// One for each figure of the study's questions.
    pub figures: Vec<ReferenceFigure>,
}

/// A figure as the lab gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceFigure {
    /// The question that it answers.
    pub ask: String,
    /// Which of the question's figures it is; empty if there is one only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub figure: String,
    /// In the unit of the question's measure.
    pub value: f64,
}

/// A share that is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkShare {
    /// What people call its protocol: SMB, NFS.
    pub protocol: String,
    /// The server, as the mount names it.
    pub server: String,
    /// The port of this machine that leads to it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<NetworkLink>,
    /// Nanoseconds that the server takes for a request that needs no drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<u64>,
}

/// A port of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkLink {
    /// Its name, such as `eth0`.
    pub name: String,
    /// Megabits per second, if it has one speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub megabits: Option<u64>,
    /// Whether it is a radio.
    pub is_wireless: bool,
}

impl Default for LabOutcome {
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}
