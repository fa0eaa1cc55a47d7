//! Reads that the drive answers from its memory: its overhead, and the link.

use super::disk_probe::DiskProbe;
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, least_squares, median, median_error};
use crate::load::{BLOCK, carry_out};
use crate::timed::DriveAccess;

/// Bytes of the reads from memory.
const SIZES: [u64; 6] = [BLOCK, 16 << 10, 32 << 10, 64 << 10, 96 << 10, 128 << 10];
/// Reads of each size.
const READS: usize = 24;
/// How far behind a read the one from memory begins: it does not look sequential.
const GAP: u64 = 16 << 10;

pub(super) fn measure(disk: &mut DiskProbe<'_>) -> Result<(), ProbeError> {
    let (mut sizes, mut times, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for bytes in SIZES {
        let mut took = Vec::new();
        for _ in 0..READS {
            let place = disk.anywhere(1 << 20);
            carry_out(disk.drive, DriveAccess::read(place, BLOCK))?;
            disk.drive.idle(4 * disk.revolution as u64)?;
            let access = DriveAccess::read(place + GAP, bytes);
            took.push(carry_out(disk.drive, access)?.took() as f64);
        }
        sizes.push([1.0, bytes as f64]);
        times.push(median(&took));
        errors.push(median_error(&took).max(100.0));
    }
    let weights: Vec<f64> = errors.iter().map(|error| error.powi(-2)).collect();
    let line = least_squares(&sizes, &times, &weights);
    // A miss takes half a revolution.
    let from_memory = times[0] < 0.2 * disk.revolution && times[5] < 0.5 * disk.revolution;
    let Some([overhead, per_byte]) = line.filter(|_| from_memory) else {
        disk.findings.note(
            "the drive does not read ahead after a single read: its overhead, its link and its \
             read segments cannot be told apart from the medium",
        );
        return Ok(());
    };
    disk.hit = times[0];
    let samples = READS * SIZES.len();
    let error = errors[0];
    let overhead = ProbedValue::within(overhead.max(1.0), error, samples);
    disk.findings.found("interface.read-overhead", overhead);
    if per_byte > 1e-3 {
        let error = errors[5].hypot(errors[0]) / (SIZES[5] - SIZES[0]) as f64;
        let link = ProbedValue::within(per_byte, error.min(per_byte / 2.0), samples);
        disk.findings.found("interface.link", link.map(|per_byte| 1e9 / per_byte));
    }
    Ok(())
}
