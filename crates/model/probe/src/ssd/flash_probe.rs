//! A solid-state drive while it is probed.

use crate::error::ProbeError;
use crate::estimate::{ProbedValue, median, median_error};
use crate::findings::Findings;
use crate::load::{BLOCK, carry_out};
use crate::sibling::{Likeness, Siblings};
use crate::timed::{DriveAccess, TimedDrive};
use disklab_drive::DriveFile;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// A drive while it is probed, and what is known of it so far. Times are in ns.
pub(crate) struct FlashProbe<'a> {
    pub(super) drive: &'a mut dyn TimedDrive,
    pub(super) random: ChaCha8Rng,
    pub(super) basis: DriveFile,
    pub(super) siblings: &'a Siblings,
    pub(super) findings: Findings,
    /// Ranges that hold data, the longest first.
    pub(super) written: Vec<Range<u64>>,
    /// Ranges that hold nothing but zeros, the longest first.
    pub(super) empty: Vec<Range<u64>>,
    pub(super) controller: Controller,
    /// Where the pages of the longest range begin and how long they are.
    pub(super) pages: Option<Pages>,
}

/// What the controller and the link take of a read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Controller {
    pub(super) command: f64,
    pub(super) small: f64,
    pub(super) large: f64,
    pub(super) link_per_byte: f64,
}

impl Controller {
    /// What a small read takes except for the flash.
    pub(super) fn overhead(&self) -> f64 {
        self.command + self.small + self.link_per_byte * BLOCK as f64
    }
}

/// Pages of the flash as they lie in a range that was written in sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pages {
    pub(super) first: u64,
    pub(super) bytes: u64,
}

impl FlashProbe<'_> {
    /// Chooses the nearest shipped drive again, now that the link's rate is known.
    pub(super) fn choose_basis(&mut self, rate: f64) {
        let like = Likeness { bytes: self.drive.bytes(), rpm: 0.0, rate };
        if let Some(file) = self.siblings.solid_state(like) {
            self.basis = file.clone();
        }
    }

    /// The value of the sibling's model.
    pub(super) fn basis_value(&self, path: &str) -> f64 {
        let value = crate::Field::by_path(path).and_then(|field| field.get(&self.basis.kind));
        value.unwrap_or(0.0)
    }

    /// A place in one of some ranges at a multiple of `unit` from its beginning, with room
    /// for `bytes`.
    pub(super) fn place(&mut self, empty: bool, unit: u64, bytes: u64) -> Option<u64> {
        let ranges = if empty { &self.empty } else { &self.written };
        let fitting: Vec<&Range<u64>> =
            ranges.iter().filter(|range| range.end - range.start >= bytes).collect();
        let range = fitting.get(self.random.random_range(0..fitting.len().max(1)))?;
        let steps = (range.end - range.start - bytes) / unit;
        Some(range.start + self.random.random_range(0..=steps) * unit)
    }

    /// The same in the longest range, at a page's beginning, with room for `bytes`.
    pub(super) fn page(&mut self, pages: Pages, bytes: u64) -> Option<u64> {
        let range = self.written.first()?;
        let room = range.end.checked_sub(pages.first + bytes)?;
        Some(pages.first + self.random.random_range(0..=room / pages.bytes) * pages.bytes)
    }

    /// Times of single reads.
    pub(super) fn single(
        &mut self,
        count: usize,
        mut next: impl FnMut(&mut Self) -> Option<DriveAccess>,
    ) -> Result<Vec<f64>, ProbeError> {
        let mut times = Vec::new();
        for _ in 0..count {
            let Some(access) = next(self) else { break };
            times.push(carry_out(self.drive, access)?.took() as f64);
        }
        Ok(times)
    }

    /// Time from the submission of two reads until both are done.
    pub(super) fn pair(
        &mut self,
        first: DriveAccess,
        second: DriveAccess,
    ) -> Result<f64, ProbeError> {
        self.drive.submit(first)?;
        self.drive.submit(second)?;
        let (a, b) = (self.drive.complete()?, self.drive.complete()?);
        let begun = a.submitted.min(b.submitted);
        Ok((a.completed.max(b.completed) - begun) as f64)
    }

    /// How much longer two reads at a time take than the longer of them alone, and what that
    /// takes.
    pub(super) fn extra(
        &mut self,
        first: DriveAccess,
        second: DriveAccess,
    ) -> Result<(f64, f64), ProbeError> {
        let alone = carry_out(self.drive, first)?.took().max(carry_out(self.drive, second)?.took());
        let pair = self.pair(first, second)?;
        Ok((pair - alone as f64, alone as f64))
    }

    /// Notes the median of times, less what is known to be in them.
    pub(super) fn note_median(&mut self, path: &'static str, times: &[f64], less: f64) {
        let value = median(times) - less;
        self.findings
            .found(path, ProbedValue::within(value.max(1.0), median_error(times), times.len()));
    }

    /// Mean of times, less what is known to be in them.
    pub(super) fn note_mean(&mut self, path: &'static str, times: &[f64], less: f64) {
        let (mean, error) = mean(times);
        self.findings.found(path, ProbedValue::within((mean - less).max(1.0), error, times.len()));
    }

    /// A block of a range.
    pub(super) fn block(&mut self, empty: bool, bytes: u64) -> Option<DriveAccess> {
        self.place(empty, BLOCK, bytes).map(|offset| DriveAccess::read(offset, bytes))
    }
}

/// The mean of all but the longest hundredth, and half the width of its interval.
pub(super) fn mean(times: &[f64]) -> (f64, f64) {
    let limit = crate::estimate::quantile(times, 0.99);
    let kept: Vec<f64> = times.iter().copied().filter(|time| *time <= limit).collect();
    let count = kept.len().max(1) as f64;
    let mean = kept.iter().sum::<f64>() / count;
    let variance = kept.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / count;
    (mean, 1.96 * (variance / count).sqrt())
}
