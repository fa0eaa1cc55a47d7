//! What follows from a hard disk's data without a model of it: continuous curves,
//! no zones, no tracks, no heads.

use disklab_drive::hdd::{Parameters, SeekTimes};

/// Steps of the integrals over the drive.
const STEPS: usize = 600;

/// The rate at the part `x` of the sectors, B/s: R(x) = √(Ro² − x(Ro² − Ri²)), for a
/// constant density of bits along tracks and of tracks along the radius.
pub fn rate(p: &Parameters, x: f64) -> f64 {
    let (outer, inner) = (p.outer_rate.powi(2), p.inner_rate.powi(2));
    (outer - x * (outer - inner)).sqrt()
}

/// Where the part `x` of the sectors lies, as the part of the stroke from the outer
/// edge: the rate falls linearly with it.
pub fn radius(p: &Parameters, x: f64) -> f64 {
    if p.outer_rate <= p.inner_rate {
        return x;
    }
    (p.outer_rate - rate(p, x)) / (p.outer_rate - p.inner_rate)
}

/// The part of the sectors that lies before the part `radius` of the stroke: the
/// inverse of [`radius`].
pub fn part_of_sectors(p: &Parameters, radius: f64) -> f64 {
    if p.outer_rate <= p.inner_rate {
        return radius;
    }
    let rate = p.outer_rate - radius * (p.outer_rate - p.inner_rate);
    (p.outer_rate.powi(2) - rate.powi(2)) / (p.outer_rate.powi(2) - p.inner_rate.powi(2))
}

/// Lee's curve at the part `distance` of the stroke, s.
pub fn seek(times: SeekTimes, distance: f64) -> f64 {
    let [first, average, full] =
        [times.single_track, times.average, times.full].map(|time| time as f64 * 1e-9);
    let root = (-10.0 * first + 15.0 * average - 5.0 * full) / 3.0;
    let linear = (7.0 * first - 15.0 * average + 8.0 * full) / 3.0;
    root * distance.sqrt() + linear * distance + first
}

/// The mean seek between places that are uniform over the sectors that the host
/// sees, s. It is shorter than the data sheet's average, which is uniform over
/// cylinders: the outer ones hold more.
pub fn mean_seek(p: &Parameters, times: SeekTimes) -> f64 {
    let seen = p.visible as f64 / p.capacity as f64;
    let radii: Vec<f64> =
        (0..STEPS).map(|step| radius(p, (step as f64 + 0.5) / STEPS as f64 * seen)).collect();
    let sum: f64 =
        radii.iter().flat_map(|a| radii.iter().map(move |b| seek(times, (a - b).abs()))).sum();
    sum / (STEPS * STEPS) as f64
}

/// Time of a revolution, s.
pub fn revolution(p: &Parameters) -> f64 {
    60.0 / p.rpm as f64
}

/// The time of an operation of `bytes` that is alone in the drive, after a seek of
/// `seek` seconds: overhead, seek, half a revolution, transfer from or to the medium at
/// the mean rate, and over the link; s.
pub fn service(p: &Parameters, seek: f64, overhead: u64, bytes: u64) -> f64 {
    let mean = f64::midpoint(p.outer_rate, p.inner_rate);
    overhead as f64 * 1e-9 + seek + revolution(p) / 2.0 + bytes as f64 / mean + link(p, bytes)
}

/// The time that `bytes` take on the link, s.
pub fn link(p: &Parameters, bytes: u64) -> f64 {
    bytes as f64 / p.link_rate
}

/// The rate of sequential work at the part `x` of the sectors, B/s: the medium's or
/// the link's, whichever is slower.
pub fn sequential(p: &Parameters, x: f64) -> f64 {
    rate(p, x).min(p.link_rate)
}

/// The time of a pass over what the host sees, s. Where the link is never the
/// slower, that is the capacity over the mean of the outer and the inner rate.
pub fn scan(p: &Parameters) -> f64 {
    let seen = p.visible as f64 / p.capacity as f64;
    let parts = (0..STEPS).map(|step| (step as f64 + 0.5) / STEPS as f64 * seen);
    parts.map(|x| p.visible as f64 / STEPS as f64 / sequential(p, x)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use disklab_drive::shipped;

    fn hgst() -> Parameters {
        shipped("hdn721010ale604").unwrap().mechanics().unwrap().clone()
    }

    #[test]
    fn places_and_radii_are_each_others_inverse() {
        let even = Parameters { inner_rate: 240e6, ..hgst() };
        for p in [hgst(), even] {
            for x in [0.0, 0.1, 0.5, 0.99, 1.0] {
                assert!((part_of_sectors(&p, radius(&p, x)) - x).abs() < 1e-9, "{x}");
            }
        }
    }

    #[test]
    fn a_scan_takes_the_capacity_over_the_mean_rate() {
        let p = hgst();
        let expected = p.capacity as f64 / f64::midpoint(p.outer_rate, p.inner_rate);
        assert!((scan(&p) / expected - 1.0).abs() < 1e-5);
        let slow = Parameters { link_rate: 50e6, ..p };
        assert!((scan(&slow) / (slow.capacity as f64 / 50e6) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn sectors_are_nearer_than_cylinders() {
        let p = hgst();
        let (mean, stated) = (mean_seek(&p, p.read_seek), p.read_seek.average as f64 * 1e-9);
        assert!(mean < stated && mean > 0.9 * stated, "{mean} {stated}");
        let even = Parameters { inner_rate: p.outer_rate, ..p };
        assert!((mean_seek(&even, even.read_seek) / stated - 1.0).abs() < 1e-3);
    }
}
