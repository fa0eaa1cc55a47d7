//! Where data lie: only there the flash answers.

use std::ops::Range;

use super::flash_probe::FlashProbe;
use crate::error::{ProbeError, Unsuitable};
use crate::load::BLOCK;
use crate::timed::TimedDrive;

/// Bytes of a window that is looked at.
const WINDOW: u64 = 64 << 20;
/// Windows all over the drive, and at its beginning.
const WINDOWS: [u64; 2] = [160, 64];
/// Blocks that are looked at in each window.
const LOOKS: u64 = 16;
/// The least that must be written in one piece.
const LEAST: u64 = 16 << 20;

pub(super) fn measure(flash: &mut FlashProbe<'_>) -> Result<(), ProbeError> {
    [flash.written, flash.empty] = ranges(flash.drive)?;
    Ok(())
}

/// The longest range that was found to hold data.
///
/// # Errors
/// [`ProbeError::Failed`] if it cannot be read, [`Unsuitable::NothingWritten`] if nothing is
/// written.
pub fn written_range(drive: &mut dyn TimedDrive) -> Result<Range<u64>, ProbeError> {
    let [written, _] = ranges(drive)?;
    // `ranges` gives one at least.
    Ok(written.into_iter().next().unwrap_or(0..0))
}

/// Ranges with data and ranges without, the longest first; one with data at least.
fn ranges(drive: &mut dyn TimedDrive) -> Result<[Vec<Range<u64>>; 2], ProbeError> {
    let (mut written, mut empty) = (Vec::new(), Vec::new());
    let bytes = drive.bytes();
    let window = WINDOW.min(bytes / 4 / BLOCK * BLOCK).max(BLOCK);
    let mut starts: Vec<u64> = (0..WINDOWS[1]).map(|n| n * window).collect();
    let step = bytes / WINDOWS[0];
    starts.extend((0..WINDOWS[0]).map(|n| n * step / window * window));
    starts.retain(|start| start + window <= bytes);
    starts.sort_unstable();
    starts.dedup();
    for start in starts {
        let mut data = 0;
        for look in 0..LOOKS {
            let offset = start + (window - BLOCK) / (LOOKS - 1) * look / BLOCK * BLOCK;
            data += u64::from(drive.has_data(offset, BLOCK)?);
        }
        let range = start..start + window;
        match data {
            LOOKS => add(&mut written, range),
            0 => add(&mut empty, range),
            _ => {}
        }
    }
    for ranges in [&mut written, &mut empty] {
        ranges.sort_by_key(|range| std::cmp::Reverse(range.end - range.start));
    }
    if written.first().is_none_or(|range| range.end - range.start < LEAST) {
        return Err(Unsuitable::NothingWritten.into());
    }
    Ok([written, empty])
}

/// Adds a range behind the last, or to it.
fn add(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}
