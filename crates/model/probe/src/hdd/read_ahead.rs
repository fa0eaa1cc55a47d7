//! How far the drive reads ahead, and how many places it remembers.

use super::disk_probe::DiskProbe;
use crate::error::ProbeError;
use crate::estimate::ProbedValue;
use crate::load::{BLOCK, carry_out};
use crate::timed::DriveAccess;

/// The largest segment that is looked for.
const LARGEST: u64 = 64 << 20;
/// The most segments that are looked for.
const MOST: u64 = 512;
/// Tries of each length or count, most of which decide.
const TRIES: usize = 3;

pub(super) fn measure(disk: &mut DiskProbe<'_>) -> Result<(), ProbeError> {
    if disk.hit <= 0.0 {
        return Ok(());
    }
    let (low, high) = between(BLOCK, LARGEST, BLOCK, |bytes| holds(disk, bytes))?;
    let segment = ProbedValue::between(low as f64, low as f64, high as f64, TRIES);
    disk.findings.found("cache.segment-size", segment);
    let (low, high) = between(1, MOST, 1, |places| remembers(disk, places))?;
    if high > MOST {
        disk.findings.note(format!("the drive remembers more than {MOST} places"));
    }
    disk.findings
        .found("cache.segments", ProbedValue::between(low as f64, low as f64, high as f64, TRIES));
    Ok(())
}

/// The largest number that holds and the smallest that does not, in steps of `unit`; `low`
/// holds, and beyond `high` nothing is tried.
fn between(
    mut low: u64,
    most: u64,
    unit: u64,
    mut test: impl FnMut(u64) -> Result<bool, ProbeError>,
) -> Result<(u64, u64), ProbeError> {
    let mut high = low;
    loop {
        high *= 2;
        if high > most {
            return Ok((low, high));
        }
        if !test(high)? {
            break;
        }
        low = high;
    }
    while high - low > unit {
        let middle = low + (high - low) / unit / 2 * unit;
        if test(middle)? { low = middle } else { high = middle }
    }
    Ok((low, high))
}

/// Whether most of some tries are answered from memory.
fn mostly(
    disk: &mut DiskProbe<'_>,
    mut attempt: impl FnMut(&mut DiskProbe<'_>) -> Result<f64, ProbeError>,
) -> Result<bool, ProbeError> {
    let mut hits = 0;
    for _ in 0..TRIES {
        hits += usize::from(attempt(disk)? < 1.5 * disk.hit + 20e3);
    }
    Ok(hits > TRIES / 2)
}

/// Whether the drive reads `bytes` ahead of a read.
fn holds(disk: &mut DiskProbe<'_>, bytes: u64) -> Result<bool, ProbeError> {
    mostly(disk, |disk| {
        let place = disk.anywhere(bytes + 2 * BLOCK);
        carry_out(disk.drive, DriveAccess::read(place, BLOCK))?;
        let enough = bytes as f64 / disk.rates[1] * 1.3e9 + 3.0 * disk.revolution;
        disk.drive.idle(enough as u64)?;
        Ok(carry_out(disk.drive, DriveAccess::read(place + bytes, BLOCK))?.took() as f64)
    })
}

/// Whether the first of so many places is still in memory.
fn remembers(disk: &mut DiskProbe<'_>, places: u64) -> Result<bool, ProbeError> {
    mostly(disk, |disk| {
        let first = disk.anywhere(BLOCK);
        carry_out(disk.drive, DriveAccess::read(first, BLOCK))?;
        for _ in 1..places {
            let place = disk.anywhere(BLOCK);
            carry_out(disk.drive, DriveAccess::read(place, BLOCK))?;
        }
        Ok(carry_out(disk.drive, DriveAccess::read(first, BLOCK))?.took() as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_is_found() {
        for border in [1, 2, 3, 16, 31, 32, 33, 100] {
            let found = between(1, 512, 1, |n| Ok(n <= border)).unwrap();
            assert_eq!(found, (border, border + 1));
        }
        assert_eq!(between(1, 512, 1, |_| Ok(true)).unwrap(), (512, 1024));
    }
}
