//! Service time over seek distance.

use disklab_drive::hdd::{HardDisk, Parameters};
use disklab_drive::{DriveFile, Operation};
use rand::Rng;

use super::conventional;
use crate::load::{BLOCK, carry_out, random, random_iops};
use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome, theory};

pub(crate) const CHECK: Check = Check {
    id: "seek",
    title: "Service time over seek distance",
    about: "\
One request of 4 KiB after another, each at a given distance from the last, in parts of the \
stroke. Lines: overhead + seek + half a revolution + transfer; the seek follows Lee's curve \
t(d) = a·√(d−1) + b·(d−1) + c through the single-track, average and full-stroke times (E. K. Lee, \
'Performance Modeling and Analysis of Disk Arrays', 1993). Points: the model, the mean of 5000 \
requests each. Writes are without the write cache. Over the whole drive, offsets uniform over the \
sectors are nearer to each other than the data sheet's average says, which is uniform over \
cylinders.",
    by_drive: None,
    run,
};

/// Requests for each distance.
const REQUESTS: u64 = 5000;

/// Distances that are drawn, in parts of the stroke.
const DISTANCES: [f64; 21] = [
    0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6,
    0.7, 0.8, 0.9, 0.95, 0.99,
];

fn run(file: &DriveFile) -> Option<Outcome> {
    let p = file.mechanics()?;
    let reads = DISTANCES.map(|d| (d * 100.0, service(p, Operation::Read, d) * 1e3));
    let theory = |operation| {
        (0..=60).map(f64::from).map(move |step| {
            let d = (step / 60.0_f64).powi(2);
            (d * 100.0, expected(p, operation, d) * 1e3)
        })
    };
    let mut curves = vec![
        Curve::new("reads, theory", Mark::Line, 0, theory(Operation::Read)),
        Curve::new("reads, model", Mark::Points, 0, reads),
    ];
    let mut figures = vec![
        worst("reads", p, Operation::Read, &reads),
        iops("random reads of 4 KiB at depth 1", p, Operation::Read),
    ];
    if conventional(file).is_some() {
        let writes = DISTANCES.map(|d| (d * 100.0, service(p, Operation::Write, d) * 1e3));
        curves.push(Curve::new("writes, theory", Mark::Line, 1, theory(Operation::Write)));
        curves.push(Curve::new("writes, model", Mark::Points, 1, writes));
        figures.push(worst("writes", p, Operation::Write, &writes));
        let name = "random writes of 4 KiB at depth 1, without write cache";
        figures.push(iops(name, p, Operation::Write));
    }
    let (x, y) = (Axis::linear("distance, % of the stroke"), Axis::linear("service time, ms"));
    Some(Outcome {
        figures,
        charts: vec![Chart { id: "seek", title: "Service time over seek distance", x, y, curves }],
    })
}

/// The drive without write cache, so that writes are on the medium when they end.
fn drive(p: &Parameters, seed: u64) -> HardDisk {
    HardDisk::new(&Parameters { write_cache: false, persistent: 0, ..p.clone() }, seed)
}

/// The mean time of requests at this distance from the last, s.
fn service(p: &Parameters, operation: Operation, distance: f64) -> f64 {
    let mut drive = drive(p, 1);
    let mut random = random(0x5eec);
    let sector = |radius: f64| {
        let last = (p.visible / BLOCK - 1) as f64;
        (theory::part_of_sectors(p, radius) * p.capacity as f64 / BLOCK as f64).min(last) as u64 * 8
    };
    // The host may see the outer part of the stroke only.
    let stroke = theory::radius(p, p.visible as f64 / p.capacity as f64);
    let distance = distance * stroke;
    let (mut now, mut sum) = (0, 0);
    for _ in 0..REQUESTS {
        let outer = random.random_range(0.0..stroke - distance);
        let (mut from, mut to) = (outer, outer + distance);
        if random.random_bool(0.5) {
            (from, to) = (to, from);
        }
        let begun = carry_out(&mut drive, now, operation, sector(from), 8);
        now = carry_out(&mut drive, begun, operation, sector(to), 8);
        sum += now - begun;
    }
    sum as f64 * 1e-9 / REQUESTS as f64
}

fn expected(p: &Parameters, operation: Operation, distance: f64) -> f64 {
    let stroke = theory::radius(p, p.visible as f64 / p.capacity as f64);
    let (times, overhead) = side(p, operation);
    theory::service(p, theory::seek(times, distance * stroke), overhead, BLOCK)
}

fn side(p: &Parameters, operation: Operation) -> (disklab_drive::hdd::SeekTimes, u64) {
    match operation {
        Operation::Read => (p.read_seek, p.read_overhead),
        _ => (p.write_seek, p.write_overhead),
    }
}

/// The largest difference between the points and their theory.
fn worst(what: &str, p: &Parameters, operation: Operation, points: &[(f64, f64)]) -> CheckFigure {
    let worst = points
        .iter()
        .map(|(percent, ms)| (ms * 1e-3 / expected(p, operation, percent / 100.0) - 1.0).abs())
        .fold(0.0, f64::max);
    CheckFigure::at_most(
        format!("{what}: largest deviation from the curve"),
        "%",
        worst * 100.0,
        2.0,
    )
}

/// 1/(E\[seek\] + T/2 + overhead + transfer).
fn iops(what: &str, p: &Parameters, operation: Operation) -> CheckFigure {
    let model = random_iops(&mut drive(p, 1), operation, 1, p.visible, 60_000);
    let (times, overhead) = side(p, operation);
    let service = theory::service(p, theory::mean_seek(p, times), overhead, BLOCK);
    CheckFigure::near(what, "IOPS", model, 1.0 / service, 0.01)
}
