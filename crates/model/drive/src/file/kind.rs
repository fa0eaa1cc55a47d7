//! The kinds of drives.

use crate::{hdd, smr, ssd};

/// The kinds of drives that are modelled.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A hard disk with conventional recording.
    Hdd(hdd::Parameters),
    /// A hard disk with shingled recording, managed by the drive.
    Smr(smr::Parameters),
    /// A solid-state drive.
    Ssd(ssd::Parameters),
}

impl Kind {
    /// What such a drive is called.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Hdd(_) => "hard disk",
            Self::Smr(_) => "shingled hard disk",
            Self::Ssd(_) => "solid-state drive",
        }
    }
}
