//! Numbers as fio reads them.

use disklab_units::Bytes;

/// How fio reads the units of sizes: its option `kb_base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum KbBase {
    /// `k`, `kB` mean 1024 bytes, and `KiB` means 1000: fio's default, kept for
    /// old scripts.
    #[default]
    Compatible,
    /// `k`, `kB` mean 1000 bytes, and `KiB` means 1024.
    Standard,
}

/// Reads a size; the error says what is wrong with it.
pub(super) fn size(text: &str, base: KbBase) -> Result<Bytes, String> {
    let text = text.trim();
    let shown: String = text.chars().take(60).collect();
    if text.ends_with('%') {
        return Err(format!(
            "'{shown}' is a share of a device, and disklab runs fio on files: give a size"
        ));
    }
    let number = || format!("'{shown}' is no size to fio; expected one such as '4k' or '1G'");
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => (hexadecimal, 16),
        None => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, unit) = digits.split_at(end);
    // fio takes a 'b' at the end of a hexadecimal number for a digit, too.
    let value = u64::from_str_radix(digits, radix).map_err(|_| number())?;
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (letter, binary) = match unit.strip_suffix('i') {
        Some(letter) => (letter, true),
        None => (unit, false),
    };
    let power = match letter {
        "" if !binary => return Ok(Bytes(value)),
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(number()),
    };
    if binary && base == KbBase::Compatible {
        let letter = letter.to_ascii_uppercase();
        return Err(format!(
            "fio takes '{letter}i' for a power of 1000, unless kb_base=1000 is set; write \
             '{value}{letter}', which is a power of 1024 to it"
        ));
    }
    let step: u64 = if binary || base == KbBase::Compatible { 1024 } else { 1000 };
    value.checked_mul(step.pow(power)).map(Bytes).ok_or_else(number)
}

/// The largest size in an option for blocks: `4k`, `4k,64k`, `1k-4k,8k`,
/// `4k/60:64k/40`.
pub(super) fn largest(text: &str, base: KbBase) -> Result<Bytes, String> {
    let sizes = text.split([',', '-', ':']).map(|part| part.split('/').next().unwrap_or_default());
    let sizes = sizes.filter(|part| !part.trim().is_empty());
    let sizes: Vec<Bytes> = sizes.map(|part| size(part, base)).collect::<Result<_, _>>()?;
    match sizes.into_iter().max() {
        Some(Bytes(0)) | None => {
            Err(format!("'{}' is no block size", text.chars().take(60).collect::<String>()))
        }
        Some(largest) => Ok(largest),
    }
}

/// Reads a time in seconds; a number alone means seconds.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let shown: String = text.chars().take(60).collect();
    let error = || format!("'{shown}' is no time to fio; expected one such as '60' or '10m'");
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let value: u64 = digits.parse().map_err(|_| error())?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "s" | "sec" => 1.0,
        "us" | "usec" => 1e-6,
        "ms" | "msec" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(error()),
    };
    let seconds = value as f64 * factor;
    if seconds <= 86_400_000.0 { Ok(seconds) } else { Err(error()) }
}

/// Reads a whole number of at least `least`.
pub(super) fn count(text: &str, least: u64) -> Result<u64, String> {
    let shown: String = text.chars().take(60).collect();
    let error = || format!("'{shown}': fio expects a whole number from {least}");
    match size(text, KbBase::Compatible) {
        Ok(Bytes(n)) if n >= least && n <= 1 << 50 => Ok(n),
        _ => Err(error()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_fios() {
        for (text, compatible, standard) in [
            ("4096", 4096, 4096),
            ("4k", 4096, 4000),
            ("4KB", 4096, 4000),
            ("1m", 1 << 20, 1_000_000),
            (" 2G ", 2 << 30, 2_000_000_000),
            ("0x10", 16, 16),
            ("0x10k", 16384, 16000),
        ] {
            assert_eq!(size(text, KbBase::Compatible), Ok(Bytes(compatible)), "{text}");
            assert_eq!(size(text, KbBase::Standard), Ok(Bytes(standard)), "{text}");
        }
        assert_eq!(size("4KiB", KbBase::Standard), Ok(Bytes(4096)));
        for (text, part) in [
            ("64MiB", "write '64M'"),
            ("50%", "share of a device"),
            ("", "no size"),
            ("1.5g", "no size"),
            ("4i", "no size"),
            ("4kk", "no size"),
            ("99999999999999999999", "no size"),
            ("99999999999p", "no size"),
            ("(2*1024)", "no size"),
            ("-1", "no size"),
        ] {
            let error = size(text, KbBase::Compatible).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_largest_block_counts() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4k,64k", 65536),
            ("1k-4k,8k-16k", 16384),
            ("4k/60:64k/40", 65536),
            ("512/10:4k/", 4096),
            (",8k", 8192),
        ] {
            assert_eq!(largest(text, KbBase::Compatible), Ok(Bytes(bytes)), "{text}");
        }
        assert!(largest("", KbBase::Compatible).is_err());
        assert!(largest("0", KbBase::Compatible).is_err());
    }

    #[test]
    fn times_are_fios() {
        for (text, expected) in [("60", 60.0), ("10m", 600.0), ("500ms", 0.5), ("2h", 7200.0)] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "1.5", "3 weeks", "99999999d"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", like in "[0-9xa-fkmgtpiKMGB%.,/:-]{0,24}") {
            for text in [text, like] {
                let _ = size(&text, KbBase::Compatible);
                let _ = size(&text, KbBase::Standard);
                let _ = largest(&text, KbBase::Compatible);
                let _ = seconds(&text);
                let _ = count(&text, 1);
            }
        }
    }
}
