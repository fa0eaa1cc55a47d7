//! The SLC cache as reads show it: data that still lie in it are read sooner.

use rand::Rng;

use super::flash_writes::{FlashWrites, REST};
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, median, median_error};
use crate::load::{BLOCK, carry_out};
use crate::timed::DriveAccess;

/// Bytes that are written before they are read.
const FRESH: u64 = 16 << 20;
/// Reads of what was just written.
const READS: usize = 200;
/// What is read in less than this part of the flash's own time lies in an SLC cache.
const FASTER: f64 = 0.85;
/// The first pause that is tried, by what the next is longer, and the longest, ns.
const PAUSES: (f64, f64, f64) = (50e6, 1.5, 30e9);
/// Steps that halve the interval in which the drive began to empty its cache.
const HALVINGS: usize = 4;
/// Bytes, and reads, of each try.
const TRY: (u64, usize) = (8 << 20, 25);

pub(super) fn measure(writes: &mut FlashWrites<'_>) -> Result<(), ProbeError> {
    writes.flush()?;
    writes.drive.idle(REST)?;
    let at = writes.room.start;
    writes.fill(at, FRESH)?;
    let took = reads(writes, FRESH, READS)?;
    let per_byte = writes.link() + writes.channel();
    let overhead = writes.known("interface.command")
        + writes.known("interface.read-overhead")
        + per_byte * BLOCK as f64;
    let usual = writes.known("flash.read-4k") + overhead;
    let fresh = median(&took);
    if fresh > FASTER * usual {
        writes.findings.note("what was just written is read no sooner: no SLC cache shows");
        return Ok(());
    }
    writes.is_cached = true;
    let value = ProbedValue::within((fresh - overhead).max(1.0), median_error(&took), READS);
    writes.findings.found("slc-cache.read", value);
    // The fastest of a cell's pages are read sooner than they are in the mean.
    fold_delay(writes, fresh + (usual - fresh) / 4.0)
}

/// Times of random reads of what was written last.
fn reads(writes: &mut FlashWrites<'_>, bytes: u64, count: usize) -> Result<Vec<f64>, ProbeError> {
    let mut took = Vec::new();
    for _ in 0..count {
        let block = writes.random.random_range(0..bytes / BLOCK);
        let place = writes.room.start + block * BLOCK;
        took.push(carry_out(writes.drive, DriveAccess::read(place, BLOCK))?.took() as f64);
    }
    Ok(took)
}

/// How long the host must be quiet before the drive empties its cache.
fn fold_delay(writes: &mut FlashWrites<'_>, bound: f64) -> Result<(), ProbeError> {
    let (mut low, mut high) = (0.0, PAUSES.0);
    while !is_folded(writes, high, bound)? {
        low = high;
        high *= PAUSES.1;
        if high > PAUSES.2 {
            writes.findings.note("the SLC cache is not emptied within half a minute of rest");
            return Ok(());
        }
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_folded(writes, middle, bound)? { high = middle } else { low = middle }
    }
    let value = ProbedValue::between(low, f64::midpoint(low, high), high, TRY.1);
    writes.findings.found("slc-cache.fold-delay", value);
    Ok(())
}

/// Whether what is written has left the cache after a pause.
fn is_folded(writes: &mut FlashWrites<'_>, pause: f64, bound: f64) -> Result<bool, ProbeError> {
    writes.fill(writes.room.start, TRY.0)?;
    writes.drive.idle(pause as u64)?;
    Ok(median(&reads(writes, TRY.0, TRY.1)?) > bound)
}
