//! What a study says of the lab: the table `[lab]`.

use std::fmt;
use std::ops::RangeInclusive;

use disklab_units::{Bytes, BytesPerSecond, ParseRateError, parse_duration};

use crate::StackSpec;
use crate::machine::{MACHINES, MachineProfile};
use disklab_config::{Fields, Node};
use disklab_source::SourceError;

/// The slowest bus: drives behind a slower one would wait for minutes, which a kernel
/// takes for a fault.
pub const SLOWEST_BUS: BytesPerSecond = BytesPerSecond(1e6);

/// The key, and the axis, that has drives be SCSI disks, whose commands the kernel gives up after
/// this time.
pub const SCSI_TIMEOUT: &str = "scsi-timeout";
/// Seconds that it can be.
pub const SCSI_TIMEOUTS: RangeInclusive<u64> = 1..=86_400;

/// What the lab is like that a study was made in.
#[derive(Debug)]
pub(crate) struct LabTable {
    /// The machine whose settings its guests have.
    pub machine: &'static MachineProfile,
    /// Memory of a guest.
    pub memory: Option<Bytes>,
    /// The bus that its drives share.
    pub bus: Option<BytesPerSecond>,
    /// Seconds after which the kernel gives up a command, if its drives are SCSI disks.
    pub scsi_timeout: Option<u64>,
    /// The host below the guest, a table.
    pub host: Option<Node>,
}

impl Default for LabTable {
    fn default() -> Self {
        Self {
            machine: MachineProfile::standard(),
            memory: None,
            bus: None,
            scsi_timeout: None,
            host: None,
        }
    }
}

/// Reads the table, where it is there.
///
/// # Errors
/// Where a field is unknown or wrong.
pub(crate) fn lab(fields: &mut Fields<'_>) -> Result<LabTable, SourceError> {
    let Some(node) = fields.take("lab") else { return Ok(LabTable::default()) };
    let mut fields = Fields::new(node, "'lab'")?;
    let machines = MACHINES.each_ref().map(|machine| (machine.name, machine));
    let machine = fields.choice("machine", &machines)?.unwrap_or_else(MachineProfile::standard);
    let memory = fields.bytes("memory")?;
    let place = fields.take("bus");
    let bus =
        place.map(|node| bus(&node.as_text()?).map_err(|why| node.error(format!("`bus`: {why}"))));
    let bus = bus.transpose()?;
    let timeout = fields.take(SCSI_TIMEOUT).map(|node| {
        let wrong = |why| node.error(format!("`{SCSI_TIMEOUT}`: {why}"));
        scsi_timeout(&node.as_text()?).map_err(wrong)
    });
    let scsi_timeout = timeout.transpose()?.flatten();
    let host = fields.take("host").cloned();
    fields.finish()?;
    Ok(LabTable { machine, memory, bus, scsi_timeout, host })
}

impl LabTable {
    /// # Errors
    /// Where a stack has a host's cache mode, and there is no host.
    pub fn check(&self, stacks: &[StackSpec]) -> Result<(), SourceError> {
        match stacks.iter().find(|stack| stack.host_cache.is_some() && self.host.is_none()) {
            None => Ok(()),
            Some(stack) => Err(stack.place.error(format!(
                "`host-cache` of '{}' needs a host: expected a table [lab.host] in the study",
                stack.id
            ))),
        }
    }
}

/// The rate of a bus that all drives share, such as `415 MB/s`: 1 MB/s at least.
///
/// # Errors
/// [`BusError`] if it is not a rate, or below the slowest that is modelled.
pub fn bus(text: &str) -> Result<BytesPerSecond, BusError> {
    let rate: BytesPerSecond = text.parse().map_err(BusError::Rate)?;
    if rate.0 < SLOWEST_BUS.0 {
        return Err(BusError::TooSlow(text.to_owned()));
    }
    Ok(rate)
}

/// The time after which the kernel gives up a command of a SCSI disk, such as `30 s`, in seconds;
/// nothing for `none`: the drives are no SCSI disks.
///
/// # Errors
/// What was expected, if it is no time, or none that Linux takes.
pub fn scsi_timeout(text: &str) -> Result<Option<u64>, String> {
    if text.trim() == "none" {
        return Ok(None);
    }
    let time = parse_duration(text).map_err(|why| why.to_string())?;
    if time.subsec_nanos() != 0 || !SCSI_TIMEOUTS.contains(&time.as_secs()) {
        return Err(format!("expected whole seconds, up to a day, or none, found '{text}'"));
    }
    Ok(Some(time.as_secs()))
}

/// Why a text is no rate of a bus.
#[derive(Debug, Clone, PartialEq)]
pub enum BusError {
    /// It is no rate.
    Rate(ParseRateError),
    /// It is slower than any.
    TooSlow(String),
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(error) => error.fmt(f),
            Self::TooSlow(text) => {
                write!(f, "'{text}' is too slow for a bus; use 1 MB/s or more")
            }
        }
    }
}

impl std::error::Error for BusError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use disklab_config::Node;

    fn read(text: &str) -> Result<LabTable, String> {
        let source = disklab_source::Source { name: "s.toml".to_owned(), text: text.to_owned() };
        let root = Node::parse(&std::sync::Arc::new(source)).map_err(|e| e.to_string())?;
        let mut fields = Fields::new(&root, "the study").map_err(|e| e.to_string())?;
        lab(&mut fields).map_err(|e| e.to_string())
    }

    #[test]
    fn memory_and_bus_are_read() {
        let lab = read("[lab]\nmemory = '4 GiB'\nbus = '415 MB/s'").unwrap();
        assert_eq!((lab.memory, lab.bus), (Some(Bytes::gib(4)), Some(BytesPerSecond(415e6))));
        assert!(read("").unwrap().bus.is_none());
    }

    #[test]
    fn a_machine_is_named_or_the_default() {
        assert_eq!(read("[lab]\nmachine = 'debian-12'").unwrap().machine.name, "debian-12");
        for text in ["", "[lab]", "[lab]\nmemory = '4 GiB'"] {
            assert_eq!(read(text).unwrap().machine.name, "debian-13", "{text}");
        }
        let error = read("[lab]\nmachine = 'debian12'").unwrap_err();
        for words in ["s.toml:2:11", "did you mean 'debian-12'"] {
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn an_invalid_bus_is_reported_with_its_location() {
        for (text, expected) in [
            ("[lab]\nbus = '415'", "s.toml:2:7"),
            ("[lab]\nbus = '415 Mb/s'", "such as '415 MB/s'"),
            ("[lab]\nbus = '999 kB/s'", "1 MB/s or more"),
            ("[lab]\nbuss = '415 MB/s'", "did you mean 'bus'"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_timeout_is_whole_seconds() {
        assert_eq!(read("[lab]\nscsi-timeout = '3 min'").unwrap().scsi_timeout, Some(180));
        assert_eq!(read("[lab]\nscsi-timeout = 'none'").unwrap().scsi_timeout, None);
        for text in ["0 s", "500 ms", "2 d", "soon", ""] {
            let error = read(&format!("[lab]\nscsi-timeout = '{text}'")).unwrap_err();
            assert!(error.contains("s.toml:2:16"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_rate_panics(text in ".{0,20}|[0-9.]{1,30} ?[kMGTPE]?i?B/s") {
            if let Ok(rate) = bus(&text) {
                prop_assert!(rate.0 >= 1e6 && rate.0.is_finite());
            }
        }
    }
}
