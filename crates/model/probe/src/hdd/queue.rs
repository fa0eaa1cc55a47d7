//! What the drive gains from a queue, and how long it lets a request wait.

use std::collections::BTreeMap;

use disklab_drive::Kind;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::DiskProbe;
use crate::estimate::{ProbedValue, median, median_error};
use crate::findings::{Findings, MeasuredCurve};
use crate::load::{BLOCK, keep_busy, per_second};
use crate::timed::{DriveAccess, ModelledDrive, ProbeError, TimedDrive};

/// Depths, and random reads at each.
const DEPTHS: [(u64, u64); 6] = [(1, 300), (2, 400), (4, 500), (8, 800), (16, 1500), (32, 8000)];
/// Steps of the search for the quality, each of which halves the interval.
const HALVINGS: usize = 6;
/// Reads of a modelled queue in that search.
const MODELLED: u64 = 16_000;
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
        quality(disk, depth as u64, measured);
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

/// The quality with which a model that is otherwise like the drive makes as many reads.
fn quality(disk: &mut DiskProbe<'_>, depth: u64, measured: f64) {
    let seed = disk.random.random();
    let mut known: BTreeMap<u64, Option<f64>> = BTreeMap::new();
    let mut modelled = |quality: f64| {
        let model = || modelled_iops(disk, depth, quality, seed);
        *known.entry(quality.to_bits()).or_insert_with(model)
    };
    // Of some thousand reads whose times scatter by half of their mean.
    let error = measured * 1.96 * 0.5 / (DEPTHS[5].1 as f64).sqrt();
    let found = [measured, measured - error, measured + error].map(|target| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if modelled(middle)? < target { low = middle } else { high = middle }
        }
        Some(f64::midpoint(low, high))
    });
    let [Some(value), Some(low), Some(high)] = found else {
        disk.findings.note("no model with these values: what a queue gains is not inverted");
        return;
    };
    let estimate =
        ProbedValue::between(low.min(value), value, high.max(value), DEPTHS[5].1 as usize);
    disk.findings.found("interface.ncq-quality", estimate);
}

/// What a model makes of the load, with the values found so far.
fn modelled_iops(disk: &DiskProbe<'_>, depth: u64, quality: f64, seed: u64) -> Option<f64> {
    let mut file = disk.basis.clone();
    apply(&disk.findings, &mut file.kind, disk.drive.bytes());
    if let Kind::Hdd(p) = &mut file.kind {
        (p.ncq_quality, p.queue_depth) = (quality, depth.max(32));
        p.check().ok()?;
    } else if let Kind::Smr(p) = &mut file.kind {
        (p.disk.ncq_quality, p.disk.queue_depth) = (quality, depth.max(32));
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
