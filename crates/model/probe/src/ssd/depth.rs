//! Latency over size, and throughput over depth: what the values together come to.

use super::flash_probe::FlashProbe;
use crate::error::ProbeError;
use crate::estimate::median;
use crate::findings::MeasuredCurve;
use crate::load::{BLOCK, keep_busy, per_second};
use crate::timed::DriveAccess;

const DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
const SIZES: [u64; 6] = [BLOCK, 16 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20];
/// Reads of each size, and at depth 1; deeper queues make as many each.
const READS: u64 = 1000;

pub(super) fn measure(flash: &mut FlashProbe<'_>) -> Result<(), ProbeError> {
    let mut sizes = Vec::new();
    for bytes in SIZES {
        let took = flash.single(READS as usize / 4, |flash| flash.block(false, bytes))?;
        sizes.push((bytes as f64 / 1024.0, median(&took) / 1e3));
    }
    flash.findings.curves.push(MeasuredCurve {
        title: "Latency of reads over their size",
        columns: ["KiB", "µs"],
        points: sizes,
    });
    let deepest = flash.drive.queue_depth().unwrap_or(64).max(1);
    let mut depths = Vec::new();
    for depth in DEPTHS.into_iter().filter(|depth| *depth <= deepest) {
        let count = READS * depth.min(16);
        let accesses: Vec<DriveAccess> =
            (0..count).filter_map(|_| flash.block(false, BLOCK)).collect();
        let mut accesses = accesses.into_iter();
        let done = keep_busy(flash.drive, depth, || accesses.next())?;
        let full = done.len().saturating_sub(depth as usize);
        depths.extend(per_second(&done[..full], depth as usize).map(|rate| (depth as f64, rate)));
    }
    flash.findings.curves.push(MeasuredCurve {
        title: "Random reads of 4 KiB over the depth of the queue",
        columns: ["depth", "per second"],
        points: depths,
    });
    Ok(())
}
