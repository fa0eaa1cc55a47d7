//! The same loads on a drive and on its twin.

use std::ops::Range;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{ProbeError, Unsuitable};
use crate::estimate::ProbedValue;
use crate::load::{BLOCK, keep_busy, steady_rate};
use crate::timed::{DriveAccess, TimedDrive};

/// In which order a load reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadOrder {
    /// At random offsets in a part of the range.
    Random(f64),
    /// In sequence, from this part of the range on.
    Sequential(f64),
}

/// A load of reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// What it is called.
    pub name: &'static str,
    order: LoadOrder,
    bytes: u64,
    depth: u64,
    count: u64,
}

const fn load(name: &'static str, order: LoadOrder, bytes: u64, depth: u64, count: u64) -> Load {
    Load { name, order, bytes, depth, count }
}

/// Loads for hard disks, some two minutes together.
pub const DISK_LOADS: [Load; 9] = [
    load("sequential reads of 1 MiB, outer edge", LoadOrder::Sequential(0.0), 1 << 20, 1, 1000),
    load("sequential reads of 1 MiB, middle", LoadOrder::Sequential(0.5), 1 << 20, 1, 1000),
    load("sequential reads of 1 MiB, inner edge", LoadOrder::Sequential(1.0), 1 << 20, 1, 1000),
    load("random reads of 4 KiB, depth 1", LoadOrder::Random(1.0), BLOCK, 1, 1000),
    load("random reads of 4 KiB, depth 4", LoadOrder::Random(1.0), BLOCK, 4, 1500),
    load("random reads of 4 KiB, depth 32", LoadOrder::Random(1.0), BLOCK, 32, 4000),
    load("random reads of 4 KiB in a tenth, depth 1", LoadOrder::Random(0.1), BLOCK, 1, 1000),
    load("random reads of 256 KiB, depth 1", LoadOrder::Random(1.0), 256 << 10, 1, 1000),
    load("random reads of 256 KiB, depth 8", LoadOrder::Random(1.0), 256 << 10, 8, 1500),
];

/// Loads for solid-state drives, some seconds together.
pub const FLASH_LOADS: [Load; 8] = [
    load("random reads of 4 KiB, depth 1", LoadOrder::Random(1.0), BLOCK, 1, 5000),
    load("random reads of 4 KiB, depth 4", LoadOrder::Random(1.0), BLOCK, 4, 20_000),
    load("random reads of 4 KiB, depth 32", LoadOrder::Random(1.0), BLOCK, 32, 60_000),
    load("random reads of 16 KiB, depth 1", LoadOrder::Random(1.0), 16 << 10, 1, 5000),
    load("random reads of 128 KiB, depth 1", LoadOrder::Random(1.0), 128 << 10, 1, 3000),
    load("random reads of 128 KiB, depth 8", LoadOrder::Random(1.0), 128 << 10, 8, 10_000),
    load("sequential reads of 128 KiB, depth 1", LoadOrder::Sequential(0.0), 128 << 10, 1, 4000),
    load("sequential reads of 1 MiB, depth 4", LoadOrder::Sequential(0.0), 1 << 20, 4, 2000),
];

/// Requests per second of a load on the bytes of `range`, which must hold data on a
/// solid-state drive.
///
/// # Errors
/// If a request fails, or the range is too small for the load.
pub fn run_load(
    drive: &mut dyn TimedDrive,
    load: &Load,
    range: Range<u64>,
    seed: u64,
) -> Result<ProbedValue, ProbeError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let length = range.end.saturating_sub(range.start) / BLOCK * BLOCK;
    let too_small = || Unsuitable::TooFewData(load.name);
    let room = length.checked_sub(load.bytes).ok_or_else(too_small)?;
    let depth = drive.queue_depth().map_or(load.depth, |deepest| load.depth.min(deepest.max(1)));
    let (mut left, mut next) = (load.count, 0);
    let whole = load.count * load.bytes;
    let sequential = length.saturating_sub(whole);
    let done = keep_busy(drive, depth, || {
        left = left.checked_sub(1)?;
        let offset = match load.order {
            LoadOrder::Random(part) => {
                let blocks = (room as f64 * part) as u64 / BLOCK;
                random.random_range(0..=blocks) * BLOCK
            }
            LoadOrder::Sequential(part) => {
                let begin = (sequential as f64 * part) as u64 / BLOCK * BLOCK;
                let offset = begin + next % (length.min(whole) / load.bytes) * load.bytes;
                next += 1;
                offset
            }
        };
        Some(DriveAccess::read(range.start + offset, load.bytes))
    })?;
    let full = done.len().saturating_sub(depth as usize);
    Ok(steady_rate(&done[..full]).ok_or_else(too_small)?)
}

/// By which part the twin's rate differs from the drive's, with its interval.
pub fn difference(drive: ProbedValue, twin: ProbedValue) -> ProbedValue {
    let ratio = twin.value / drive.value;
    let part = |estimate: ProbedValue| (estimate.high - estimate.value) / estimate.value;
    let error = ratio * part(drive).hypot(part(twin));
    ProbedValue::within(ratio - 1.0, error, drive.samples.min(twin.samples))
}

#[cfg(test)]
mod tests {
    use disklab_drive::shipped;

    use super::*;
    use crate::timed::ModelledDrive;

    #[test]
    fn a_drive_is_its_own_twin_and_another_is_not() {
        let rates = |id: &str, seed| -> Vec<ProbedValue> {
            let file = shipped(id).unwrap();
            DISK_LOADS
                .iter()
                .map(|load| {
                    let mut drive = ModelledDrive::new(file.build(seed), Some(32));
                    let range = 0..drive.bytes();
                    run_load(&mut drive, load, range, seed).unwrap()
                })
                .collect()
        };
        let drive = rates("generic-3tb", 1);
        for ((same, other), load) in rates("generic-3tb", 2).iter().zip(&drive).zip(DISK_LOADS) {
            let apart = difference(*other, *same);
            assert!(apart.value.abs() < 0.06, "{}: {apart:?}", load.name);
        }
        let slower = rates("wd40efrx-68wt0n0", 1);
        for ((a, b), load) in drive.iter().zip(&slower).zip(DISK_LOADS) {
            assert!(difference(*a, *b).high < -0.05, "{}", load.name);
        }
    }
}
