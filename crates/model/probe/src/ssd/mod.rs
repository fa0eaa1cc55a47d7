//! Solid-state drives.

mod controller;
mod depth;
mod pages;
mod parallel;
mod places;
mod writes;

pub use places::written_range;
pub use writes::probe_flash_writes;

use std::ops::Range;

use disklab_drive::DriveFile;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{ProbeError, Unsuitable};
use crate::estimate::{ProbedValue, median, median_error};
use crate::findings::Findings;
use crate::load::{BLOCK, carry_out, check_size};
use crate::progress::ProbeWatcher;
use crate::sibling::{Likeness, Siblings};
use crate::timed::{DriveAccess, TimedDrive};

/// A drive while it is probed, and what is known of it so far. Times are in ns.
pub(crate) struct FlashProbe<'a> {
    drive: &'a mut dyn TimedDrive,
    random: ChaCha8Rng,
    basis: DriveFile,
    siblings: &'a Siblings,
    findings: Findings,
    /// Ranges that hold data, the longest first.
    written: Vec<Range<u64>>,
    /// Ranges that hold nothing but zeros, the longest first.
    empty: Vec<Range<u64>>,
    controller: Controller,
    /// Where the pages of the longest range begin and how long they are.
    pages: Option<Pages>,
}

/// What the controller and the link take of a read.
#[derive(Debug, Clone, Copy, Default)]
struct Controller {
    command: f64,
    small: f64,
    large: f64,
    link_per_byte: f64,
}

impl Controller {
    /// What a small read takes except for the flash.
    fn overhead(&self) -> f64 {
        self.command + self.small + self.link_per_byte * BLOCK as f64
    }
}

/// Pages of the flash as they lie in a range that was written in sequence.
#[derive(Debug, Clone, Copy)]
struct Pages {
    first: u64,
    bytes: u64,
}

/// Steps, what they are called, and how many seconds they take.
const STEPS: &[(&str, f64, Step)] = &[
    ("what is written", 10.0, places::measure),
    ("controller and link", 10.0, controller::measure),
    ("pages", 10.0, pages::measure),
    ("dies and channels", 20.0, parallel::measure),
    ("latency over size and depth", 15.0, depth::measure),
];

type Step = fn(&mut FlashProbe<'_>) -> Result<(), ProbeError>;

/// Measures a solid-state drive by reading. The nearest of `siblings` supplies what
/// cannot be measured where a value depends on it, and is given back.
///
/// # Errors
/// If a request fails, something disturbs the drive, or nothing is written on it.
pub fn probe_solid_state(
    drive: &mut dyn TimedDrive,
    siblings: &Siblings,
    seed: u64,
    watcher: &mut dyn ProbeWatcher,
) -> Result<(Findings, DriveFile), ProbeError> {
    check_size(drive.bytes())?;
    let like = Likeness { bytes: drive.bytes(), rpm: 0.0, rate: 0.0 };
    let none = || Unsuitable::NoSibling("solid-state drive");
    let mut flash = FlashProbe {
        drive,
        random: ChaCha8Rng::seed_from_u64(seed),
        basis: siblings.solid_state(like).cloned().ok_or_else(none)?,
        siblings,
        findings: Findings::default(),
        written: Vec::new(),
        empty: Vec::new(),
        controller: Controller::default(),
        pages: None,
    };
    for (index, (name, _, step)) in STEPS.iter().enumerate() {
        watcher.step(name, STEPS[index..].iter().map(|(_, seconds, _)| seconds).sum())?;
        step(&mut flash)?;
    }
    watcher.step("done", 0.0)?;
    Ok((flash.findings, flash.basis))
}

impl FlashProbe<'_> {
    /// Chooses the nearest shipped drive again, now that the link's rate is known.
    fn choose_basis(&mut self, rate: f64) {
        let like = Likeness { bytes: self.drive.bytes(), rpm: 0.0, rate };
        if let Some(file) = self.siblings.solid_state(like) {
            self.basis = file.clone();
        }
    }

    /// The value of the sibling's model.
    fn basis_value(&self, path: &str) -> f64 {
        let value = crate::Field::by_path(path).and_then(|field| field.get(&self.basis.kind));
        value.unwrap_or(0.0)
    }

    /// A place in one of some ranges at a multiple of `unit` from its beginning, with room
    /// for `bytes`.
    fn place(&mut self, empty: bool, unit: u64, bytes: u64) -> Option<u64> {
        let ranges = if empty { &self.empty } else { &self.written };
        let fitting: Vec<&Range<u64>> =
            ranges.iter().filter(|range| range.end - range.start >= bytes).collect();
        let range = fitting.get(self.random.random_range(0..fitting.len().max(1)))?;
        let steps = (range.end - range.start - bytes) / unit;
        Some(range.start + self.random.random_range(0..=steps) * unit)
    }

    /// The same in the longest range, at a page's beginning, with room for `bytes`.
    fn page(&mut self, pages: Pages, bytes: u64) -> Option<u64> {
        let range = self.written.first()?;
        let room = range.end.checked_sub(pages.first + bytes)?;
        Some(pages.first + self.random.random_range(0..=room / pages.bytes) * pages.bytes)
    }

    /// Times of single reads.
    fn single(
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
    fn pair(&mut self, first: DriveAccess, second: DriveAccess) -> Result<f64, ProbeError> {
        self.drive.submit(first)?;
        self.drive.submit(second)?;
        let (a, b) = (self.drive.complete()?, self.drive.complete()?);
        let begun = a.submitted.min(b.submitted);
        Ok((a.completed.max(b.completed) - begun) as f64)
    }

    /// How much longer two reads at a time take than the longer of them alone, and what that
    /// takes.
    fn extra(&mut self, first: DriveAccess, second: DriveAccess) -> Result<(f64, f64), ProbeError> {
        let alone = carry_out(self.drive, first)?.took().max(carry_out(self.drive, second)?.took());
        let pair = self.pair(first, second)?;
        Ok((pair - alone as f64, alone as f64))
    }

    /// Notes the median of times, less what is known to be in them.
    fn note_median(&mut self, path: &'static str, times: &[f64], less: f64) {
        let value = median(times) - less;
        self.findings
            .found(path, ProbedValue::within(value.max(1.0), median_error(times), times.len()));
    }

    /// Mean of times, less what is known to be in them.
    fn note_mean(&mut self, path: &'static str, times: &[f64], less: f64) {
        let (mean, error) = mean(times);
        self.findings.found(path, ProbedValue::within((mean - less).max(1.0), error, times.len()));
    }

    /// A block of a range.
    fn block(&mut self, empty: bool, bytes: u64) -> Option<DriveAccess> {
        self.place(empty, BLOCK, bytes).map(|offset| DriveAccess::read(offset, bytes))
    }
}

/// The mean of all but the longest hundredth, and half the width of its interval.
fn mean(times: &[f64]) -> (f64, f64) {
    let limit = crate::estimate::quantile(times, 0.99);
    let kept: Vec<f64> = times.iter().copied().filter(|time| *time <= limit).collect();
    let count = kept.len().max(1) as f64;
    let mean = kept.iter().sum::<f64>() / count;
    let variance = kept.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / count;
    (mean, 1.96 * (variance / count).sqrt())
}
