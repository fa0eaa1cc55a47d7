//! How fast it rotates: reads of one block before the other, backwards.
//!
//! What a drive read ahead lies behind a block, so that the block before it must come from
//! the medium, which is there one revolution later, less the way of the block itself.

use super::disk_probe::DiskProbe;
use crate::error::{ProbeError, Unsuitable};
use crate::estimate::{ProbedValue, median, median_error};
use crate::load::{BLOCK, carry_out, stream};
use crate::timed::DriveAccess;

/// Bytes of the reads that follow the medium on a fast drive.
const PIECE: u64 = 256 << 10;
/// What the medium must take for such a read at least, so that the host's part and the
/// link do not take longer, ns.
const SLOWEST_HOST: f64 = 0.7e6;

/// Reads backwards.
const READS: u64 = 240;

/// From 3,000 to 18,000 revolutions per minute, ns.
const REVOLUTIONS: std::ops::RangeInclusive<f64> = 3.3e6..=20e6;

pub(super) fn measure(disk: &mut DiskProbe<'_>) -> Result<(), ProbeError> {
    let start = disk.room(READS * BLOCK + 64 * PIECE) / 3 / BLOCK * BLOCK;
    disk.piece = piece(disk)?;
    let per_byte = nanoseconds_per_byte(disk, start)?;
    let mut ends = Vec::new();
    for n in (0..READS).rev() {
        ends.push(
            carry_out(disk.drive, DriveAccess::read(start + n * BLOCK, BLOCK))?.completed as f64,
        );
    }
    // The first follows another load.
    let steps: Vec<f64> = ends[1..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    let revolution = median(&steps) + BLOCK as f64 * per_byte;
    let error = median_error(&steps).max(1.0);
    if !REVOLUTIONS.contains(&revolution) || error > 0.02 * revolution {
        // Never negative: completions are in order.
        let per_block_ns = median(&steps).round() as u64;
        return Err(Unsuitable::NoRevolution { per_block_ns }.into());
    }
    disk.revolution = revolution;
    let rpm = ProbedValue::within(revolution, error, steps.len()).map(|time| 60e9 / time);
    disk.findings.found("geometry.rpm", rpm);
    Ok(())
}

/// The smallest reads that follow the medium at the outer edge: the fewer hold the end of a
/// track.
fn piece(disk: &mut DiskProbe<'_>) -> Result<u64, ProbeError> {
    let reads = stream(disk.drive, 0, PIECE, 64)?;
    let per_byte = median(&increments(&reads)) / PIECE as f64;
    let mut piece = PIECE;
    while piece > 32 << 10 && per_byte * (piece / 2) as f64 > SLOWEST_HOST {
        piece /= 2;
    }
    Ok(piece)
}

/// Time that the medium takes for a byte within a track.
fn nanoseconds_per_byte(disk: &mut DiskProbe<'_>, offset: u64) -> Result<f64, ProbeError> {
    let reads = stream(disk.drive, offset, disk.piece, 64)?;
    Ok(median(&increments(&reads)) / disk.piece as f64)
}

/// Times between completions, without those of the beginning.
pub(super) fn increments(reads: &[crate::timed::TimedAccess]) -> Vec<f64> {
    let reads = reads.get(2..).unwrap_or_default();
    reads.windows(2).map(|pair| (pair[1].completed - pair[0].completed) as f64).collect()
}
