//! The closed loop of writes: a modelled disk gives its own cache back.

use disklab_drive::{DriveFile, Kind, SHIPPED, shipped};
use disklab_probe::{
    Field, Findings, ModelledDrive, ProbeError, TimedDrive, Unwatched, probe_write_cache,
};

/// Room as a file of a probe has it.
const ROOM: u64 = 4 << 30;

/// Conventional hard disks.
fn disks() -> impl Iterator<Item = DriveFile> {
    let all = SHIPPED.iter().filter_map(|(id, _)| shipped(id));
    all.filter(|file| matches!(file.kind, Kind::Hdd(_)))
}

fn truth(file: &DriveFile, path: &str) -> f64 {
    Field::by_path(path).and_then(|field| field.get(&file.kind)).expect("a field of disks")
}

fn probe(file: &DriveFile, write_cache: bool, part: u64) -> Findings {
    let mut drive = file.build(7);
    drive.set_write_cache(disklab_drive::Nanos(0), write_cache);
    let mut drive = ModelledDrive::new(drive, Some(file.queue_depth()));
    let from = drive.bytes() / 10 * part / (1 << 20) * (1 << 20);
    let link = Some(truth(file, "interface.link"));
    probe_write_cache(&mut drive, from..from + ROOM, link, 1, &mut Unwatched).expect("probed")
}

#[test]
fn every_hard_disk_gives_its_write_cache_back() {
    let (mut count, mut few_lists, mut farthest) = (0, 0, 0.0_f64);
    // At the beginning, where the medium is fastest, and in the middle.
    // A flush empties no cache that outlasts a loss of power: a probe cannot begin with an empty one.
    let emptied = |file: &DriveFile| file.mechanics().is_some_and(|disk| !disk.persistent_flush);
    for (file, part) in disks().filter(emptied).flat_map(|file| [(file.clone(), 0), (file, 5)]) {
        let findings = probe(&file, true, part);
        // A list of 8 extents is full before the memory is, whatever is written, and one of 192
        // where the memory is large.
        let few = truth(&file, "cache.dirty-extents") < 200.0;
        assert_eq!(few, !findings.values.contains_key("cache.dirty-limit"), "{findings:?}");
        few_lists += usize::from(few);
        let limit = (!few).then_some("cache.dirty-limit");
        for path in ["interface.write-overhead", "cache.dirty-extents"].into_iter().chain(limit) {
            let found = findings.values.get(path).unwrap_or_else(|| panic!("{}: {path}", file.id));
            let off = found.value / truth(&file, path) - 1.0;
            // Of a long list, more is written out while it fills than is counted.
            let long = path == "cache.dirty-extents" && truth(&file, path) > 512.0;
            assert!(
                off.abs() < if long { 0.25 } else { 0.1 },
                "{}: {path} is off by {off:.3}: {found:?}",
                file.id
            );
            farthest = farthest.max(off.abs());
            assert!(found.low <= found.value && found.value <= found.high, "{found:?}");
            count += 1;
        }
        assert!(findings.notes.iter().any(|n| n.contains("the cache being full")), "{findings:?}");
    }
    eprintln!("off by {:.1} % at most", farthest * 100.0);
    assert!(count >= 2 * 3 * 20 - few_lists && few_lists == 6, "{count}, {few_lists}");
}

#[test]
fn a_disk_without_write_cache_is_reported() {
    let findings = probe(&disks().next().expect("a disk"), false, 5);
    assert!(findings.values.is_empty(), "{findings:?}");
    assert!(findings.notes[0].starts_with("no write cache: a write takes "), "{findings:?}");
}

#[test]
fn writes_stay_in_their_room() {
    /// Counts what is written outside.
    struct Fence(ModelledDrive, std::ops::Range<u64>, u64);
    impl TimedDrive for Fence {
        fn bytes(&self) -> u64 {
            self.0.bytes()
        }
        fn now(&self) -> u64 {
            self.0.now()
        }
        fn submit(&mut self, access: disklab_probe::DriveAccess) -> Result<(), ProbeError> {
            let inside = access.bytes == 0
                || (access.offset >= self.1.start && access.offset + access.bytes <= self.1.end);
            self.2 += u64::from(!inside);
            self.0.submit(access)
        }
        fn complete(&mut self) -> Result<disklab_probe::TimedAccess, ProbeError> {
            self.0.complete()
        }
        fn idle(&mut self, time: u64) -> Result<(), ProbeError> {
            self.0.idle(time)
        }
        fn has_data(&mut self, offset: u64, bytes: u64) -> Result<bool, ProbeError> {
            self.0.has_data(offset, bytes)
        }
    }
    let file = disks().next().expect("a disk");
    let room = 12_345 << 20..(12_345 << 20) + (1 << 30);
    let mut drive = Fence(ModelledDrive::new(file.build(1), None), room.clone(), 0);
    probe_write_cache(&mut drive, room, None, 3, &mut Unwatched).expect("probed");
    assert_eq!(drive.2, 0);
    for room in [0..1 << 20, file.capacity() - 4096..file.capacity() + (2 << 30)] {
        let error = probe_write_cache(&mut drive, room, None, 3, &mut Unwatched);
        assert!(matches!(error, Err(ProbeError::Unsuitable(_))), "{error:?}");
    }
    assert_eq!(drive.2, 0);
}
