//! Drives that are not as models are: noise, caches that read backwards, failures.

use std::io;

use disklab_drive::shipped;
use disklab_probe::{
    DriveAccess, ModelledDrive, ProbeError, ProbeWatcher, Siblings, TimedAccess, TimedDrive,
    Unwatched, probe_hard_disk,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EIO: i32 = 5;

/// A drive behind a host: each completion is noticed late, and few are very late.
struct Noisy {
    drive: ModelledDrive,
    random: ChaCha8Rng,
    /// Requests until one fails.
    left: u64,
}

impl Noisy {
    fn new(id: &str, left: u64) -> Self {
        let file = shipped(id).expect("shipped");
        let drive = ModelledDrive::new(file.build(3), Some(32));
        Self { drive, random: ChaCha8Rng::seed_from_u64(5), left }
    }
}

impl TimedDrive for Noisy {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn now(&self) -> u64 {
        self.drive.now()
    }

    fn submit(&mut self, access: DriveAccess) -> Result<(), ProbeError> {
        // A kernel refuses others with EINVAL, for O_DIRECT and beyond the end.
        assert!(access.offset.is_multiple_of(4096) && access.bytes.is_multiple_of(4096));
        assert!(access.offset + access.bytes <= self.bytes(), "{access:?}");
        self.drive.submit(access)
    }

    fn complete(&mut self) -> Result<TimedAccess, ProbeError> {
        self.left = self.left.checked_sub(1).ok_or_else(|| ProbeError::Failed {
            what: "a read",
            offset: 0,
            source: io::Error::from_raw_os_error(EIO),
        })?;
        let mut done = self.drive.complete()?;
        let late = self.random.random_range(2_000..20_000);
        let rare = if self.random.random_bool(0.0005) { 30_000_000 } else { 0 };
        done.completed += late + rare;
        // The host continues when it has noticed.
        self.drive.idle(done.completed.saturating_sub(self.drive.now()))?;
        Ok(done)
    }

    fn idle(&mut self, time: u64) -> Result<(), ProbeError> {
        self.drive.idle(time)
    }

    fn queue_depth(&self) -> Option<u64> {
        Some(32)
    }

    fn has_data(&mut self, offset: u64, bytes: u64) -> Result<bool, ProbeError> {
        self.drive.has_data(offset, bytes)
    }
}

#[test]
fn noise_of_a_host_is_taken() {
    let mut drive = Noisy::new("generic-3tb", u64::MAX);
    let (found, _) =
        probe_hard_disk(&mut drive, &Siblings::of(&[]), 1, &mut Unwatched).expect("probed");
    let truth = shipped("generic-3tb").expect("shipped");
    for (path, tolerance) in [
        ("geometry.rpm", 0.002),
        ("geometry.outer-rate", 0.02),
        ("geometry.inner-rate", 0.02),
        ("seek.average", 0.02),
        ("seek.full", 0.02),
        ("seek.single-track", 0.1),
        ("cache.segments", 0.1),
        ("cache.segment-size", 0.1),
    ] {
        let field = disklab_probe::Field::by_path(path).expect("a field");
        let value = found.value(path).unwrap_or_else(|| panic!("{path} was not found"));
        let off = value / field.get(&truth.kind).expect("a value") - 1.0;
        assert!(off.abs() < tolerance, "{path}: off by {:.2} %", off * 100.0);
    }
}

#[test]
fn failures_and_watchers_end_a_probe() {
    for left in [0, 1, 100, 5000] {
        let mut drive = Noisy::new("st3500418as", left);
        let error = probe_hard_disk(&mut drive, &Siblings::of(&[]), 1, &mut Unwatched);
        let Err(ProbeError::Failed { source, .. }) = error else { panic!("{left}") };
        assert_eq!(source.raw_os_error(), Some(EIO), "{left}");
    }
    struct Ends(u32);
    impl ProbeWatcher for Ends {
        fn step(&mut self, _: &'static str, _: f64) -> Result<(), ProbeError> {
            self.0 = self.0.checked_sub(1).ok_or(ProbeError::Interrupted)?;
            Ok(())
        }
    }
    let mut drive = Noisy::new("st3500418as", u64::MAX);
    let ended = probe_hard_disk(&mut drive, &Siblings::of(&[]), 1, &mut Ends(2));
    assert!(matches!(ended, Err(ProbeError::Interrupted)));
}

#[test]
fn a_drive_that_does_not_rotate_is_no_hard_disk() {
    let file = shipped("samsung-980-1tb").expect("shipped");
    let mut drive = ModelledDrive::new(file.build(1), None);
    drive.fill(1 << 30, 1_000_000_000).expect("filled");
    let error = probe_hard_disk(&mut drive, &Siblings::of(&[]), 1, &mut Unwatched).unwrap_err();
    assert!(error.to_string().contains("not a revolution"), "{error}");
}
