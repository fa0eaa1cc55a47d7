//! Rates: throughput and operations per second.

use serde::{Deserialize, Serialize};

use crate::significant;

/// Throughput in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

impl BytesPerSecond {
    /// In SI units with three significant digits, such as `113 MB/s`.
    pub fn si(self) -> String {
        self.scaled(1000.0, &["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])
    }

    /// In IEC units with three significant digits, such as `108 MiB/s`.
    pub fn iec(self) -> String {
        self.scaled(1024.0, &["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"])
    }

    fn scaled(self, base: f64, names: &[&str]) -> String {
        let mut value = self.0;
        let mut unit = 0;
        while unit + 1 < names.len() && value.abs() >= base - 0.5 {
            value /= base;
            unit += 1;
        }
        format!("{} {}", significant(value, 3), names[unit])
    }
}

/// Input/output operations per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Iops(pub f64);

impl Iops {
    /// With three significant digits, such as `123 IOPS`.
    pub fn show(self) -> String {
        format!("{} IOPS", significant(self.0, 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_its_family() {
        let rate = BytesPerSecond(113_000_000.0);
        assert_eq!(rate.si(), "113 MB/s");
        assert_eq!(rate.iec(), "108 MiB/s");
        assert_eq!(BytesPerSecond(999_900.0).si(), "1.00 MB/s");
        assert_eq!(Iops(188.4).show(), "188 IOPS");
    }
}
