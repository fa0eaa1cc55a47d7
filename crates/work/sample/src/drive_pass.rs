//! How fast what passes over whole drives is: a rebuild of one, or a scrub of all.

use serde::{Deserialize, Serialize};

/// From this share of the kernel's limit on, a pass is held to it: the kernel looks at its own rate
/// twice a second.
const AT_LIMIT: f64 = 0.97;

/// The same if no drive had work half of the time: the window may end with what the kernel wrote in a
/// burst, and the drive's memory is then emptied.
const AT_LIMIT_IF_IDLE: f64 = 0.9;
const HAS_WORK: f64 = 0.5;

/// A rebuild of a drive or a scrub of all, measured at places of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DrivePass {
    /// The name of the drive that is rebuilt; empty for a scrub.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub drive: String,
    /// Where it was measured, in the order in which it would pass.
    pub windows: Vec<PassWindow>,
}

/// A pass, measured for a while.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PassWindow {
    /// Bytes that it passes as fast as those of the window.
    pub stands_for: u64,
    /// Where it began, in bytes of the member or array.
    pub at: u64,
    /// Bytes passed in it.
    pub bytes: u64,
    /// Nanoseconds that this took.
    pub elapsed_ns: u64,
    /// Bytes per second to which the kernel holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// What share of the time each drive had work, 0 to 1, by the drives of the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy: Vec<f64>,
}

impl PassWindow {
    /// Bytes per second in it.
    fn measured(&self) -> f64 {
        self.bytes as f64 * 1e9 / (self.elapsed_ns.max(1) as f64)
    }

    /// Whether the kernel's limit is what holds it back.
    pub fn is_at_limit(&self) -> bool {
        let is_idle = self.busy.iter().all(|busy| *busy < HAS_WORK);
        let least = if is_idle { AT_LIMIT_IF_IDLE } else { AT_LIMIT };
        self.limit.is_some_and(|limit| self.measured() >= limit * least)
    }

    /// Bytes per second in the long run. The kernel lets one go faster than its limit at
    /// first, and measures over half a minute: a window may be over before it holds the pass back.
    pub fn rate(&self) -> f64 {
        self.limit.filter(|_| self.is_at_limit()).unwrap_or_else(|| self.measured())
    }
}

impl DrivePass {
    /// All bytes that the windows stand for.
    pub fn bytes(&self) -> u64 {
        self.windows.iter().fold(0, |sum, window| sum.saturating_add(window.stands_for))
    }

    /// Seconds until all is passed; infinite if a window saw nothing passed.
    pub fn seconds(&self) -> f64 {
        self.windows.iter().map(|window| window.stands_for as f64 / window.rate()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_takes_what_its_parts_take() {
        let window = |stands_for, bytes, limit| PassWindow {
            stands_for,
            bytes,
            limit,
            elapsed_ns: 2_000_000_000,
            ..PassWindow::default()
        };
        let windows =
            vec![window(1000, 400, None), window(1000, 400, Some(50.0)), window(500, 200, None)];
        let mut pass = DrivePass { drive: "a".to_owned(), windows };
        assert_eq!((pass.bytes(), pass.seconds()), (2500, 5.0 + 20.0 + 5.0));
        pass.windows.push(window(1, 0, None));
        assert_eq!(pass.seconds(), f64::INFINITY);
    }
}
