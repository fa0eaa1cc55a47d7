//! A number of bytes, read from and shown in SI or IEC units.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const IEC: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const SI: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

impl Bytes {
    /// No bytes at all.
    pub const ZERO: Self = Self(0);

    /// `n` KiB.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// `n` GiB.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// In IEC units with at most three significant digits, such as `1.46 GiB`.
    pub fn iec(self) -> String {
        scaled(self.0, 1024.0, &IEC)
    }

    /// In SI units with at most three significant digits, such as `10 TB`.
    pub fn si(self) -> String {
        scaled(self.0, 1000.0, &SI)
    }

    /// The short form that fio and dd read (`4k`, `1m`, `512`), exact.
    ///
    /// A bare letter means a power of 1024 to both programs as disklab calls
    /// them (fio with its default `kb_base=1024`).
    pub fn short(self) -> String {
        let mut n = self.0;
        let mut unit = "";
        for next in ["k", "m", "g", "t"] {
            if n == 0 || !n.is_multiple_of(1024) {
                break;
            }
            n /= 1024;
            unit = next;
        }
        format!("{n}{unit}")
    }

    /// This size times `factor`, rounded to a multiple of `step`, and never
    /// less than one `step`. A `step` of 0 counts as 1.
    pub fn scaled(self, factor: f64, step: Self) -> Self {
        let step = step.0.max(1);
        let steps = (self.0 as f64 * factor / step as f64).round().max(1.0);
        Self((steps as u64).saturating_mul(step))
    }

    /// Rounded up to a multiple of `step`; a `step` of 0 counts as 1.
    pub fn round_up(self, step: Self) -> Self {
        let step = step.0.max(1);
        Self(self.0.div_ceil(step).saturating_mul(step))
    }

    /// Rounded down to a multiple of `step`; a `step` of 0 counts as 1.
    pub fn round_down(self, step: Self) -> Self {
        let step = step.0.max(1);
        Self(self.0 / step * step)
    }

    /// The difference, or nothing where `other` is larger.
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The product, capped at the largest number.
    pub fn saturating_mul(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

fn scaled(bytes: u64, base: f64, names: &[&str; 7]) -> String {
    let mut value = bytes as f64;
    let mut unit = 0;
    // 999.5 and above would be shown as '1000'.
    while unit + 1 < names.len() && value >= base - 0.5 {
        value /= base;
        unit += 1;
    }
    let digits = match (unit, value) {
        (0, _) => 0,
        (_, v) if v >= 100.0 => 0,
        (_, v) if v >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {}", names[unit])
}

/// Why a text is not a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseBytesError(String);

impl fmt::Display for ParseBytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a size; expected a number with a unit, such as '4 KiB', '10 GB' or '128k' \
             (a letter alone means a power of 1024)",
            self.0
        )
    }
}

impl std::error::Error for ParseBytesError {}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    /// Reads `4096`, `4k`, `4 KiB`, `1.5 GB`. A bare letter means a power of
    /// 1024, as in fio and dd; `kB`, `MB` … mean powers of 1000.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseBytesError(text.chars().take(60).collect());
        let trimmed = text.trim();
        let split =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let unit = unit.trim();
        let factor: u64 = match unit {
            "" | "B" | "b" => 1,
            _ => {
                let mut letters = unit.chars();
                let power = match letters.next().map(|c| c.to_ascii_lowercase()) {
                    Some('k') => 1,
                    Some('m') => 2,
                    Some('g') => 3,
                    Some('t') => 4,
                    Some('p') => 5,
                    _ => return Err(error()),
                };
                match letters.as_str() {
                    "" | "i" | "iB" => 1024_u64.pow(power),
                    "B" => 1000_u64.pow(power),
                    _ => return Err(error()),
                }
            }
        };
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(factor).map(Self).ok_or_else(error);
        }
        let value: f64 = number.parse().map_err(|_| error())?;
        let bytes = value * factor as f64;
        if bytes.is_finite() && bytes >= 0.0 && bytes < u64::MAX as f64 {
            Ok(Self(bytes.round() as u64))
        } else {
            Err(error())
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.iec())
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_both_families() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("4k", 4096),
            ("4 KiB", 4096),
            ("4 kB", 4000),
            ("1M", 1 << 20),
            ("1.5 GiB", 3 << 29),
            ("10 TB", 10_000_000_000_000),
            ("128 MiB", 128 << 20),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn refuses_invalid_sizes() {
        for text in ["", "k", "-1", "4 furlongs", "1e9", "99999999 PB", "4 kiBs", "1..5k"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn shows_both_families() {
        assert_eq!(Bytes(10_000_000_000_000).si(), "10 TB");
        assert_eq!(Bytes(10_000_000_000_000).iec(), "9.09 TiB");
        assert_eq!(Bytes(999_950).si(), "1 MB");
        assert_eq!(Bytes(1023).iec(), "1023 B");
        assert_eq!(Bytes::gib(5).short(), "5g");
        assert_eq!(Bytes(4000).short(), "4000");
    }

    #[test]
    fn scales_to_whole_steps() {
        assert_eq!(Bytes::gib(1).scaled(1.0 / 3.0, Bytes::mib(1)), Bytes::mib(341));
        assert_eq!(Bytes::mib(1).scaled(0.0001, Bytes::kib(4)), Bytes::kib(4));
    }

    proptest! {
        #[test]
        fn short_form_reads_back(n in 0_u64..=u64::MAX / 2) {
            prop_assert_eq!(Bytes(n).short().parse(), Ok(Bytes(n)));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = text.parse::<Bytes>();
        }
    }
}
