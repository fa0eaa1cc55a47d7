//! What a solid-state drive's controller, buffer and SLC cache make of writes.
//!
//! The only part of a probe of such drives that writes, and only where it is told to.

mod cached;
mod small;
mod stream;

use std::ops::Range;

use disklab_drive::{DriveFile, Kind};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Field;
use crate::error::{ProbeError, Unsuitable};
use crate::findings::Findings;
use crate::load::{carry_out, keep_busy};
use crate::progress::ProbeWatcher;
use crate::sibling::{Likeness, Siblings};
use crate::timed::{DriveAccess, TimedDrive};

/// The least room: behind what small writes take, the rate of a long one is to be seen.
const LEAST_ROOM: u64 = 4 << 30;
/// Room for all loads but the long one.
const SMALL_ROOM: u64 = 1 << 30;
/// Requests of long writes, and how many at a time.
const PIECE: (u64, u64) = (1 << 20, 4);
/// Time in which a drive empties its SLC cache of what was written before, ns.
const REST: u64 = 30_000_000_000;
/// The same for one that does not begin within [`REST`].
const LONG_REST: u64 = 600_000_000_000;

/// A drive while its writes are measured. Times are in ns.
struct FlashWrites<'a> {
    drive: &'a mut dyn TimedDrive,
    room: Range<u64>,
    random: ChaCha8Rng,
    /// What was found by reading.
    reads: &'a Findings,
    /// Supplies what was not found.
    basis: DriveFile,
    findings: Findings,
    /// What a flush behind a small write takes, and one with nothing to write out.
    flushes: [f64; 2],
    /// Whether reads of what was just written show an SLC cache.
    is_cached: bool,
}

/// Steps, what they are called, and how many seconds they take on a usual drive.
const STEPS: &[(&str, f64, Step)] = &[
    ("writes by size and depth", 20.0, small::measure),
    ("the SLC cache's reads", 60.0, cached::measure),
    ("a long sequential write", 240.0, stream::measure),
];

type Step = fn(&mut FlashWrites<'_>) -> Result<(), ProbeError>;

/// Measures how a solid-state drive writes, in `room`, all of whose content is lost. `reads` is
/// what [`probe_solid_state`](crate::probe_solid_state) found, `sibling` the drive that it gave
/// back. Gives what was found, and the sibling of a drive that writes like this one.
///
/// # Errors
/// If a request fails, something disturbs the drive, or there is too little room.
pub fn probe_flash_writes(
    drive: &mut dyn TimedDrive,
    room: Range<u64>,
    (reads, sibling, siblings): (&Findings, &DriveFile, &Siblings),
    seed: u64,
    watcher: &mut dyn ProbeWatcher,
) -> Result<(Findings, DriveFile), ProbeError> {
    if room.end > drive.bytes() || room.end.saturating_sub(room.start) < LEAST_ROOM {
        let least = disklab_units::Bytes(LEAST_ROOM);
        return Err(Unsuitable::TooLittleRoom { least }.into());
    }
    let mut writes = FlashWrites {
        drive,
        room,
        random: ChaCha8Rng::seed_from_u64(seed),
        reads,
        basis: sibling.clone(),
        findings: Findings::default(),
        flushes: [0.0; 2],
        is_cached: false,
    };
    for (index, (name, _, step)) in STEPS.iter().enumerate() {
        watcher.step(name, STEPS[index..].iter().map(|(_, seconds, _)| seconds).sum())?;
        step(&mut writes)?;
        if index == 1 {
            writes.choose_basis(siblings);
        }
    }
    small::flush_overhead(&mut writes);
    writes.flush()?;
    Ok((writes.findings, writes.basis))
}

impl FlashWrites<'_> {
    /// The value that was found, or else the sibling's.
    fn known(&self, path: &str) -> f64 {
        let of_sibling = || Field::by_path(path).and_then(|field| field.get(&self.basis.kind));
        let found = self.findings.value(path).or_else(|| self.reads.value(path));
        found.or_else(of_sibling).unwrap_or(0.0)
    }

    /// What the controller does for a write before it looks at the next request: of a sibling
    /// whose reads and writes differ, the sibling's, and else what was found by reading.
    fn write_command(&self) -> f64 {
        match &self.basis.kind {
            Kind::Ssd(p) if p.interface.write_command != p.interface.command => {
                p.interface.write_command as f64
            }
            _ => self.known("interface.command"),
        }
    }

    /// What a byte takes on the link, ns.
    fn link(&self) -> f64 {
        1e9 / self.known("interface.link").max(1.0)
    }

    /// What a byte takes on a channel, ns.
    fn channel(&self) -> f64 {
        1e9 / self.known("flash.channel-rate").max(1.0)
    }

    /// A place in the room for small writes.
    fn place(&mut self, bytes: u64) -> u64 {
        self.room.start + self.random.random_range(0..SMALL_ROOM / bytes) * bytes
    }

    fn flush(&mut self) -> Result<f64, ProbeError> {
        Ok(carry_out(self.drive, DriveAccess::flush())?.took() as f64)
    }

    /// Writes in sequence, and has all of it on the flash.
    fn fill(&mut self, from: u64, bytes: u64) -> Result<(), ProbeError> {
        let mut at = from;
        keep_busy(self.drive, PIECE.1, || {
            let access = DriveAccess::write(at, PIECE.0);
            at += PIECE.0;
            (at <= from + bytes).then_some(access)
        })?;
        self.flush()?;
        Ok(())
    }

    /// Takes a sibling with an SLC cache for a drive that has one, and one without for others,
    /// unless a shipped drive has its very name.
    fn choose_basis(&mut self, siblings: &Siblings) {
        let flash = |file: &DriveFile| match &file.kind {
            Kind::Ssd(parameters) => (parameters.slc_cache.is_some(), parameters.flash.channels),
            _ => (false, 0),
        };
        let (has_cache, channels) = flash(&self.basis);
        if has_cache == self.is_cached {
            return;
        }
        let like =
            Likeness { bytes: self.drive.bytes(), rpm: 0.0, rate: self.known("interface.link") };
        // How many dies there are was found, and on how many channels may be the sibling's.
        let fits = |file: &DriveFile| flash(file) == (self.is_cached, channels);
        let other = siblings.solid_state_that(like, fits);
        if siblings.by_name().is_none()
            && let Some(file) = other
        {
            self.basis = file.clone();
        } else if self.is_cached {
            self.is_cached = false;
            self.findings.values.retain(|path, _| !path.starts_with("slc-cache."));
            self.findings.note("an SLC cache shows, and no shipped drive like this one has one");
        }
    }
}
