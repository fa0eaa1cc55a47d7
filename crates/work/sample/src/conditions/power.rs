//! How the machine was powered and cooled.

use serde::{Deserialize, Serialize};

/// How the machine was powered and cooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Power {
    /// How often processors were slowed down for their heat meanwhile, all of them
    /// together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
    /// Whether it ran on a battery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_battery: Option<bool>,
}

impl Power {
    /// Whether nothing was available.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}
