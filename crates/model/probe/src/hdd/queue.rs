//! What the drive gains from a queue, and how long it lets a request wait.

use std::collections::BTreeMap;

use disklab_drive::Kind;
use disklab_drive::hdd::WHOLE_QUEUE;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::disk_probe::DiskProbe;
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, median, median_error};
use crate::findings::{Findings, MeasuredCurve};
use crate::load::{BLOCK, keep_busy, per_second};
use crate::modelled::ModelledDrive;
use crate::timed::{DriveAccess, TimedDrive};

/// Depths, and random reads at each.
const DEPTHS: [(u64, u64); 6] = [(1, 300), (2, 400), (4, 500), (8, 800), (16, 1500), (32, 8000)];
/// Steps of the search for the quality, each of which halves the interval.
const HALVINGS: usize = 6;
/// Reads of a modelled queue in that search.
const MODELLED: u64 = 16_000;
/// The depth at which no drive is known to have stopped gaining, and by which part a drive makes
/// less at the deepest than what it makes there promises, if it has stopped since.
const SHALLOW: (u64, f64) = (8, 0.85);
/// Requests that are starved, one after the other.
const STARVED: usize = 6;
/// Reads nearby that starve one, at most: some ten seconds.
const NEARBY: usize = 6000;

pub(super) fn measure(disk: &mut DiskProbe<'_>) -> Result<(), ProbeError> {
    let deepest = disk.drive.queue_depth().unwrap_or(32).clamp(1, 32);
    let mut points = Vec::new();
    for (depth, count) in DEPTHS.iter().filter(|(depth, _)| *depth <= deepest) {
        let seed = disk.random.random();
        points.extend(iops(disk.drive, *depth, *count, seed)?.map(|iops| (*depth as f64, iops)));
    }
    disk.findings.curves.push(MeasuredCurve {
        title: "Random reads of 4 KiB over the depth of the queue",
        columns: ["depth", "per second"],
        points: points.clone(),
    });
    if let Some((depth, measured)) = points.last().copied().filter(|(depth, _)| *depth > 4.0) {
        let shallow = points.iter().find(|(depth, _)| *depth == SHALLOW.0 as f64);
        choice(disk, depth as u64, measured, shallow.map(|(_, iops)| *iops));
        age(disk, depth as u64)?;
    } else {
        disk.findings.note("without a queue the drive's choice among requests does not show");
    }
    Ok(())
}

/// Random reads per second with `depth` in flight.
fn iops(
    drive: &mut dyn TimedDrive,
    depth: u64,
    count: u64,
    seed: u64,
) -> Result<Option<f64>, ProbeError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let blocks = (drive.bytes() / BLOCK).max(1);
    let mut left = count;
    let done = keep_busy(drive, depth, || {
        left = left.checked_sub(1)?;
        Some(DriveAccess::read(random.random_range(0..blocks) * BLOCK, BLOCK))
    })?;
    // The queue fills at the beginning and empties at the end.
    let full = done.len().saturating_sub(depth as usize);
    Ok(per_second(&done[..full], depth as usize * 2))
}

/// Among how many requests the drive chooses: a part of those that wait, or, if it stops
/// gaining at some depth, so many at most.
fn choice(disk: &mut DiskProbe<'_>, depth: u64, measured: f64, shallow: Option<f64>) {
    let seed = disk.random.random();
    let stops = shallow.is_some_and(|iops| {
        let model = |window| modelled_iops(disk, SHALLOW.0, (1.0, window), seed);
        // Of eight in flight one is carried out, and seven wait.
        let part = nearest(SHALLOW.0 - 1, iops, model)
            .map(|looked_at| (looked_at - 1) as f64 / (SHALLOW.0 - 2) as f64);
        let promised = part.and_then(|q| modelled_iops(disk, depth, (q, WHOLE_QUEUE), seed));
        promised.is_some_and(|promised| measured < SHALLOW.1 * promised)
    });
    if stops { window(disk, depth, measured, seed) } else { quality(disk, depth, measured, seed) }
}

/// By how much a number of reads per second may be off: they are some thousand, whose times
/// scatter by half of their mean.
fn error(measured: f64) -> f64 {
    measured * 1.96 * 0.5 / (DEPTHS[5].1 as f64).sqrt()
}

/// What was measured, and the ends of its interval: a choice is looked for that gives each.
fn targets(measured: f64) -> [f64; 3] {
    let error = error(measured);
    [measured, measured - error, measured + error]
}

/// Notes the choice that was found for each of the targets; gives the first.
fn note_choice(
    disk: &mut DiskProbe<'_>,
    path: &'static str,
    found: [Option<f64>; 3],
) -> Option<f64> {
    let [Some(value), Some(low), Some(high)] = found else {
        disk.findings.note("no model with these values: what a queue gains is not inverted");
        return None;
    };
    let samples = DEPTHS[5].1 as usize;
    disk.findings
        .found(path, ProbedValue::between(low.min(value), value, high.max(value), samples));
    Some(value)
}

/// The window with which a model that is otherwise like the drive makes as many reads.
fn window(disk: &mut DiskProbe<'_>, depth: u64, measured: f64, seed: u64) {
    let mut known: BTreeMap<u64, Option<f64>> = BTreeMap::new();
    let mut modelled = |window: u64| {
        let model = || modelled_iops(disk, depth, (1.0, window), seed);
        *known.entry(window).or_insert_with(model)
    };
    let found = targets(measured)
        .map(|target| nearest(depth, target, &mut modelled).map(|window| window as f64));
    if let Some(value) = note_choice(disk, "interface.ncq-window", found) {
        disk.findings.note(format!(
            "the drive gains nothing from more than {value} requests: which part of fewer it looks \
             at does not show"
        ));
    }
}

/// The window from 1 to `depth` with which `modelled`, which rises with it, comes nearest to
/// `target`.
fn nearest(depth: u64, target: f64, mut modelled: impl FnMut(u64) -> Option<f64>) -> Option<u64> {
    let (mut low, mut high) = (1, depth);
    while low < high {
        let middle = u64::midpoint(low, high);
        if modelled(middle)? < target { low = middle + 1 } else { high = middle }
    }
    let below = low.saturating_sub(1).max(1);
    let mut distance = |window| modelled(window).map(|iops| (iops - target).abs());
    Some(if distance(below)? < distance(low)? { below } else { low })
}

/// The quality with which a model that is otherwise like the drive makes as many reads.
fn quality(disk: &mut DiskProbe<'_>, depth: u64, measured: f64, seed: u64) {
    let mut known: BTreeMap<u64, Option<f64>> = BTreeMap::new();
    let mut modelled = |quality: f64| {
        let model = || modelled_iops(disk, depth, (quality, WHOLE_QUEUE), seed);
        *known.entry(quality.to_bits()).or_insert_with(model)
    };
    let found = targets(measured).map(|target| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if modelled(middle)? < target { low = middle } else { high = middle }
        }
        Some(f64::midpoint(low, high))
    });
    note_choice(disk, "interface.ncq-quality", found);
}

/// What a model makes of the load, with the values found so far and this quality and window of
/// its queue.
fn modelled_iops(disk: &DiskProbe<'_>, depth: u64, choice: (f64, u64), seed: u64) -> Option<f64> {
    let mut file = disk.basis.clone();
    apply(&disk.findings, &mut file.kind, disk.drive.bytes());
    let own = match &mut file.kind {
        Kind::Hdd(p) => Some(p),
        Kind::Smr(p) => Some(&mut p.disk),
        Kind::Ssd(_) => None,
    };
    if let Some(p) = own {
        (p.ncq_quality, p.ncq_window) = choice;
        p.queue_depth = depth.max(32);
    }
    if let Kind::Hdd(p) = &file.kind {
        p.check().ok()?;
    }
    let mut model = ModelledDrive::new(file.build(seed), None);
    iops(&mut model, depth, MODELLED, seed).ok().flatten()
}

/// Gives a model the values that were found.
fn apply(findings: &Findings, kind: &mut Kind, bytes: u64) {
    let capacity =
        |p: &mut disklab_drive::hdd::Parameters| (p.capacity, p.visible) = (bytes, bytes);
    match kind {
        Kind::Hdd(p) => capacity(p),
        Kind::Smr(p) => p.disk.visible = bytes,
        Kind::Ssd(_) => {}
    }
    for (path, estimate) in &findings.values {
        if let Some(field) = crate::Field::by_path(path)
            && !path.starts_with("cache.")
        {
            field.set(kind, estimate.value);
        }
    }
}

/// How long a far request waits while the others lie where the arm is.
fn age(disk: &mut DiskProbe<'_>, depth: u64) -> Result<(), ProbeError> {
    let span = (512 << 20).min(disk.room(BLOCK) / 8) / BLOCK;
    let far = disk.room(BLOCK);
    let mut waited = Vec::new();
    for n in 0..STARVED {
        let mut random = ChaCha8Rng::seed_from_u64(disk.random.random());
        let mut near = move || DriveAccess::read(random.random_range(0..span) * BLOCK, BLOCK);
        for _ in 1..depth {
            disk.drive.submit(near())?;
        }
        // The arm is there.
        for _ in 1..depth {
            disk.drive.complete()?;
            disk.drive.submit(near())?;
        }
        let distant = DriveAccess::read(far - n as u64 * (64 << 20), BLOCK);
        disk.drive.submit(distant)?;
        let mut in_flight = depth;
        for _ in 0..NEARBY {
            let done = disk.drive.complete()?;
            if done.access == distant {
                waited.push(done.took() as f64);
                in_flight -= 1;
                break;
            }
            disk.drive.submit(near())?;
        }
        for _ in 0..in_flight {
            disk.drive.complete()?;
        }
    }
    let seek = disk.findings.value("seek.full").unwrap_or_default() + disk.revolution;
    let age = median(&waited) - seek;
    if waited.len() < STARVED || age < 10.0 * seek {
        disk.findings.note("no request starves: how old one may become does not show");
        return Ok(());
    }
    let error = median_error(&waited).max(seek);
    disk.findings.found("interface.queue-age", ProbedValue::within(age, error, STARVED));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_found_whose_model_does_as_much() {
        let iops = |window: u64| Some(80.0 * (window as f64).powf(0.3));
        for window in [1, 2, 4, 17, 24, 32] {
            let target = iops(window).unwrap();
            for off in [0.997, 1.0, 1.004] {
                assert_eq!(nearest(32, target * off, iops), Some(window), "{off}");
            }
        }
        assert_eq!(nearest(32, 1e6, iops), Some(32));
        assert_eq!(nearest(32, 1.0, iops), Some(1));
        assert_eq!(nearest(32, 100.0, |_| None), None);
    }
}
