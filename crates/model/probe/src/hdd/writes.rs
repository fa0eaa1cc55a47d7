//! What a hard disk's write cache takes in, and how fast it is written out.
//!
//! The only part of a probe that writes, and only where it is told to.

use std::ops::Range;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{ProbeError, Unsuitable};
use crate::estimate::{ProbedValue, median, median_error};
use crate::findings::{Findings, MeasuredCurve};
use crate::load::{BLOCK, carry_out};
use crate::progress::ProbeWatcher;
use crate::timed::{DriveAccess, TimedDrive};

/// The least room: pieces at random offsets seldom touch one another.
const LEAST_ROOM: u64 = 1 << 30;
/// Pieces that tell roughly how much data the cache holds.
const PIECE: u64 = 1 << 20;
/// Pieces of which the cache is to hold at least so many, and fewer than twice as many, tell it
/// within one of them: enough for 2 %, and a quarter to a half of the extents that most models keep.
const PIECES: u64 = 64;
/// The largest piece.
const LARGEST: u64 = 4 << 20;
/// A cache that holds more pieces than this share of its extents may be full of extents, and not of
/// data.
const OF_EXTENTS: f64 = 0.6;
/// Times that the cache is filled.
const ROUNDS: usize = 5;
/// Writes that are written out alone.
const ALONE: usize = 24;
/// Writes after which a cache that does not fill is given up.
const MOST: usize = 4096;
/// Writes that must be fast for a cache to be there: as few extents as any disk is assumed to keep.
const FIRST: usize = 4;
/// Writes behind the first slow one, which give the rate of writing out.
const STEADY: usize = 64;
/// A write that waits for the platters takes longer than one from memory by more than this: a
/// short seek, ns. No drive positions in less.
const WAIT: f64 = 1e6;

/// Memory is counted in physical sectors, as drive files have it.
const SECTOR: f64 = 4096.0;

/// One filling of the cache.
struct Filling {
    /// What each write took, ns.
    took: Vec<f64>,
    /// Writes before the first slow one.
    fast: usize,
    /// When that began, since the first write, ns.
    full_after: f64,
    /// Writes a second from then on.
    rate: f64,
}

/// Several fillings, and what it takes to write out a piece that waits alone, ns.
struct Fillings {
    all: Vec<Filling>,
    alone: f64,
}

impl Fillings {
    /// Writes that waited in the cache when it was full, for each filling: what was written out
    /// meanwhile does not count.
    fn held(&self) -> Vec<f64> {
        self.all.iter().map(|filling| filling.fast as f64 - self.written(filling)).collect()
    }

    /// Pieces that were written out while a cache was filled. With few to choose from, each takes
    /// longer than when the cache is full: the time to the nearest of n falls as 1/√n.
    fn written(&self, filling: &Filling) -> f64 {
        const STEPS: usize = 64;
        if filling.rate <= 0.0 {
            return 0.0;
        }
        let (full, most) = (1e9 / filling.rate, filling.fast.max(2) as f64);
        let way = ((self.alone - full) / (1.0 - 1.0 / most.sqrt())).max(0.0);
        let rest = full - way / most.sqrt();
        let at = |step: usize| {
            let waiting = (step as f64 + 0.5) / STEPS as f64 * most;
            1.0 / (rest + way / waiting.max(1.0).sqrt()).max(1.0)
        };
        filling.full_after * (0..STEPS).map(at).sum::<f64>() / STEPS as f64
    }
}

/// Measures the write cache of a hard disk by writing at random offsets in `room`, all of whose
/// content is lost. `link` is what the drive's link carries, B/s, as far as that is known.
///
/// # Errors
/// If a request fails, something disturbs the drive, or there is too little room.
pub fn probe_write_cache(
    drive: &mut dyn TimedDrive,
    room: Range<u64>,
    link: Option<f64>,
    seed: u64,
    watcher: &mut dyn ProbeWatcher,
) -> Result<Findings, ProbeError> {
    if room.end > drive.bytes() || room.end.saturating_sub(room.start) < LEAST_ROOM {
        let least = disklab_units::Bytes(LEAST_ROOM);
        return Err(Unsuitable::TooLittleRoom { least }.into());
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut findings = Findings::default();
    watcher.step("writes of 4 KiB into the cache", 60.0)?;
    let small = fillings(drive, &room, BLOCK, &mut random)?;
    let first: Vec<f64> =
        small.all.iter().flat_map(|f| f.took.iter().take(FIRST).copied()).collect();
    if small.all.iter().any(|filling| filling.fast < FIRST) {
        let ms = median(&first) * 1e-6;
        findings.note(format!(
            "no write cache: a write takes {ms:.1} ms from the first on (`hdparm -W` says whether \
             it is off)"
        ));
        return Ok(findings);
    }
    if let Some(link) = link.filter(|link| *link > 0.0) {
        let overhead = median(&first) - BLOCK as f64 / link * 1e9;
        let error = median_error(&first).max(100.0);
        let overhead = ProbedValue::within(overhead.max(1.0), error, first.len());
        findings.found("interface.write-overhead", overhead);
    }
    // The one on its way to the platters is none of those that wait in the list.
    hold(&mut findings, "cache.dirty-extents", &small, 1.0, 1.0);
    tell_rate(&mut findings, &small.all);
    watcher.step("large writes into the cache", 40.0)?;
    let mut large = fillings(drive, &room, PIECE, &mut random)?;
    let rough = median(&large.held()).max(0.0) as u64 * PIECE;
    let piece = (1 << (rough / PIECES).max(BLOCK).ilog2()).min(LARGEST);
    if piece != PIECE {
        large = fillings(drive, &room, piece, &mut random)?;
    }
    if median(&large.held()) > OF_EXTENTS * median(&small.held()) {
        findings.note(
            "cache.dirty-limit: the cache is full of so few extents that its memory never is",
        );
    } else {
        // The first that waits may have had room for a part of it: half, in the mean.
        hold(&mut findings, "cache.dirty-limit", &large, piece as f64, -0.5);
    }
    carry_out(drive, DriveAccess::flush())?;
    Ok(findings)
}

/// Notes what the cache held, in units of `size`, less `leaving` of them.
fn hold(findings: &mut Findings, path: &'static str, fillings: &Fillings, size: f64, leaving: f64) {
    if fillings.all.iter().any(|filling| filling.fast >= MOST) {
        let all = disklab_units::Bytes((MOST as f64 * size) as u64).iec();
        let what = if size > 1.0 { all } else { format!("{MOST} writes") };
        findings.note(format!("{path}: the cache takes {what} without slowing"));
        return;
    }
    let held: Vec<f64> = fillings.held().iter().map(|count| (count - leaving) * size).collect();
    let value = median(&held);
    // One write more or less is not seen.
    let error = median_error(&held).max(size);
    let whole = |value: f64| if size > 1.0 { (value / SECTOR).round() * SECTOR } else { value };
    findings.found(path, ProbedValue::within(value, error, held.len()).map(whole));
}

/// Says how fast random writes are beyond the cache, and shows one filling.
fn tell_rate(findings: &mut Findings, fillings: &[Filling]) {
    let rates: Vec<f64> = fillings.iter().map(|filling| filling.rate).collect();
    findings.note(format!(
        "random writes of 4 KiB within this room, the cache being full: {:.0} a second",
        median(&rates)
    ));
    let Some(filling) = fillings.first() else { return };
    let points = filling.took.iter().enumerate();
    findings.curves.push(MeasuredCurve {
        title: "time of random writes into an empty cache",
        columns: ["write", "ns"],
        points: points.map(|(number, took)| (number as f64, *took)).collect(),
    });
}

fn fillings(
    drive: &mut dyn TimedDrive,
    room: &Range<u64>,
    bytes: u64,
    random: &mut ChaCha8Rng,
) -> Result<Fillings, ProbeError> {
    carry_out(drive, DriveAccess::flush())?;
    let places = (room.end - room.start) / bytes;
    let mut alone = Vec::new();
    for _ in 0..ALONE {
        let place = room.start + random.random_range(0..places) * bytes;
        carry_out(drive, DriveAccess::write(place, bytes))?;
        alone.push(carry_out(drive, DriveAccess::flush())?.took() as f64);
    }
    let all = (0..ROUNDS).map(|_| fill(drive, room, bytes, random)).collect::<Result<_, _>>()?;
    let alone = alone.iter().sum::<f64>() / ALONE as f64;
    Ok(Fillings { all, alone })
}

/// Writes into an empty cache until it is full, and on.
fn fill(
    drive: &mut dyn TimedDrive,
    room: &Range<u64>,
    bytes: u64,
    random: &mut ChaCha8Rng,
) -> Result<Filling, ProbeError> {
    carry_out(drive, DriveAccess::flush())?;
    let places = (room.end - room.start) / bytes;
    let begun = drive.now();
    let (mut took, mut ends) = (Vec::new(), Vec::new());
    let mut full = None;
    while took.len() < MOST && full.is_none_or(|(at, _)| took.len() < at + STEADY) {
        let place = room.start + random.random_range(0..places) * bytes;
        let done = carry_out(drive, DriveAccess::write(place, bytes))?;
        took.push(done.took() as f64);
        ends.push((done.completed - begun) as f64);
        let usual = median(&took[..took.len().min(FIRST)]);
        if full.is_none() && done.took() as f64 > usual + WAIT {
            full = Some((took.len() - 1, (done.submitted - begun) as f64));
        }
    }
    let (fast, full_after) = full.unwrap_or((took.len(), 0.0));
    let steady = ends.get(fast).zip(ends.last()).map_or(0.0, |(first, last)| last - first);
    let rate = if steady > 0.0 { (took.len() - 1 - fast) as f64 / steady * 1e9 } else { 0.0 };
    Ok(Filling { took, fast, full_after, rate })
}
