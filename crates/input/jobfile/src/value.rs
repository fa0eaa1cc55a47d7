//! Numbers as fio reads them (str_to_decimal and get_mult_time in parse.c).

use std::time::Duration;

use crate::error::NumberError;

/// How fio reads the units of sizes: its option `kb_base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum KbBase {
    /// `k`, `kB` mean 1024 bytes, and `KiB` means 1000: fio's default, kept for
    /// old scripts.
    #[default]
    Compatible,
    /// `k`, `kB` mean 1000 bytes, and `KiB` means 1024.
    Standard,
}

/// No file is larger: `off_t` is signed.
pub(crate) const LARGEST: u64 = i64::MAX as u64;

/// The first letters of what somebody wrote, for an error.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Reads a size in bytes, at most [`LARGEST`]; the error says what is wrong.
pub(crate) fn size(text: &str, base: KbBase) -> Result<u64, NumberError> {
    let text = text.trim();
    if text.ends_with('%') {
        return Err(NumberError::ShareOfDevice { found: shown(text) });
    }
    let number = || NumberError::Size { found: shown(text) };
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
        "" if !binary => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ if digits.is_empty() => return Err(number()),
        _ => return Err(NumberError::SizeUnit { found: shown(text) }),
    };
    if binary && base == KbBase::Compatible {
        let letter = letter.to_ascii_uppercase();
        return Err(NumberError::BinaryUnit { value, letter });
    }
    let step: u64 = if binary || base == KbBase::Compatible { 1024 } else { 1000 };
    let bytes = value.checked_mul(step.pow(power)).filter(|bytes| *bytes <= LARGEST);
    bytes.ok_or_else(|| NumberError::TooLarge { found: shown(text) })
}

/// The unit of a time that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    /// Microseconds: `thinktime`.
    Microseconds,
    /// Seconds: `runtime`.
    Seconds,
}

/// Reads a time of at most 1000 days.
pub(crate) fn time(text: &str, unit: TimeUnit) -> Result<Duration, NumberError> {
    let text = text.trim();
    let error = || NumberError::Time { found: shown(text) };
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, given) = text.split_at(end);
    let value: u64 = digits.parse().map_err(|_| error())?;
    let microseconds = match (given.trim().to_ascii_lowercase().as_str(), unit) {
        ("us" | "usec", _) | ("", TimeUnit::Microseconds) => 1,
        ("ms" | "msec", _) => 1000,
        ("s", _) | ("", TimeUnit::Seconds) => 1_000_000,
        ("m", _) => 60_000_000,
        ("h", _) => 3_600_000_000,
        ("d", _) => 86_400_000_000,
        // Seen with fio 3.33: `runtime=1sec` ends at once.
        ("sec" | "min", _) => {
            let unit = if given.trim().eq_ignore_ascii_case("sec") { 's' } else { 'm' };
            return Err(NumberError::TimeUnit { found: shown(text), value, unit });
        }
        _ => return Err(error()),
    };
    match value.checked_mul(microseconds) {
        Some(time) if time <= 86_400_000_000_000 => Ok(Duration::from_micros(time)),
        _ => Err(NumberError::TooLong { found: shown(text) }),
    }
}

/// Reads an integer from `least` to `most`, with units as sizes have them.
pub(crate) fn count(text: &str, least: u64, most: u64, base: KbBase) -> Result<u64, NumberError> {
    let found = || shown(text);
    match size(text, base) {
        Ok(n) if (least..=most).contains(&n) => Ok(n),
        _ if most >= LARGEST => Err(NumberError::IntegerFrom { least, found: found() }),
        // At most `LARGEST`, which an `i64` holds.
        _ => Err(NumberError::Integer { least: least as i64, most, found: found() }),
    }
}

/// Reads a finite number.
pub(crate) fn real(text: &str) -> Result<f64, NumberError> {
    match text.trim().parse::<f64>() {
        Ok(n) if n.is_finite() => Ok(n),
        _ => Err(NumberError::Real { found: shown(text) }),
    }
}

/// `1` or `0`.
pub(crate) fn flag(text: &str) -> Result<bool, NumberError> {
    match text.trim() {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => Err(NumberError::Flag { found: shown(text) }),
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
            ("4 k", 4096, 4000),
        ] {
            assert_eq!(size(text, KbBase::Compatible), Ok(compatible), "{text}");
            assert_eq!(size(text, KbBase::Standard), Ok(standard), "{text}");
        }
        assert_eq!(size("4KiB", KbBase::Standard), Ok(4096));
        use NumberError::{BinaryUnit, ShareOfDevice, Size, SizeUnit, TooLarge};
        let found = str::to_owned;
        for (text, error) in [
            ("64MiB", BinaryUnit { value: 64, letter: found("M") }),
            ("50%", ShareOfDevice { found: found("50%") }),
            ("", Size { found: found("") }),
            ("1.5g", SizeUnit { found: found("1.5g") }),
            ("4i", SizeUnit { found: found("4i") }),
            ("4kk", SizeUnit { found: found("4kk") }),
            ("99999999999999999999", Size { found: found("99999999999999999999") }),
            ("99999999999p", TooLarge { found: found("99999999999p") }),
            ("(2*1024)", Size { found: found("(2*1024)") }),
            ("-1", Size { found: found("-1") }),
        ] {
            assert_eq!(size(text, KbBase::Compatible), Err(error), "{text}");
        }
    }

    #[test]
    fn times_are_fios() {
        for (text, milliseconds) in
            [("60", 60_000), ("10m", 600_000), ("500ms", 500), ("2H", 7_200_000), ("7000us", 7)]
        {
            let expected = Ok(Duration::from_millis(milliseconds));
            assert_eq!(time(text, TimeUnit::Seconds), expected, "{text}");
        }
        assert_eq!(time("5", TimeUnit::Microseconds), Ok(Duration::from_micros(5)));
        for text in ["", "1.5", "3 weeks", "99999999d", "5min", "99999999999999999999"] {
            assert!(time(text, TimeUnit::Seconds).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_say_what_to_write() {
        let error = |text| size(text, KbBase::Compatible).expect_err(text).to_string();
        assert_eq!(
            error("4kk"),
            "invalid size '4kk': expected an integer with an optional unit, such as '4k' or '1G' \
             (fio would ignore what follows the number)"
        );
        assert!(error("64MiB").contains("write '64M'"));
        let error = time("5min", TimeUnit::Seconds).expect_err("a unit of old");
        assert_eq!(error.to_string(), "fio 3.33 takes '5min' for microseconds; write '5m'");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", like in "[0-9xa-fkmgtpiKMGB%.,/:-]{0,24}") {
            for text in [text, like] {
                for base in [KbBase::Compatible, KbBase::Standard] {
                    if let Ok(bytes) = size(&text, base) {
                        prop_assert!(bytes <= LARGEST);
                    }
                    let _ = count(&text, 1, LARGEST, base);
                }
                let _ = time(&text, TimeUnit::Seconds);
                let _ = real(&text);
                let _ = flag(&text);
            }
        }
    }
}
