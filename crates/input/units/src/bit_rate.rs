//! Bit rates, as of videos and links.

use std::fmt;
use std::str::FromStr;

use crate::significant;

/// A rate of a link, which vendors give in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitsPerSecond(pub u64);

/// Why a text is no bit rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseBitRateError(String);

impl fmt::Display for ParseBitRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a bit rate; expected a number with a unit, such as '25 Mb/s' or \
             '25 Mbit/s' (a million bits) or '3 MB/s' (a million bytes)",
            self.0
        )
    }
}

impl std::error::Error for ParseBitRateError {}

/// Prefixes and what they multiply by; those of powers of 1024 go with bytes only.
const PREFIXES: [(&str, f64); 9] = [
    ("", 1.0),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
];

/// What may follow a prefix, and how many bits it means. The case tells bits
/// from bytes.
const ENDINGS: [(&str, f64); 6] =
    [("bit/s", 1.0), ("bits/s", 1.0), ("bps", 1.0), ("b/s", 1.0), ("byte/s", 8.0), ("B/s", 8.0)];

impl FromStr for BitsPerSecond {
    type Err = ParseBitRateError;

    /// Reads `25 Mb/s`, `25Mbit/s`, `800 kbps`, `3 MB/s`, `3 MiB/s`: at least one bit,
    /// at most a tebibyte per second. A number without a unit is refused, since bits
    /// and bytes are too easily confused.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseBitRateError(text.chars().take(60).collect());
        let trimmed = text.trim();
        let split =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let unit = unit.trim_start();
        let (prefix, bits) = ENDINGS
            .iter()
            .find_map(|(ending, bits)| Some((unit.strip_suffix(ending)?, *bits)))
            .ok_or_else(error)?;
        let (name, factor) = PREFIXES.iter().find(|(p, _)| *p == prefix).ok_or_else(error)?;
        if name.ends_with('i') && bits == 1.0 {
            return Err(error());
        }
        let rate = number.parse::<f64>().map_err(|_| error())? * factor * bits;
        let rate = rate.round();
        if (1.0..=8.0 * 1_099_511_627_776.0).contains(&rate) {
            Ok(Self(rate as u64))
        } else {
            Err(error())
        }
    }
}

impl BitsPerSecond {
    /// With its unit, such as `25 Mb/s`.
    pub fn show(self) -> String {
        let (value, unit) = match self.0 as f64 {
            n if n < 1e3 => (n, "b/s"),
            n if n < 1e6 => (n / 1e3, "kb/s"),
            n if n < 1e9 => (n / 1e6, "Mb/s"),
            n => (n / 1e9, "Gb/s"),
        };
        let text = significant(value, 3);
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        format!("{text} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bits(text: &str) -> Option<u64> {
        text.parse::<BitsPerSecond>().ok().map(|rate| rate.0)
    }

    #[test]
    fn bits_and_bytes_are_distinguished() {
        for (text, expected) in [
            ("25 Mb/s", 25_000_000),
            ("25Mbit/s", 25_000_000),
            ("25 Mbits/s", 25_000_000),
            ("25 Mbps", 25_000_000),
            ("1.5 MB/s", 12_000_000),
            ("1 MiB/s", 8_388_608),
            ("800 kb/s", 800_000),
            (" 1 Gb/s ", 1_000_000_000),
            ("9600 b/s", 9600),
        ] {
            assert_eq!(bits(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn ambiguous_rates_are_refused() {
        for text in [
            "",
            "25",
            "25 M",
            "Mb/s",
            "25 mb/s",
            "1 Mib/s",
            "0 Mb/s",
            "-1 Mb/s",
            "1e9 b/s",
            "9999 TB/s",
            "25 Mb",
            "1.2.3 Mb/s",
            "µ",
        ] {
            assert_eq!(bits(text), None, "{text}");
        }
    }

    #[test]
    fn rates_are_shown_in_bits() {
        for (rate, text) in [
            (25_000_000, "25 Mb/s"),
            (1_500_000, "1.5 Mb/s"),
            (8_388_608, "8.39 Mb/s"),
            (950, "950 b/s"),
            (2_000_000_000, "2 Gb/s"),
        ] {
            assert_eq!(BitsPerSecond(rate).show(), text);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", number in "[0-9.]{0,40}", unit in "[kKMGTi]{0,2}(b|B|bit|bits)?(/s|ps)?") {
            let _ = bits(&text);
            if let Some(rate) = bits(&format!("{number} {unit}")) {
                prop_assert!(rate >= 1 && unit.ends_with('s'));
            }
        }

        #[test]
        fn shown_rates_are_read_back(rate in 1_u64..8 << 40) {
            let back = bits(&BitsPerSecond(rate).show()).expect("a rate") as f64;
            prop_assert!((back / rate as f64 - 1.0).abs() < 0.006);
        }
    }
}
