//! The bus that the lab's drives share.

use std::fmt;
use std::str::FromStr;

use disklab_study::BusError;
use disklab_units::BytesPerSecond;

/// The word for no bus, where a study names one.
const NONE: &str = "none";

/// The bus that the lab's drives share, or that each has its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bus(pub Option<BytesPerSecond>);

impl FromStr for Bus {
    type Err = BusError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().eq_ignore_ascii_case(NONE) {
            return Ok(Self(None));
        }
        disklab_study::bus(text).map(|rate| Self(Some(rate)))
    }
}

impl fmt::Display for Bus {
    /// Such that it is read as the same again, to the byte.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str(NONE),
            Some(rate) => write!(f, "{} B/s", rate.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_bus_is_read_back() {
        for text in ["415 MB/s", "1.5 GiB/s", "none", "None", "123456789 B/s"] {
            let bus: Bus = text.parse().unwrap();
            assert_eq!(bus.to_string().parse(), Ok(bus), "{text}");
            assert_eq!(bus.0.is_none(), text.eq_ignore_ascii_case("none"));
        }
        for text in ["", "415", "3 Gb/s", "1 kB/s", "no"] {
            assert!(text.parse::<Bus>().is_err(), "{text}");
        }
    }
}
