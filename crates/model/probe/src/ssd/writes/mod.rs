//! What a solid-state drive's controller, buffer and SLC cache make of writes.
//!
//! The only part of a probe of such drives that writes, and only where it is told to.

mod cached;
mod flash_writes;
mod small;
mod stream;

use std::ops::Range;

use disklab_drive::DriveFile;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::{ProbeError, Unsuitable};
use crate::findings::Findings;
use crate::progress::ProbeWatcher;
use crate::sibling::Siblings;
use crate::timed::TimedDrive;
use flash_writes::FlashWrites;

/// The least room: behind what small writes take, the rate of a long one is to be seen.
const LEAST_ROOM: u64 = 4 << 30;
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
