//! Pages: two reads at a time wait for each other if they are for the same die.
//!
//! In a range that was written in sequence neighbouring blocks of a page lie on one die,
//! and the next page on another: so does one see where pages end (Chen, Lee and Zhang,
//! 'Essential Roles of Exploiting Internal Parallelism of FlashProbe Memory based Solid State
//! Drives', HPCA 2011).

use rand::Rng;

use super::flash_probe::{FlashProbe, Pages};
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, median};
use crate::load::BLOCK;
use crate::timed::DriveAccess;

/// The largest page that is looked for.
const LARGEST: u64 = 1 << 20;
/// Pairs at each place.
const PAIRS: usize = 5;
const PLACES: u64 = 1024;

pub(super) fn measure(flash: &mut FlashProbe<'_>) -> Result<(), ProbeError> {
    let waits = waits(flash)?;
    let ends: Vec<u64> =
        waits.iter().enumerate().filter(|(_, waits)| !**waits).map(|(n, _)| n as u64 + 1).collect();
    let steps: Vec<f64> = ends.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let page = median(&steps) as u64;
    let regular = steps.iter().filter(|step| **step == page as f64).count();
    if page < 2 || page * BLOCK > LARGEST || regular * 5 < steps.len() * 4 {
        flash.findings.note(
            "what is written does not lie in sequence on the flash: pages, dies and channels do \
             not show",
        );
        return Ok(());
    }
    let bytes = page * BLOCK;
    let start = flash.written.first().map_or(0, |range| range.start);
    flash.pages = Some(Pages { first: start + ends[0] * BLOCK, bytes });
    let between = (bytes - BLOCK, bytes + BLOCK);
    flash.findings.found(
        "flash.page",
        ProbedValue::between(between.0 as f64, bytes as f64, between.1 as f64, steps.len()),
    );
    Ok(())
}

/// Whether each block of the longest range waits for the next one.
fn waits(flash: &mut FlashProbe<'_>) -> Result<Vec<bool>, ProbeError> {
    let Some(range) = flash.written.first().cloned() else { return Ok(Vec::new()) };
    let places = PLACES.min((range.end - range.start) / BLOCK - 1);
    let mut extras = vec![Vec::new(); places as usize];
    // In random order, so that no place comes twice in a row.
    for _ in 0..PAIRS * places as usize {
        let place = flash.random.random_range(0..places);
        let offset = range.start + place * BLOCK;
        let [first, second] = [offset, offset + BLOCK].map(|at| DriveAccess::read(at, BLOCK));
        let (extra, alone) = flash.extra(first, second)?;
        let of_flash = (alone - flash.controller.overhead()).max(1.0);
        extras[place as usize].push(extra / of_flash);
    }
    Ok(extras.iter().map(|extras| extras.is_empty() || median(extras) > 0.5).collect())
}
