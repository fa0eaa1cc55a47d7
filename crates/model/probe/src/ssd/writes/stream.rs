//! A long sequential write: the rate into the SLC cache, how much that takes in, and the rate
//! behind it.

use rand::Rng;

use super::flash_writes::{FlashWrites, LONG_REST, PIECE, REST};
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, median, median_error};
use crate::findings::MeasuredCurve;
use crate::load::{BLOCK, keep_busy, per_second};
use crate::timed::DriveAccess;

/// Windows over which rates are taken, and their least size in pieces.
const WINDOWS: (u64, u64) = (1000, 32);
/// Windows that show the rate at the beginning, behind the first, which warms up.
const FIRST: usize = 4;
/// Windows in a row that must be slower than this part of it for the cache to be full.
const SLOWER: (usize, f64) = (4, 0.93);
/// A rate that is this part of what the link or the channels carry is theirs.
const CARRIED: f64 = 0.96;
/// The largest part of its work that a drive file may have a drive spend on emptying its cache.
const MOST_SHARE: f64 = 0.9;
/// Random writes behind it: requests, and how many at a time.
const RANDOM: (u64, u64) = (100_000, 32);

/// What the windows' rates show.
#[derive(Debug, Clone, PartialEq)]
struct Phases {
    /// B/s at first.
    fast: ProbedValue,
    /// Where it slows, in windows, and the rate from there on.
    slow: Option<(f64, ProbedValue)>,
    /// Where it is fast again, in windows.
    again: Option<f64>,
}

pub(super) fn measure(writes: &mut FlashWrites<'_>) -> Result<(), ProbeError> {
    writes.flush()?;
    let is_lazy = writes.is_cached && !writes.findings.values.contains_key("slc-cache.fold-delay");
    writes.drive.idle(if is_lazy { LONG_REST } else { REST })?;
    let pieces = (writes.room.end - writes.room.start) / PIECE.0;
    let window = (pieces / WINDOWS.0).max(WINDOWS.1);
    let rates = rates(writes, pieces, window)?;
    let bytes = (window * PIECE.0) as f64;
    writes.findings.curves.push(MeasuredCurve {
        title: "Rate of a sequential write over what was written",
        columns: ["GB", "MB/s"],
        points: rates.iter().enumerate().map(|(n, r)| (n as f64 * bytes / 1e9, r / 1e6)).collect(),
    });
    if let Some(phases) = phases(&rates) {
        let written = disklab_units::Bytes(pieces * PIECE.0).iec();
        judge(writes, &phases, bytes, &written);
    }
    random_rate(writes)
}

/// Rates of windows, B/s.
fn rates(writes: &mut FlashWrites<'_>, pieces: u64, window: u64) -> Result<Vec<f64>, ProbeError> {
    let (start, mut next) = (writes.room.start, 0);
    let done = keep_busy(writes.drive, PIECE.1, || {
        let access = DriveAccess::write(start + next * PIECE.0, PIECE.0);
        next += 1;
        (next <= pieces).then_some(access)
    })?;
    let bytes = (window * PIECE.0) as f64;
    let ends: Vec<u64> = done.iter().map(|done| done.completed).step_by(window as usize).collect();
    let rate = |pair: &[u64]| bytes / pair[1].saturating_sub(pair[0]).max(1) as f64 * 1e9;
    Ok(ends.windows(2).map(rate).collect())
}

/// The phases of a long write; `None` if it is too short to show any.
fn phases(rates: &[f64]) -> Option<Phases> {
    let fast = value(rates.get(1..=FIRST)?);
    let (count, part) = SLOWER;
    let slower = |window: &[f64]| window.iter().all(|rate| *rate < part * fast.value);
    let Some(full) = rates.windows(count).position(slower) else {
        return Some(Phases { fast, slow: None, again: None });
    };
    let behind = &rates[full + 1..];
    let bound = f64::midpoint(fast.value, median(behind.get(..count)?));
    let again = behind.iter().position(|rate| *rate > bound).map(|at| full + 1 + at);
    let slow = value(&rates[full + 1..again.unwrap_or(rates.len())]);
    // A window in which the rate changes has a part of each.
    let part = |at: usize, before: f64, after: f64| {
        let took = 1.0 / rates.get(at).copied().unwrap_or(after);
        ((took - 1.0 / after) / (1.0 / before - 1.0 / after)).clamp(0.0, 1.0)
    };
    let fast_rate = value(&rates[1..full.max(2)]).value;
    let end = full as f64 + part(full, fast_rate, slow.value);
    let again = again.map(|at| at as f64 + part(at, slow.value, fast_rate));
    Some(Phases { fast, slow: Some((end, slow)), again })
}

fn value(rates: &[f64]) -> ProbedValue {
    ProbedValue::within(median(rates), median_error(rates), rates.len())
}

/// From rates to what the flash takes.
fn judge(writes: &mut FlashWrites<'_>, phases: &Phases, window: f64, written: &str) {
    let rate = |rate: f64| format!("{:.0} MB/s", rate / 1e6);
    let Phases { fast, slow, again } = phases;
    let Some((full, slow)) = slow else {
        let fast_rate = rate(fast.value);
        writes.findings.note(format!("{written} were written at {fast_rate} without slowing"));
        if !writes.is_cached {
            program(writes, "flash.program", *fast, 0.0, 0.0);
        }
        return;
    };
    writes.findings.note(format!(
        "a sequential write slows from {} to {} behind {}",
        rate(fast.value),
        rate(slow.value),
        disklab_units::Bytes((full * window) as u64).iec()
    ));
    if !writes.is_cached {
        return;
    }
    program(writes, "slc-cache.program", *fast, 0.0, 0.0);
    let size = ProbedValue::within(full * window, window, 1);
    writes.findings.found("slc-cache.size", size);
    let ratio = again.map(|again| full / (again - full).max(1.0));
    if let Some(ratio) = ratio {
        let error = ratio / full.max(1.0);
        let share = ProbedValue::within(ratio, error, 1)
            .map(|ratio| (ratio / (1.0 + ratio)).min(MOST_SHARE));
        writes.findings.found("slc-cache.fold-share", share);
    } else {
        writes.findings.note(format!(
            "the SLC cache is not empty again within {written}: which part of the flash's work \
             empties it is the sibling's, and only its sum with flash.program is measured"
        ));
    }
    let share = writes.known("slc-cache.fold-share").clamp(0.0, MOST_SHARE);
    let page = writes.known("flash.page") * writes.channel();
    let copied = writes.known("slc-cache.read") + page;
    program(writes, "flash.program", *slow, share / (1.0 - share), copied);
}

/// What programming a page takes, if all dies together write at `rate` and copy `ratio` pages for
/// each, each of which costs `copied` to read.
fn program(
    writes: &mut FlashWrites<'_>,
    path: &'static str,
    rate: ProbedValue,
    ratio: f64,
    copied: f64,
) {
    let dies = writes.known("flash.channels") * writes.known("flash.dies-per-channel");
    let carried = writes.known("interface.link");
    let on_channels = writes.known("flash.channels") * writes.known("flash.channel-rate");
    let page = writes.known("flash.page");
    if rate.value > CARRIED * carried || rate.value * (1.0 + ratio) > CARRIED * on_channels {
        writes.findings.note(format!(
            "{path}: {:.0} MB/s are what the link or the channels carry, and the flash may be faster",
            rate.value / 1e6
        ));
        return;
    }
    let each = |rate: f64| dies * page / rate.max(1.0) * 1e9;
    let transfer = page * writes.channel();
    let time = rate.map(|rate| ((each(rate) - ratio * copied) / (1.0 + ratio) - transfer).max(1.0));
    writes.findings.found(path, time);
}

/// What random writes come to behind the cache.
fn random_rate(writes: &mut FlashWrites<'_>) -> Result<(), ProbeError> {
    let (mut left, depth) = RANDOM;
    let depth = writes.drive.queue_depth().map_or(depth, |deepest| depth.min(deepest.max(1)));
    let (room, random) = (writes.room.clone(), &mut writes.random);
    let blocks = (room.end - room.start) / BLOCK;
    let done = keep_busy(writes.drive, depth, || {
        left = left.checked_sub(1)?;
        Some(DriveAccess::write(room.start + random.random_range(0..blocks) * BLOCK, BLOCK))
    })?;
    if let Some(rate) = per_second(&done, done.len() / 2) {
        writes.findings.note(format!(
            "random writes of 4 KiB behind that, {depth} at a time: {rate:.0} a second; a drive that \
             is full and was written at random everywhere makes fewer"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_found_between_windows() {
        let mut rates = vec![400.0; 40];
        rates[20] = 1.0 / (0.25 / 400.0 + 0.75 / 100.0);
        rates[21..].fill(100.0);
        let found = phases(&rates).expect("phases");
        let (full, slow) = found.slow.expect("it slows");
        assert!((full - 20.25).abs() < 0.01, "{full}");
        assert_eq!((found.fast.value, slow.value, found.again), (400.0, 100.0, None));
        rates.extend([400.0; 10]);
        let again = phases(&rates).expect("phases").again.expect("fast again");
        assert!((again - 40.0).abs() < 0.01, "{again}");
    }

    #[test]
    fn a_steady_rate_has_one_phase() {
        assert_eq!(phases(&[300.0; 30]).expect("phases").slow, None);
        assert_eq!(phases(&[300.0; 3]), None);
        // One slow window is no end of a cache.
        let mut rates = [300.0; 30];
        rates[9] = 10.0;
        assert_eq!(phases(&rates).expect("phases").slow, None);
    }
}
