//! Hard disks.

mod disk_probe;
mod hits;
mod queue;
mod rates;
mod read_ahead;
mod rotation;
mod seek;
mod tracks;
mod writes;

pub use writes::probe_write_cache;

use disklab_drive::DriveFile;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::{ProbeError, Unsuitable};
use crate::findings::Findings;
use crate::load::check_size;
use crate::progress::ProbeWatcher;
use crate::sibling::{Likeness, Siblings};
use crate::timed::TimedDrive;
use disk_probe::DiskProbe;

/// Steps, what they are called, and how many seconds they take on a usual drive.
const STEPS: &[(&str, f64, Step)] = &[
    ("revolutions per minute", 3.0, rotation::measure),
    ("rates by place", 40.0, rates::measure),
    ("answers from memory", 8.0, hits::measure),
    ("tracks and heads", 50.0, tracks::measure),
    ("seeks", 70.0, seek::measure),
    ("reading ahead", 15.0, read_ahead::measure),
    ("queueing", 75.0, queue::measure),
];

type Step = fn(&mut DiskProbe<'_>) -> Result<(), ProbeError>;

/// Measures a hard disk by reading. The nearest of `siblings` supplies what cannot be
/// measured where a value depends on it, and is given back.
///
/// # Errors
/// If a request fails, something disturbs the drive, or it is no hard disk.
pub fn probe_hard_disk(
    drive: &mut dyn TimedDrive,
    siblings: &Siblings,
    seed: u64,
    watcher: &mut dyn ProbeWatcher,
) -> Result<(Findings, DriveFile), ProbeError> {
    let bytes = drive.bytes();
    check_size(bytes)?;
    let nearest = |rpm, rate| {
        let found = siblings.disk(Likeness { bytes, rpm, rate }).cloned();
        found.ok_or(Unsuitable::NoSibling("hard disk"))
    };
    let mut disk = DiskProbe {
        drive,
        random: ChaCha8Rng::seed_from_u64(seed),
        basis: nearest(0.0, 0.0)?,
        findings: Findings::default(),
        revolution: 0.0,
        piece: 0,
        rates: [0.0; 2],
        hit: 0.0,
        leg_skew: None,
    };
    for (index, (name, _, step)) in STEPS.iter().enumerate() {
        watcher.step(name, STEPS[index..].iter().map(|(_, seconds, _)| seconds).sum())?;
        step(&mut disk)?;
        if disk.rates[0] > 0.0 {
            disk.basis = nearest(60e9 / disk.revolution, disk.rates[0])?;
        }
    }
    watcher.step("done", 0.0)?;
    Ok((disk.findings, disk.basis))
}
