//! Rates by place, and the zones that they show.
//!
//! The time of a piece within a track gives the track's length, for a track takes a
//! revolution. Between tracks the skew is added. So each place gives the rate of its
//! zone without the error of where the run began and ended.

use super::disk_probe::DiskProbe;
use super::rotation::increments;
use crate::error::{ProbeError, Unsuitable};
use crate::estimate::{ProbedValue, least_squares, median};
use crate::findings::MeasuredCurve;
use crate::load::{BLOCK, stream};

/// Places that are measured.
const PLACES: u64 = 240;
/// Bytes that are read at each.
const RUN: u64 = 16 << 20;

/// What is measured at a place.
#[derive(Debug, Clone, Copy)]
struct Location {
    /// Part of the capacity.
    part: f64,
    /// Bytes of a track.
    track: f64,
    /// Time that the run took beyond the sum of its pieces, ns.
    skews: f64,
    /// Tracks that the run went over.
    tracks: f64,
}

/// Neighbouring places with equally long tracks.
#[derive(Debug, Clone, Copy)]
struct Zone {
    places: usize,
    /// Bytes of a track.
    track: f64,
    /// Its middle, as a part of the stroke.
    stroke: f64,
    /// Its width, as a part of the stroke.
    width: f64,
}

pub(super) fn measure(disk: &mut DiskProbe<'_>) -> Result<(), ProbeError> {
    let room = disk.room(RUN);
    let mut places = Vec::new();
    for n in 0..PLACES {
        let offset = (room as f64 * n as f64 / (PLACES - 1) as f64) as u64 / BLOCK * BLOCK;
        places.push(place(disk, offset)?);
    }
    let tracks: f64 = places.iter().map(|place| place.tracks).sum();
    let skew = (places.iter().map(|place| place.skews).sum::<f64>() / tracks).max(0.0);
    let zones = zones(&places);
    let per_track = 1e9 / (disk.revolution + skew);
    let Some(rates) = edges(&zones, per_track) else {
        return Err(Unsuitable::Rates.into());
    };
    disk.rates = rates;
    let points = places.iter().map(|place| (place.part * 100.0, place.track * per_track / 1e6));
    disk.findings.curves.push(MeasuredCurve {
        title: "Rates by place",
        columns: ["position, % of the capacity", "MB/s"],
        points: points.collect(),
    });
    note(disk, &zones, per_track);
    Ok(())
}

fn place(disk: &mut DiskProbe<'_>, offset: u64) -> Result<Location, ProbeError> {
    let reads = stream(disk.drive, offset, disk.piece, RUN / disk.piece)?;
    let steps = increments(&reads);
    let usual = median(&steps);
    let track = disk.revolution / (usual / disk.piece as f64);
    let bytes = (steps.len() as u64 * disk.piece) as f64;
    Ok(Location {
        part: (offset as f64 + bytes / 2.0) / disk.drive.bytes() as f64,
        track,
        skews: steps.iter().sum::<f64>() - usual * steps.len() as f64,
        tracks: bytes / track,
    })
}

/// Neighbours whose track lengths differ by no more than the noise belong together.
fn zones(places: &[Location]) -> Vec<Zone> {
    let changes: Vec<f64> =
        places.windows(2).map(|pair| (pair[1].track / pair[0].track - 1.0).abs()).collect();
    // Most neighbours lie within one zone.
    let bound = (6.0 * 1.4826 * median(&changes)).max(2e-4);
    let mut groups: Vec<Vec<f64>> = Vec::new();
    for place in places {
        match groups.last_mut() {
            Some(tracks) if (place.track / median(tracks) - 1.0).abs() <= bound => {
                tracks.push(place.track);
            }
            _ => groups.push(vec![place.track]),
        }
    }
    // A place stands for equally many bytes, so for as many cylinders as tracks are short.
    let stroke: f64 = places.iter().map(|place| 1.0 / place.track).sum();
    let mut before = 0.0;
    groups
        .into_iter()
        .map(|tracks| {
            let width = tracks.iter().map(|track| 1.0 / track).sum::<f64>() / stroke;
            before += width;
            let (places, track) = (tracks.len(), median(&tracks));
            Zone { places, track, stroke: before - width / 2.0, width }
        })
        .collect()
}

/// The rates at both edges: with a constant density of bits along tracks, the rate falls
/// linearly with the cylinder.
fn edges(zones: &[Zone], per_track: f64) -> Option<[f64; 2]> {
    let rows: Vec<[f64; 2]> = zones.iter().map(|zone| [1.0, zone.stroke]).collect();
    let rates: Vec<f64> = zones.iter().map(|zone| zone.track * per_track / 1e6).collect();
    let weights: Vec<f64> =
        zones.iter().map(|zone| zone.width.sqrt() / zone.track.powi(2)).collect();
    if zones.len() < 2 {
        return rates.first().map(|rate| [rate * 1e6; 2]);
    }
    let [outer, slope] = least_squares(&rows, &rates, &weights)?;
    let outer = outer.max(1.0);
    Some([outer * 1e6, (outer + slope).clamp(1.0, outer) * 1e6])
}

fn note(disk: &mut DiskProbe<'_>, zones: &[Zone], per_track: f64) {
    let count = zones.len() as f64;
    let [outer, inner] = disk.rates;
    let ratios: Vec<f64> = zones
        .iter()
        .map(|zone| zone.track * per_track / (outer - zone.stroke * (outer - inner)) - 1.0)
        .collect();
    let deviation = (ratios.iter().map(|r| r * r).sum::<f64>() / count).sqrt();
    // The standard error at the end of a line through evenly spaced points is twice that
    // of their mean.
    let error = |rate: f64| 1.96 * 2.0 * deviation / count.sqrt() * rate;
    let samples = PLACES as usize;
    disk.findings.found("geometry.outer-rate", ProbedValue::within(outer, error(outer), samples));
    disk.findings.found("geometry.inner-rate", ProbedValue::within(inner, error(inner), samples));
    if zones.len() < 3 {
        disk.findings.note(
            "no zones: the rate is the same everywhere, so that something slower than the medium \
             bounds it, such as the link",
        );
        return;
    }
    // A zone that holds a single place may lie between two others that are one.
    let suspect = zones.iter().filter(|zone| zone.places < 2).count() as f64;
    disk.findings.found("geometry.zones", ProbedValue::within(count, 1.0 + suspect, samples));
    // The largest of as many deviations as there are zones, each drawn from an even spread.
    let largest = ratios.iter().map(|ratio| ratio.abs()).fold(0.0, f64::max).min(0.1);
    let high = (largest / 0.025_f64.powf(1.0 / count)).min(0.1);
    let spread = (largest * (count + 1.0) / count).min(0.1);
    disk.findings
        .found("geometry.zone-spread", ProbedValue::between(largest, spread, high, zones.len()));
}
