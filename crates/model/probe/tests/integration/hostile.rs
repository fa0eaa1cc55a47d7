//! Whatever a device answers, and whatever it is called: no panic, no endless probe, no file
//! that says something else.

use std::collections::VecDeque;

use disklab_drive::{Operation, SHIPPED, load, shipped};
use disklab_probe::{
    DISK_LOADS, Description, DriveAccess, FIELDS, FLASH_LOADS, Findings, ProbeError, ProbedValue,
    Siblings, TimedAccess, TimedDrive, Unsuitable, Unwatched, drive_file, probe_flash_writes,
    probe_hard_disk, probe_solid_state, run_load,
};
use proptest::prelude::*;

/// Requests after which a device fails: a probe of nonsense must end.
const MOST: u64 = 60_000;
/// The same for one that writes a file of a few GiB.
const MOST_WRITES: u64 = 300_000;

/// A device whose times follow no drive.
#[derive(Debug, Clone)]
struct Nonsense {
    bytes: u64,
    times: Vec<u64>,
    depth: Option<u64>,
    has_data: bool,
    now: u64,
    most: u64,
    requests: u64,
    in_flight: VecDeque<(DriveAccess, u64)>,
}

impl TimedDrive for Nonsense {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn submit(&mut self, access: DriveAccess) -> Result<(), ProbeError> {
        let flushes = access.operation == Operation::Flush;
        let is_within = access.offset + access.bytes <= self.bytes;
        assert!(flushes || (access.bytes > 0 && is_within), "{access:?}");
        self.requests += 1;
        if self.requests > self.most {
            let source = std::io::Error::from_raw_os_error(5);
            return Err(ProbeError::Failed { what: "a read", offset: access.offset, source });
        }
        self.in_flight.push_back((access, self.now));
        Ok(())
    }

    fn complete(&mut self) -> Result<TimedAccess, ProbeError> {
        let (access, submitted) = self.in_flight.pop_front().ok_or(Unsuitable::Idle)?;
        self.now += self.times[self.requests as usize % self.times.len()];
        Ok(TimedAccess { access, submitted, completed: self.now })
    }

    fn idle(&mut self, time: u64) -> Result<(), ProbeError> {
        self.now = self.now.saturating_add(time.min(1 << 40));
        Ok(())
    }

    fn queue_depth(&self) -> Option<u64> {
        self.depth
    }

    fn has_data(&mut self, _offset: u64, _bytes: u64) -> Result<bool, ProbeError> {
        Ok(self.has_data)
    }
}

fn nonsense() -> impl Strategy<Value = Nonsense> {
    let time = prop_oneof![
        2 => Just(0_u64),
        4 => 1..100_000_u64,
        4 => 1..20_000_000_u64,
        1 => 1..10_000_000_000_u64,
    ];
    // From a disk that is too small to one that is too large.
    let bytes = prop_oneof![1 => 0..64_u64, 4 => 1..1_000_000_000_u64].prop_map(|n| n * 4096);
    let depth = prop::option::of(0..2000_u64);
    (bytes, prop::collection::vec(time, 1..40), depth, any::<bool>()).prop_map(
        |(bytes, times, depth, has_data)| Nonsense {
            bytes,
            times,
            depth,
            has_data,
            now: 0,
            most: MOST,
            requests: 0,
            in_flight: VecDeque::new(),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_probe_of_nonsense_ends_and_what_it_writes_can_be_read(device in nonsense()) {
        let siblings = Siblings::of(&[]);
        for probe in [probe_hard_disk, probe_solid_state] {
            let mut device = device.clone();
            let Ok((findings, sibling)) = probe(&mut device, &siblings, 1, &mut Unwatched) else {
                continue;
            };
            let description = Description {
                id: "twin".to_owned(),
                model: "Nonsense".to_owned(),
                bytes: device.bytes,
                sector_sizes: (512, 4096),
                how: String::new(),
            };
            // Values that no drive has are refused; a file that is written is a drive's.
            if let Ok(text) = drive_file(&findings, &sibling, &description) {
                prop_assert!(load("twin.toml", &text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn writes_of_nonsense_end_and_make_a_drive_or_none(device in nonsense(), id in 0..54_usize) {
        let siblings = Siblings::of(&[]);
        let solid = SHIPPED.iter().filter_map(|(id, _)| shipped(id)).filter(|f| !f.rotates());
        let solid: Vec<_> = solid.collect();
        let (mut device, sibling) = (device, &solid[id % solid.len()]);
        device.most = MOST_WRITES;
        let room = device.bytes / 4..device.bytes.min(device.bytes / 4 + (6 << 30));
        let reads = (&Findings::default(), sibling, &siblings);
        let found = probe_flash_writes(&mut device, room, reads, 1, &mut Unwatched);
        let Ok((findings, sibling)) = found else { return Ok(()) };
        let description = Description {
            id: "twin".to_owned(),
            model: "Nonsense".to_owned(),
            bytes: sibling.capacity(),
            sector_sizes: (512, 4096),
            how: String::new(),
        };
        if let Ok(text) = drive_file(&findings, &sibling, &description) {
            prop_assert!(load("twin.toml", &text).is_ok(), "{text}");
        }
    }

    #[test]
    fn loads_on_nonsense_end(device in nonsense(), seed in any::<u64>()) {
        prop_assume!(device.bytes >= 8 << 20);
        for load in DISK_LOADS.iter().chain(&FLASH_LOADS) {
            let mut device = device.clone();
            let range = 0..device.bytes;
            let _ = run_load(&mut device, load, range, seed);
        }
    }
}

proptest! {
    /// A model's name comes from the device. It ends no string and no comment, and sets no
    /// field.
    #[test]
    fn no_name_changes_what_a_file_says(model in any::<String>(), how in any::<String>()) {
        let sibling = shipped("mg08aca16te").expect("shipped");
        let description = Description {
            id: "twin".to_owned(),
            model,
            bytes: sibling.capacity(),
            sector_sizes: sibling.sector_sizes(),
            how,
        };
        let text = drive_file(&Findings::default(), &sibling, &description).expect("a file");
        let file = load("twin.toml", &text).expect("a drive");
        prop_assert_eq!(&file.kind, &sibling.kind);
        prop_assert_eq!((file.id.as_str(), file.note), ("twin", sibling.note));
    }

    /// Found values are refused or make a drive, whatever they are.
    #[test]
    fn no_value_panics(
        values in prop::collection::vec((0..FIELDS.len(), any::<f64>(), any::<f64>()), 1..6),
        id in prop::sample::select(vec!["mg08aca16te", "samsung-980-1tb", "st8000as0002"]),
    ) {
        let sibling = shipped(id).expect("shipped");
        let mut findings = Findings::default();
        for (field, value, error) in values {
            findings.values.insert(FIELDS[field].path, ProbedValue::within(value, error.abs(), 3));
        }
        let description = Description {
            id: "twin".to_owned(),
            model: "X".to_owned(),
            bytes: sibling.capacity(),
            sector_sizes: sibling.sector_sizes(),
            how: String::new(),
        };
        if let Ok(text) = drive_file(&findings, &sibling, &description) {
            prop_assert!(load("twin.toml", &text).is_ok(), "{}", text);
        }
    }
}
