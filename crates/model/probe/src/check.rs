//! The same loads on a drive and on its twin.

use std::ops::Range;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{ProbeError, Unsuitable};
use crate::estimate::ProbedValue;
use crate::load::{BLOCK, carry_out, keep_busy, steady_rate};
use crate::timed::{DriveAccess, TimedDrive};

/// In which order a load asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadOrder {
    /// At random offsets in a part of the range.
    Random(f64),
    /// In sequence, from this part of the range on.
    Sequential(f64),
}

/// What a load consists of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LoadOperations {
    Reads,
    Writes,
    /// Writes, each followed by a flush, which is not counted.
    DurableWrites,
    /// Seven reads for three writes, drawn.
    Mixed,
}

/// A load of reads, of writes or of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// What it is called.
    pub name: &'static str,
    operations: LoadOperations,
    order: LoadOrder,
    bytes: u64,
    depth: u64,
    count: u64,
}

const fn load(name: &'static str, order: LoadOrder, bytes: u64, depth: u64, count: u64) -> Load {
    Load { name, operations: LoadOperations::Reads, order, bytes, depth, count }
}

/// The same load with other operations.
const fn with(operations: LoadOperations, load: Load) -> Load {
    Load { operations, ..load }
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

/// Loads that write to a hard disk, within some GiB that [`prepare_writes`] has filled; some
/// minute and a half together. The first part of a load does not count: it fills the write cache.
pub const DISK_WRITES: [Load; 5] = [
    with(
        LoadOperations::Writes,
        load("sequential writes of 1 MiB", LoadOrder::Sequential(0.0), 1 << 20, 1, 1500),
    ),
    with(
        LoadOperations::Writes,
        load("random writes of 4 KiB, depth 1", LoadOrder::Random(1.0), BLOCK, 1, 6000),
    ),
    with(
        LoadOperations::Writes,
        load("random writes of 4 KiB, depth 32", LoadOrder::Random(1.0), BLOCK, 32, 6000),
    ),
    with(
        LoadOperations::DurableWrites,
        load("random writes of 4 KiB, each flushed", LoadOrder::Random(1.0), BLOCK, 1, 500),
    ),
    with(
        LoadOperations::Mixed,
        load("70/30 random 4 KiB, depth 4", LoadOrder::Random(1.0), BLOCK, 4, 3000),
    ),
];

/// Loads that write to a solid-state drive, within some GiB that [`prepare_writes`] has filled.
pub const FLASH_WRITES: [Load; 5] = [
    with(
        LoadOperations::Writes,
        load("sequential writes of 1 MiB, depth 4", LoadOrder::Sequential(0.0), 1 << 20, 4, 3000),
    ),
    with(
        LoadOperations::Writes,
        load("random writes of 4 KiB, depth 1", LoadOrder::Random(1.0), BLOCK, 1, 30_000),
    ),
    with(
        LoadOperations::Writes,
        load("random writes of 4 KiB, depth 32", LoadOrder::Random(1.0), BLOCK, 32, 60_000),
    ),
    with(
        LoadOperations::DurableWrites,
        load("random writes of 4 KiB, each flushed", LoadOrder::Random(1.0), BLOCK, 1, 2000),
    ),
    with(
        LoadOperations::Mixed,
        load("70/30 random 4 KiB, depth 32", LoadOrder::Random(1.0), BLOCK, 32, 60_000),
    ),
];

/// How long a drive rests before each load that writes, ns.
const REST: u64 = 5_000_000_000;

/// Fills the room in which loads are to write, so that nothing there is written for the first time.
///
/// # Errors
/// [`ProbeError::Failed`] with the first request that the drive refuses.
pub fn prepare_writes(drive: &mut dyn TimedDrive, range: Range<u64>) -> Result<(), ProbeError> {
    const PIECE: u64 = 1 << 20;
    let mut pieces = 0..(range.end - range.start) / PIECE;
    keep_busy(drive, 4, || Some(DriveAccess::write(range.start + pieces.next()? * PIECE, PIECE)))?;
    Ok(())
}

/// Requests per second of a load that writes, on a drive whose cache was flushed before, as the
/// last load left it.
///
/// # Errors
/// If a request fails, or the range is too small for the load.
pub fn run_write_load(
    drive: &mut dyn TimedDrive,
    load: &Load,
    range: Range<u64>,
    seed: u64,
) -> Result<ProbedValue, ProbeError> {
    carry_out(drive, DriveAccess::flush())?;
    drive.idle(REST)?;
    run_load(drive, load, range, seed)
}

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
    let mut flush_next = false;
    let done = keep_busy(drive, depth, || {
        if std::mem::take(&mut flush_next) {
            return Some(DriveAccess::flush());
        }
        left = left.checked_sub(1)?;
        flush_next = load.operations == LoadOperations::DurableWrites;
        let writes = match load.operations {
            LoadOperations::Reads => false,
            LoadOperations::Writes | LoadOperations::DurableWrites => true,
            LoadOperations::Mixed => random.random_ratio(3, 10),
        };
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
        let begin = range.start + offset;
        let access = if writes { DriveAccess::write } else { DriveAccess::read };
        Some(access(begin, load.bytes))
    })?;
    let full = done.len().saturating_sub(depth as usize);
    let rate = steady_rate(&done[..full]).ok_or_else(too_small)?;
    // There are as many flushes as writes.
    Ok(if load.operations == LoadOperations::DurableWrites { rate.map(|r| r / 2.0) } else { rate })
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
    use crate::modelled::ModelledDrive;

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

    /// Rates of the loads that write, in 4 GiB from `begin` on.
    fn write_rates(id: &str, loads: &[Load], (seed, begin): (u64, u64)) -> Vec<ProbedValue> {
        let file = shipped(id).unwrap();
        let mut drive = ModelledDrive::new(file.build(seed), Some(file.queue_depth()));
        let range = begin..begin + (4 << 30);
        prepare_writes(&mut drive, range.clone()).unwrap();
        let rate = |load| run_write_load(&mut drive, load, range.clone(), seed).unwrap();
        loads.iter().map(rate).collect()
    }

    #[test]
    fn writes_show_a_drive_with_another_cache_and_another_flash() {
        let rates = |id, seed| write_rates(id, &DISK_WRITES, (seed, 1 << 30));
        let drive = rates("generic-3tb", 1);
        for ((same, other), load) in rates("generic-3tb", 2).iter().zip(&drive).zip(DISK_WRITES) {
            let apart = difference(*other, *same);
            assert!(apart.value.abs() < 0.06, "{}: {apart:?}", load.name);
        }
        // Eight pieces of dirty data instead of 256.
        let small = rates("st3500418as", 1);
        let [random, deep] = [1, 2].map(|n| difference(drive[n], small[n]).high);
        assert!(random < -0.3 && deep < -0.1, "{random} {deep}");
        let [fast, slow] = ["samsung-980-1tb", "samsung-870evo-1tb"]
            .map(|id| write_rates(id, &FLASH_WRITES, (1, 0)));
        for ((a, b), load) in fast.iter().zip(&slow).zip(FLASH_WRITES) {
            // A flush takes both about as long.
            let is_flushed = load.operations == LoadOperations::DurableWrites;
            assert!(is_flushed || difference(*a, *b).value.abs() > 0.1, "{}", load.name);
        }
    }

    #[test]
    fn a_room_that_is_too_small_is_refused() {
        let file = shipped("generic-3tb").unwrap();
        let mut drive = ModelledDrive::new(file.build(1), Some(32));
        assert!(prepare_writes(&mut drive, 0..0).is_ok());
        for load in &DISK_WRITES {
            assert!(run_write_load(&mut drive, load, 0..512, 1).is_err(), "{}", load.name);
        }
    }
}
