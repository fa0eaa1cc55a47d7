//! What a long sequential read shows of tracks and heads.
//!
//! From track to track the sectors are turned by the skew, which is as long as the drive
//! takes to the next track; where a head has served its tracks, and where all heads have,
//! the step may be another one.

use super::disk_probe::DiskProbe;
use super::rotation::increments;
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, median, median_error};
use crate::load::{BLOCK, stream};

/// Tracks that are read, at most: two rounds of 22 heads with 100 tracks each, and more.
const TRACKS: f64 = 5000.0;
/// Steps that differ by less are alike, ns.
const ALIKE: f64 = 2000.0;
/// No head serves more neighbouring tracks before the next one does.
const LONGEST_LEG: f64 = 400.0;

/// A step between two tracks.
#[derive(Debug, Clone, Copy)]
struct Skew {
    /// Tracks since the first step.
    track: f64,
    time: f64,
}

pub(super) fn measure(disk: &mut DiskProbe<'_>) -> Result<(), ProbeError> {
    let pieces = (TRACKS * disk.rates[0] * disk.revolution * 1e-9 / disk.piece as f64) as u64;
    let start = disk.room(1 << 30) / 64 / BLOCK * BLOCK;
    let pieces = pieces.min(disk.room(disk.piece).saturating_sub(start) / disk.piece);
    let skews = skews(&stream(disk.drive, start, disk.piece, pieces)?, disk.revolution);
    let times: Vec<f64> = skews.iter().map(|skew| skew.time).collect();
    if times.len() < 100 {
        disk.findings.note("no track ends: something else than the medium bounds the rate");
        return Ok(());
    }
    let usual = median(&times);
    let error = median_error(&times).max(100.0);
    let single = ProbedValue::within(usual, error, times.len());
    disk.findings.found("seek.write-single-track", single);
    let noise = median(&times.iter().map(|t| (t - usual).abs()).collect::<Vec<_>>());
    let bound = (6.0 * 1.4826 * noise).max(ALIKE);
    let other: Vec<Skew> =
        skews.into_iter().filter(|skew| (skew.time - usual).abs() > bound).collect();
    heads(disk, &other, bound);
    Ok(())
}

/// The steps between tracks. A piece with one in it takes longer than its neighbours.
fn skews(reads: &[crate::timed::TimedAccess], revolution: f64) -> Vec<Skew> {
    let steps = increments(reads);
    let usual = median(&steps);
    let track = revolution / usual;
    let long = steps.iter().enumerate().filter(|(_, step)| **step > usual + 0.01 * revolution);
    let long: Vec<(f64, f64)> = long.map(|(n, step)| (n as f64, step - usual)).collect();
    let first = long.first().map_or(0.0, |(piece, _)| *piece);
    long.into_iter()
        .map(|(piece, time)| Skew { track: ((piece - first) / track).round(), time })
        .collect()
}

/// From the steps that are not from track to track: how many tracks a head serves, how
/// many heads there are.
fn heads(disk: &mut DiskProbe<'_>, other: &[Skew], bound: f64) {
    let distances = |skews: &[Skew]| -> Vec<f64> {
        skews.windows(2).map(|pair| pair[1].track - pair[0].track).collect()
    };
    let all = distances(other);
    if all.len() < 2 {
        disk.findings
            .note("heads and the tracks that each serves do not show in the steps between tracks");
        return;
    }
    let leg = median(&all);
    let regular = all.iter().filter(|distance| (**distance - leg).abs() <= 1.0).count();
    if regular * 4 < all.len() * 3 {
        disk.findings.note("the steps between tracks are irregular: heads do not show");
        return;
    }
    let usual = median(&other.iter().map(|skew| skew.time).collect::<Vec<_>>());
    let rare: Vec<Skew> =
        other.iter().filter(|skew| (skew.time - usual).abs() > bound).copied().collect();
    let samples = other.len();
    if rare.len() >= 2 && leg <= LONGEST_LEG {
        let heads = median(&distances(&rare)) / leg;
        disk.findings.found("geometry.tracks-per-head", ProbedValue::within(leg, 0.5, samples));
        disk.findings.found("geometry.heads", ProbedValue::within(heads.round(), 0.5, rare.len()));
        // What is seen is the switch and the settling of a write; settling is what a write
        // to the next track takes beyond a read, which comes later.
        disk.leg_skew = Some(ProbedValue::within(usual, bound.min(usual), samples));
    } else {
        // The heads' own steps are as long as those between tracks; what is seen is the
        // step to the next cylinders, after all heads.
        let heads = disk.basis_value("geometry.heads").max(1.0);
        let tracks = (leg / heads).round().max(1.0);
        disk.findings.found("geometry.tracks-per-head", ProbedValue::within(tracks, 0.5, samples));
        disk.findings.note(format!(
            "the arm steps to the next cylinders every {leg} tracks: with {heads} heads, as of \
             the sibling, each serves {tracks} of them"
        ));
    }
}
