//! The seek curve, from the shortest times at each distance.
//!
//! A read takes overhead, seek, the wait for its sector and the transfer. The wait is spread
//! evenly over a revolution, so the shortest of n times exceeds the rest by a revolution
//! over n + 1 in the mean, and the longest lacks as much of a whole one.

use rand::Rng;

use super::disk_probe::DiskProbe;
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, least_squares};
use crate::findings::MeasuredCurve;
use crate::load::{BLOCK, carry_out};
use crate::timed::DriveAccess;

/// Far seeks, as parts of the stroke.
const FAR: [f64; 16] =
    [0.01, 0.02, 0.04, 0.07, 0.11, 0.16, 0.22, 0.3, 0.38, 0.47, 0.56, 0.66, 0.76, 0.86, 0.93, 0.98];
/// Reads for each of them.
const FAR_READS: usize = 200;
/// Near seeks, in tracks. A next track may be read while the drive reads ahead.
const NEAR: [u64; 4] = [2, 3, 4, 6];
/// Reads for each of them.
const NEAR_READS: usize = 600;
/// Near seeks before the arm goes elsewhere.
const CHAIN: usize = 40;

/// A distance and what the arm takes for it.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Part of the stroke.
    stroke: f64,
    /// Seek, ns.
    time: f64,
    /// Standard error, ns.
    error: f64,
}

pub(super) fn measure(disk: &mut DiskProbe<'_>) -> Result<(), ProbeError> {
    let mut points = Vec::new();
    for tracks in NEAR {
        points.push(near(disk, tracks)?);
    }
    for stroke in FAR {
        points.push(far(disk, stroke)?);
    }
    let Some(curve) = curve(&points) else {
        disk.findings.note("no rising seek curve goes through the measured times");
        return Ok(());
    };
    let errors = jackknife(&points, curve);
    let paths = ["seek.single-track", "seek.average", "seek.full"];
    for ((path, value), error) in paths.into_iter().zip(curve).zip(errors) {
        let samples = points.len() * FAR_READS;
        disk.findings.found(path, ProbedValue::within(value, 1.96 * error, samples));
    }
    settling(disk, curve[0], errors[0]);
    disk.findings.curves.push(MeasuredCurve {
        title: "Seek time over distance",
        columns: ["distance, % of the stroke", "ms"],
        points: points.iter().map(|point| (point.stroke * 100.0, point.time / 1e6)).collect(),
    });
    Ok(())
}

/// What a write waits longer than a read on the next track, and what a switch of heads
/// takes without it. Only their sum, the step between two heads' tracks, shows by reading.
fn settling(disk: &mut DiskProbe<'_>, single: f64, error: f64) {
    let Some(written) = disk.findings.values.get("seek.write-single-track").copied() else {
        return;
    };
    let settle =
        ProbedValue::within((written.value - single).max(0.0), 1.96 * error, written.samples);
    disk.findings.found("seek.write-settle", settle);
    if let Some(leg) = disk.leg_skew {
        let switch = (leg.value - settle.value).max(0.0);
        let error = (leg.high - leg.value).hypot(1.96 * error);
        disk.findings.found("seek.head-switch", ProbedValue::within(switch, error, leg.samples));
    }
}

/// What all reads take except for seek and wait, ns: the overhead, the transfer and the link.
fn overhead(disk: &DiskProbe<'_>, part: f64) -> f64 {
    let memory = if disk.hit > 0.0 {
        disk.hit
    } else {
        disk.basis_value("interface.read-overhead")
            + BLOCK as f64 / disk.basis_value("interface.link") * 1e9
    };
    memory + BLOCK as f64 / disk.rate(part) * 1e9
}

/// The shortest time without its wait, and its standard error.
fn without_wait(times: &[f64], revolution: f64) -> (f64, f64) {
    let share = revolution / (times.len() + 1) as f64;
    let low = times.iter().copied().fold(f64::MAX, f64::min) - share;
    let high = times.iter().copied().fold(0.0, f64::max) + share - revolution;
    // Retries and recalibrations make some reads longer; then only the shortest counts.
    if (high - low).abs() < 5.0 * share {
        (f64::midpoint(low, high), share / std::f64::consts::SQRT_2)
    } else {
        (low, share)
    }
}

fn near(disk: &mut DiskProbe<'_>, tracks: u64) -> Result<Point, ProbeError> {
    let mut times = Vec::new();
    let mut parts = 0.0;
    let capacity = disk.drive.bytes() as f64;
    while times.len() < NEAR_READS {
        let begin = disk.anywhere(256 << 20);
        let part = begin as f64 / capacity;
        let track = disk.rate(part) * disk.revolution * 1e-9 * 1.05;
        carry_out(disk.drive, DriveAccess::read(begin, BLOCK))?;
        for n in 1..=CHAIN {
            let jitter = disk.random.random_range(-0.3..0.3);
            let way = track * (n as f64 * tracks as f64 + jitter);
            let offset = (begin + way as u64) / BLOCK * BLOCK;
            let took = carry_out(disk.drive, DriveAccess::read(offset, BLOCK))?.took() as f64;
            times.push(took - overhead(disk, part));
            parts += part;
        }
    }
    let mean = parts / times.len() as f64;
    let (time, error) = without_wait(&times, disk.revolution);
    let track = disk.rate(mean) * disk.revolution * 1e-9;
    let heads = disk.findings.value("geometry.heads");
    let heads = heads.unwrap_or_else(|| disk.basis_value("geometry.heads")).max(1.0);
    Ok(Point { stroke: tracks as f64 * track * heads / capacity, time, error })
}

fn far(disk: &mut DiskProbe<'_>, stroke: f64) -> Result<Point, ProbeError> {
    let capacity = disk.room(BLOCK) as f64;
    let mut times = Vec::new();
    while times.len() < FAR_READS {
        // From one edge towards the other, so that no place comes twice.
        let mut at = disk.random.random_range(0.0..1.0_f64.min(stroke).min(1.0 - stroke));
        let inwards = disk.random.random_bool(0.5);
        let mut counts = false;
        while at <= 1.0 {
            let part = disk.part_of_capacity(if inwards { at } else { 1.0 - at });
            let offset = (part * capacity) as u64 / BLOCK * BLOCK;
            let took = carry_out(disk.drive, DriveAccess::read(offset, BLOCK))?.took() as f64;
            if std::mem::replace(&mut counts, true) {
                times.push(took - overhead(disk, part));
            }
            at += stroke;
        }
    }
    let (time, error) = without_wait(&times, disk.revolution);
    Ok(Point { stroke, time, error })
}

/// Single track, average and full stroke of Lee's curve c + a·√f + b·f through the
/// points, both of whose coefficients are at least 0. The average is over all pairs of
/// cylinders: the mean of √f is 8/15 then, that of f is 1/3.
fn curve(points: &[Point]) -> Option<[f64; 3]> {
    let weights: Vec<f64> = points.iter().map(|p| (p.error / 1e3).powi(-2)).collect();
    let times: Vec<f64> = points.iter().map(|p| p.time).collect();
    let both: Vec<[f64; 3]> = points.iter().map(|p| [1.0, p.stroke.sqrt(), p.stroke]).collect();
    let [constant, mut root, mut linear] = least_squares(&both, &times, &weights)?;
    let mut constant = constant;
    if linear < 0.0 {
        let rows: Vec<[f64; 2]> = points.iter().map(|p| [1.0, p.stroke.sqrt()]).collect();
        [constant, root] = least_squares(&rows, &times, &weights)?;
        linear = 0.0;
    } else if root < 0.0 {
        let rows: Vec<[f64; 2]> = points.iter().map(|p| [1.0, p.stroke]).collect();
        [constant, linear] = least_squares(&rows, &times, &weights)?;
        root = 0.0;
    }
    let average = constant + root * 8.0 / 15.0 + linear / 3.0;
    (constant > 0.0 && root >= 0.0 && linear >= 0.0).then_some([
        constant,
        average,
        constant + root + linear,
    ])
}

/// Standard errors of the three times, from the curves that lack one point each.
fn jackknife(points: &[Point], all: [f64; 3]) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for index in 0..points.len() {
        let mut left = points.to_vec();
        left.remove(index);
        let Some(other) = curve(&left) else { continue };
        for (sum, (a, b)) in sums.iter_mut().zip(all.iter().zip(other)) {
            *sum += (a - b).powi(2);
        }
    }
    let count = points.len() as f64;
    sums.map(|sum| (sum * (count - 1.0) / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_found_through_its_points() {
        let points: Vec<Point> = [0.0, 0.01, 0.1, 0.3, 0.6, 1.0]
            .map(|f: f64| Point { stroke: f, time: 3e5 + 12e6 * f.sqrt() + 3e6 * f, error: 1e4 })
            .to_vec();
        let [single, average, full] = curve(&points).unwrap();
        assert!((single - 3e5).abs() < 1.0 && (full - 15.3e6).abs() < 1.0);
        assert!((average - (3e5 + 6.4e6 + 1e6)).abs() < 1.0);
        assert!(jackknife(&points, [single, average, full]).iter().all(|error| *error < 1.0));
    }

    #[test]
    fn the_wait_is_taken_off_and_outliers_are_left_out() {
        let even: Vec<f64> = (0..100).map(|n| 1e6 + 8e6 * (f64::from(n) + 0.5) / 100.0).collect();
        let (time, _) = without_wait(&even, 8e6);
        assert!((time - 1e6).abs() < 5e4, "{time}");
        let late: Vec<f64> = even.iter().copied().chain([50e6]).collect();
        assert!((without_wait(&late, 8e6).0 - 1e6).abs() < 9e4);
    }
}
