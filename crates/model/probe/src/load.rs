//! The loads of which a probe consists.

use crate::estimate::ProbedValue;
use disklab_units::Bytes;

use crate::error::{ProbeError, Unsuitable};
use crate::timed::{DriveAccess, TimedAccess, TimedDrive};

/// The smallest request that is used: a physical sector of today's drives.
pub(crate) const BLOCK: u64 = 4096;

/// The smallest drive that is probed: all loads fit on it, far from one another.
const SMALLEST: u64 = 4 << 30;

/// Refuses a drive on which the loads have no room.
pub(crate) fn check_size(bytes: u64) -> Result<(), ProbeError> {
    if bytes >= SMALLEST {
        return Ok(());
    }
    Err(Unsuitable::TooSmall { has: Bytes(bytes), least: Bytes(SMALLEST) }.into())
}

/// Carries one request out, while nothing else is in flight.
pub(crate) fn carry_out(
    drive: &mut dyn TimedDrive,
    access: DriveAccess,
) -> Result<TimedAccess, ProbeError> {
    drive.submit(access)?;
    drive.complete()
}

/// Reads `count` times `bytes`, one read after the other, from `offset` on.
pub(crate) fn stream(
    drive: &mut dyn TimedDrive,
    offset: u64,
    bytes: u64,
    count: u64,
) -> Result<Vec<TimedAccess>, ProbeError> {
    (0..count).map(|n| carry_out(drive, DriveAccess::read(offset + n * bytes, bytes))).collect()
}

/// Keeps `depth` requests in flight until `next` gives none; gives all in the order of
/// their completion.
pub(crate) fn keep_busy(
    drive: &mut dyn TimedDrive,
    depth: u64,
    mut next: impl FnMut() -> Option<DriveAccess>,
) -> Result<Vec<TimedAccess>, ProbeError> {
    let (mut done, mut in_flight) = (Vec::new(), 0_u64);
    while in_flight < depth
        && let Some(access) = next()
    {
        drive.submit(access)?;
        in_flight += 1;
    }
    while in_flight > 0 {
        done.push(drive.complete()?);
        in_flight -= 1;
        if let Some(access) = next() {
            drive.submit(access)?;
            in_flight += 1;
        }
    }
    Ok(done)
}

/// Requests per second of a load whose first `warm_up` completions do not count.
pub(crate) fn per_second(done: &[TimedAccess], warm_up: usize) -> Option<f64> {
    let begun = done.get(warm_up)?.completed;
    let end = done.last()?.completed;
    let count = done.len() - warm_up - 1;
    (count > 0 && end > begun).then(|| count as f64 / (end - begun) as f64 * 1e9)
}

/// Parts of a load that give its interval.
const PARTS: usize = 10;

/// Requests per second over all, and the interval from those of parts with equally many
/// requests each; the first part warms up.
pub(crate) fn steady_rate(done: &[TimedAccess]) -> Option<ProbedValue> {
    let part = done.len() / (PARTS + 1);
    let end = |n: usize| Some(done.get((n * part).checked_sub(1)?)?.completed);
    let ends: Vec<u64> = (1..=PARTS + 1).map(end).collect::<Option<_>>()?;
    let rates: Vec<f64> = ends
        .windows(2)
        .map(|pair| part as f64 * 1e9 / pair[1].saturating_sub(pair[0]).max(1) as f64)
        .collect();
    let total = ends.last()?.saturating_sub(*ends.first()?).max(1) as f64;
    let rate = (part * PARTS) as f64 * 1e9 / total;
    let mean = rates.iter().sum::<f64>() / PARTS as f64;
    let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (PARTS - 1) as f64;
    // Student's t of nine degrees of freedom.
    Some(ProbedValue::within(rate, 2.262 * (variance / PARTS as f64).sqrt(), part * PARTS))
}
