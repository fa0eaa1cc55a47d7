//! Hard disks.

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
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{ProbeError, Unsuitable};
use crate::estimate::ProbedValue;
use crate::findings::Findings;
use crate::load::{BLOCK, check_size};
use crate::progress::ProbeWatcher;
use crate::sibling::{Likeness, Siblings};
use crate::timed::TimedDrive;

/// A drive while it is probed, and what is known of it so far.
pub(crate) struct DiskProbe<'a> {
    drive: &'a mut dyn TimedDrive,
    random: ChaCha8Rng,
    /// Supplies what is not measured yet.
    basis: DriveFile,
    findings: Findings,
    /// Time of a revolution, ns; 0 until it is known.
    revolution: f64,
    /// Bytes of reads that follow the medium.
    piece: u64,
    /// Rates at the edges, B/s.
    rates: [f64; 2],
    /// What a hit of [`BLOCK`] bytes takes, ns.
    hit: f64,
    /// The step from the last track that a head serves to the first of the next head.
    leg_skew: Option<ProbedValue>,
}

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

impl DiskProbe<'_> {
    /// The last byte at which `bytes` can begin, rounded down to blocks.
    fn room(&self, bytes: u64) -> u64 {
        self.drive.bytes().saturating_sub(bytes) / BLOCK * BLOCK
    }

    /// A block somewhere, behind which there is room for `bytes`.
    fn anywhere(&mut self, bytes: u64) -> u64 {
        let blocks = self.room(bytes) / BLOCK;
        self.random.random_range(0..=blocks) * BLOCK
    }

    /// The rate at a part of the capacity: it falls as on a medium of constant density.
    fn rate(&self, part: f64) -> f64 {
        let [outer, inner] = self.rates.map(|rate| rate * rate);
        (outer - part * (outer - inner)).max(1.0).sqrt()
    }

    /// The part of the capacity that lies before a part of the stroke.
    fn part_of_capacity(&self, stroke: f64) -> f64 {
        let [outer, inner] = self.rates;
        if outer <= inner {
            return stroke;
        }
        let rate = outer - stroke * (outer - inner);
        (outer * outer - rate * rate) / (outer * outer - inner * inner)
    }

    /// The value of the sibling's model.
    fn basis_value(&self, path: &str) -> f64 {
        let value = crate::Field::by_path(path).and_then(|field| field.get(&self.basis.kind));
        value.unwrap_or(0.0)
    }
}
