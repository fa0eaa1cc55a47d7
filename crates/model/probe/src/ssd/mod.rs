//! Solid-state drives.

mod controller;
mod depth;
mod flash_probe;
mod pages;
mod parallel;
mod places;
mod writes;

pub use places::written_range;
pub use writes::probe_flash_writes;

use disklab_drive::DriveFile;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::{ProbeError, Unsuitable};
use crate::findings::Findings;
use crate::load::check_size;
use crate::progress::ProbeWatcher;
use crate::sibling::{Likeness, Siblings};
use crate::timed::TimedDrive;
use flash_probe::{Controller, FlashProbe};

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
