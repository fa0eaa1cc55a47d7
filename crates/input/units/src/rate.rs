//! Rates: throughput and operations per second.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Bytes, significant};

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

/// Why a text is no throughput.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseRateError(String);

impl fmt::Display for ParseRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid rate '{}': expected a size per second, such as '415 MB/s'", self.0)
    }
}

impl std::error::Error for ParseRateError {}

impl FromStr for BytesPerSecond {
    type Err = ParseRateError;

    /// Reads a size and `/s`, such as `415 MB/s` or `1.5GiB/s`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let size = text.trim().strip_suffix("/s").and_then(|size| size.trim().parse().ok());
        let error = || ParseRateError(text.chars().take(60).collect());
        size.map(|Bytes(size)| Self(size as f64)).ok_or_else(error)
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

    #[test]
    fn rates_are_read() {
        for (text, rate) in [("415 MB/s", 415e6), (" 1.5GiB/s ", 1_610_612_736.0), ("0 B/s", 0.0)] {
            assert_eq!(text.parse(), Ok(BytesPerSecond(rate)), "{text}");
        }
        for text in ["", "/s", "415", "415 MB", "415 Mb/s", "-1 MB/s", "4 MB/s/s", "MB/s"] {
            let error = text.parse::<BytesPerSecond>().unwrap_err().to_string();
            assert!(error.contains("such as '415 MB/s'"), "{text}: {error}");
        }
    }
}
