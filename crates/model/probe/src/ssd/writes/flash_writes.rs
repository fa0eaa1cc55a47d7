//! A solid-state drive while its writes are measured.

use crate::Field;
use crate::error::ProbeError;
use crate::findings::Findings;
use crate::load::{carry_out, keep_busy};
use crate::sibling::{Likeness, Siblings};
use crate::timed::{DriveAccess, TimedDrive};
use disklab_drive::{DriveFile, Kind};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Room for all loads but the long one.
pub(super) const SMALL_ROOM: u64 = 1 << 30;
/// Requests of long writes, and how many at a time.
pub(super) const PIECE: (u64, u64) = (1 << 20, 4);
/// Time in which a drive empties its SLC cache of what was written before, ns.
pub(super) const REST: u64 = 30_000_000_000;
/// The same for one that does not begin within [`REST`].
pub(super) const LONG_REST: u64 = 600_000_000_000;

/// A drive while its writes are measured. Times are in ns.
pub(super) struct FlashWrites<'a> {
    pub(super) drive: &'a mut dyn TimedDrive,
    pub(super) room: Range<u64>,
    pub(super) random: ChaCha8Rng,
    /// What was found by reading.
    pub(super) reads: &'a Findings,
    /// Supplies what was not found.
    pub(super) basis: DriveFile,
    pub(super) findings: Findings,
    /// What a flush behind a small write takes, and one with nothing to write out.
    pub(super) flushes: [f64; 2],
    /// Whether reads of what was just written show an SLC cache.
    pub(super) is_cached: bool,
}

impl FlashWrites<'_> {
    /// The value that was found, or else the sibling's.
    pub(super) fn known(&self, path: &str) -> f64 {
        let of_sibling = || Field::by_path(path).and_then(|field| field.get(&self.basis.kind));
        let found = self.findings.value(path).or_else(|| self.reads.value(path));
        found.or_else(of_sibling).unwrap_or(0.0)
    }

    /// What the controller does for a write before it looks at the next request: of a sibling
    /// whose reads and writes differ, the sibling's, and else what was found by reading.
    pub(super) fn write_command(&self) -> f64 {
        match &self.basis.kind {
            Kind::Ssd(p) if p.interface.write_command != p.interface.command => {
                p.interface.write_command as f64
            }
            _ => self.known("interface.command"),
        }
    }

    /// What a byte takes on the link, ns.
    pub(super) fn link(&self) -> f64 {
        1e9 / self.known("interface.link").max(1.0)
    }

    /// What a byte takes on a channel, ns.
    pub(super) fn channel(&self) -> f64 {
        1e9 / self.known("flash.channel-rate").max(1.0)
    }

    /// A place in the room for small writes.
    pub(super) fn place(&mut self, bytes: u64) -> u64 {
        self.room.start + self.random.random_range(0..SMALL_ROOM / bytes) * bytes
    }

    pub(super) fn flush(&mut self) -> Result<f64, ProbeError> {
        Ok(carry_out(self.drive, DriveAccess::flush())?.took() as f64)
    }

    /// Writes in sequence, and has all of it on the flash.
    pub(super) fn fill(&mut self, from: u64, bytes: u64) -> Result<(), ProbeError> {
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
    pub(super) fn choose_basis(&mut self, siblings: &Siblings) {
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
