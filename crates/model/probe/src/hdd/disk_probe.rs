//! A hard disk while it is probed.

use crate::estimate::ProbedValue;
use crate::findings::Findings;
use crate::load::BLOCK;
use crate::timed::TimedDrive;
use disklab_drive::DriveFile;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A drive while it is probed, and what is known of it so far.
pub(crate) struct DiskProbe<'a> {
    pub(super) drive: &'a mut dyn TimedDrive,
    pub(super) random: ChaCha8Rng,
    /// Supplies what is not measured yet.
    pub(super) basis: DriveFile,
    pub(super) findings: Findings,
    /// Time of a revolution, ns; 0 until it is known.
    pub(super) revolution: f64,
    /// Bytes of reads that follow the medium.
    pub(super) piece: u64,
    /// Rates at the edges, B/s.
    pub(super) rates: [f64; 2],
    /// What a hit of [`BLOCK`] bytes takes, ns.
    pub(super) hit: f64,
    /// The step from the last track that a head serves to the first of the next head.
    pub(super) leg_skew: Option<ProbedValue>,
}

impl DiskProbe<'_> {
    /// The last byte at which `bytes` can begin, rounded down to blocks.
    pub(super) fn room(&self, bytes: u64) -> u64 {
        self.drive.bytes().saturating_sub(bytes) / BLOCK * BLOCK
    }

    /// A block somewhere, behind which there is room for `bytes`.
    pub(super) fn anywhere(&mut self, bytes: u64) -> u64 {
        let blocks = self.room(bytes) / BLOCK;
        self.random.random_range(0..=blocks) * BLOCK
    }

    /// The rate at a part of the capacity: it falls as on a medium of constant density.
    pub(super) fn rate(&self, part: f64) -> f64 {
        let [outer, inner] = self.rates.map(|rate| rate * rate);
        (outer - part * (outer - inner)).max(1.0).sqrt()
    }

    /// The part of the capacity that lies before a part of the stroke.
    pub(super) fn part_of_capacity(&self, stroke: f64) -> f64 {
        let [outer, inner] = self.rates;
        if outer <= inner {
            return stroke;
        }
        let rate = outer - stroke * (outer - inner);
        (outer * outer - rate * rate) / (outer * outer - inner * inner)
    }

    /// The value of the sibling's model.
    pub(super) fn basis_value(&self, path: &str) -> f64 {
        let value = crate::Field::by_path(path).and_then(|field| field.get(&self.basis.kind));
        value.unwrap_or(0.0)
    }
}
