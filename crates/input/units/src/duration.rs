//! Durations as people write and read them.

use std::fmt;
use std::time::Duration;

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseDurationError(String);

impl fmt::Display for ParseDurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a duration; expected a number with a unit, such as '30s', '10m' or '2h'",
            self.0
        )
    }
}

impl std::error::Error for ParseDurationError {}

/// Reads `500ms`, `30`, `30s`, `10m`, `2h` (a bare number means seconds).
///
/// # Errors
/// Where the text is no number with one of these units, or is over 1000 days.
pub fn parse_duration(text: &str) -> Result<Duration, ParseDurationError> {
    let error = || ParseDurationError(text.chars().take(60).collect());
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let factor = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(error()),
    };
    let seconds = number.parse::<f64>().map_err(|_| error())? * factor;
    if seconds.is_finite() && (0.0..=86_400_000.0).contains(&seconds) {
        Ok(duration_of(seconds))
    } else {
        Err(error())
    }
}

/// Reads a time such as `850 ns`, `7 us`, `12.5 µs`, `8.5 ms` or `1 s`, in nanoseconds;
/// `None` where it is none, or over 11 days.
pub fn parse_nanoseconds(text: &str) -> Option<u64> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let factor = match unit.trim() {
        "ns" => 1.0,
        "µs" | "μs" | "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let nanoseconds = number.parse::<f64>().ok()? * factor;
    (0.0..=1e15).contains(&nanoseconds).then(|| nanoseconds.round() as u64)
}

/// For people: `3 h 05 min`, `4 min 10 s`, `12.3 s`, `450 ms`.
pub fn show_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => show_nanoseconds(duration.as_nanos() as f64),
        1..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} days {} h", seconds / 86400, seconds / 3600 % 24),
    }
}

/// Seconds as a duration: what is below 0 or no number as none, centuries of centuries as the
/// longest that there is.
pub fn duration_of(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

/// Seconds for people, as [`show_duration`] shows them.
pub fn show_seconds(seconds: f64) -> String {
    show_duration(duration_of(seconds))
}

/// A latency with three significant digits: `850 ns`, `12.5 µs`, `8.33 ms`, `1.2 s`.
pub fn show_nanoseconds(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        n if n < 999.5 => (n, "ns"),
        n if n < 999.5e3 => (n / 1e3, "µs"),
        n if n < 999.5e6 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{} {unit}", crate::significant(value, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_units() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("1.5 h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        for text in ["", "h", "3 weeks", "-1s", "1e400s", "9999999d"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_short_times() {
        assert_eq!(parse_nanoseconds("7 us"), Some(7_000));
        assert_eq!(parse_nanoseconds(" 12.5µs "), Some(12_500));
        assert_eq!(parse_nanoseconds("0 ns"), Some(0));
        for text in ["", "7", "us", "-1 us", "1 m", "1e400 s", "9999999999 s", "NaN s"] {
            assert_eq!(parse_nanoseconds(text), None, "{text}");
        }
    }

    #[test]
    fn every_number_of_seconds_is_shown() {
        for (seconds, shown) in [
            (250.0, "4 min 10 s"),
            (-1.0, "0 ns"),
            (f64::NAN, "0 ns"),
            (f64::NEG_INFINITY, "0 ns"),
            (1e20, "213503982334601 days 7 h"),
            (f64::INFINITY, "213503982334601 days 7 h"),
        ] {
            assert_eq!(show_seconds(seconds), shown);
        }
    }

    #[test]
    fn shows_sensible_precision() {
        assert_eq!(show_duration(Duration::from_secs(11_100)), "3 h 05 min");
        assert_eq!(show_duration(Duration::from_secs(250)), "4 min 10 s");
        assert_eq!(show_duration(Duration::from_millis(450)), "450 ms");
        assert_eq!(show_nanoseconds(8_333_333.0), "8.33 ms");
        assert_eq!(show_nanoseconds(12_500.0), "12.5 µs");
    }
}
