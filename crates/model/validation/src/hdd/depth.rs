//! IOPS over queue depth.

use disklab_drive::hdd::{HardDisk, Parameters, WHOLE_QUEUE};
use disklab_drive::{DriveFile, Operation};

use crate::load::{BLOCK, random_iops};
use crate::of_shipped::of_shipped;
use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome, theory};

pub(crate) const CHECK: Check = Check {
    id: "depth",
    title: "IOPS over queue depth, full stroke",
    about: "\
Random reads of 4 KiB over the whole drive. Dashes: 1/(E[seek] + half a revolution + \
overhead + transfer), which holds at depth 1 and for a drive that serves requests as they come. The upper curve \
chooses the shortest positioning time among all that wait, as no real drive quite does; the lower \
one among the part `ncq-quality` of them (assumed), and of the oldest `ncq-window` at most, which are \
this drive's parameters: beyond that depth it gains nothing more, as if it had been given no deeper \
queue. Squares: a \
throw-away model of the same parameters, written apart from this one while they were gathered \
(SPTF; there the controller's overhead was not hidden behind the medium's work, and the slot of a \
finished request was taken at once).",
    by_drive: None,
    run,
};

/// Depths that are measured.
pub(super) const DEPTHS: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Random reads of each point.
pub(super) const REQUESTS: u64 = 10_000;

/// The throw-away model's IOPS at depths 1, 4 and 32, by drive.
const ANOTHER_MODEL: [(&str, [f64; 3]); 6] = [
    ("hdn721010ale604", [82.0, 121.0, 223.0]),
    ("wd40efrx-68n32n0", [61.0, 87.0, 154.0]),
    ("wd40efrx-68wt0n0", [61.0, 87.0, 154.0]),
    ("st3500418as", [79.0, 116.0, 211.0]),
    ("st8000as0002", [59.0, 87.0, 151.0]),
    ("md04aca400", [79.0, 116.0, 213.0]),
];

/// By which part that model may differ, at each of these depths.
const TOLERANCES: [(u64, f64); 3] = [(1, 0.02), (4, 0.08), (32, 0.05)];

fn run(file: &DriveFile) -> Option<Outcome> {
    let p = file.mechanics()?;
    let ideal = over_depths(&ideal_choice(p), p.visible);
    let own = over_depths(p, p.visible);
    let service = theory::service(p, theory::mean_seek(p, p.read_seek), p.read_overhead, BLOCK);
    let mut oldest_first = HardDisk::new(&Parameters { ncq_quality: 0.0, ..p.clone() }, 1);
    let in_order = random_iops(&mut oldest_first, Operation::Read, 32, p.visible, REQUESTS);
    let mut figures = vec![
        CheckFigure::near("depth 1", "IOPS", own[0].1, 1.0 / service, 0.03),
        // Only the controller's overhead is hidden behind the medium's work.
        CheckFigure::near("depth 32, taken as they come", "IOPS", in_order, 1.0 / service, 0.05),
        CheckFigure::usual("gain of depth 32, ideal choice", "", gain(&ideal), (2.3, 3.0)),
        CheckFigure::usual("gain of depth 32, this drive", "", gain(&own), (1.3, 3.0)),
        steadiness(&ideal),
        at_most_ideal(&own, &ideal),
    ];
    if p.ncq_window < WHOLE_QUEUE {
        figures.push(beyond_the_window(p, own[5].1));
    }
    let mut curves = curves(p, service, ideal, own);
    if let Some(others) = of_shipped(file, &ANOTHER_MODEL) {
        let points: Vec<(f64, f64)> =
            TOLERANCES.iter().zip(others).map(|((d, _), iops)| (*d as f64, *iops)).collect();
        for ((depth, tolerance), other) in TOLERANCES.into_iter().zip(others) {
            let own = ideal.iter().find(|(d, _)| *d == depth as f64);
            let name = format!("depth {depth}, ideal choice, and the throw-away model");
            let own = own.map_or(f64::NAN, |(_, iops)| *iops);
            figures.push(CheckFigure::near(name, "IOPS", own, *other, tolerance));
        }
        curves.push(Curve::new("throw-away model", Mark::Squares, 3, points));
    }
    let (x, y) = (Axis::doublings("requests in flight"), Axis::linear("random reads, IOPS"));
    Some(Outcome {
        figures,
        charts: vec![Chart {
            id: "depth",
            title: "Random reads over queue depth, full stroke",
            x,
            y,
            curves,
        }],
    })
}

/// The IOPS over depth: in theory at depth 1, by a service time in seconds; by an ideal
/// choice; and by this drive's own.
pub(super) fn curves(
    p: &Parameters,
    service: f64,
    ideal: [(f64, f64); 6],
    own: [(f64, f64); 6],
) -> Vec<Curve> {
    vec![
        Curve::new("depth 1, theory", Mark::Dashes, 2, DEPTHS.map(|d| (d as f64, 1.0 / service))),
        Curve::new("ideal choice", Mark::LineAndPoints, 0, ideal),
        Curve::new(choice(p), Mark::LineAndPoints, 1, own),
    ]
}

/// What the curve of a drive's own choice is called.
fn choice(p: &Parameters) -> String {
    let quality = format!("ncq-quality {}", p.ncq_quality);
    match p.ncq_window {
        WHOLE_QUEUE.. => quality,
        window => format!("{quality}, ncq-window {window}"),
    }
}

/// The same drive, which chooses among all that wait.
pub(super) fn ideal_choice(p: &Parameters) -> Parameters {
    Parameters { ncq_quality: 1.0, ncq_window: WHOLE_QUEUE, ..p.clone() }
}

/// The IOPS at depth 32, and what an ideal choice makes of as many that wait as the window holds:
/// one more is in flight.
fn beyond_the_window(p: &Parameters, own: f64) -> CheckFigure {
    let mut drive = HardDisk::new(&ideal_choice(p), 1);
    let window = random_iops(&mut drive, Operation::Read, p.ncq_window + 1, p.visible, REQUESTS);
    let name = "depth 32, and an ideal choice among as many as the window";
    CheckFigure::near(name, "IOPS", own, window, 0.05)
}

/// IOPS of random reads at each of [`DEPTHS`].
pub(super) fn over_depths(p: &Parameters, span: u64) -> [(f64, f64); 6] {
    DEPTHS.map(|depth| {
        let mut drive = HardDisk::new(p, 1);
        (depth as f64, random_iops(&mut drive, Operation::Read, depth, span, REQUESTS))
    })
}

/// What the deepest queue gains over the shallowest.
pub(super) fn gain(points: &[(f64, f64)]) -> f64 {
    match points {
        [(_, first), .., (_, last)] => last / first,
        _ => f64::NAN,
    }
}

/// The largest part of the ideal choice's IOPS that the drive's own choice reached.
fn at_most_ideal(own: &[(f64, f64)], ideal: &[(f64, f64)]) -> CheckFigure {
    let parts = own.iter().zip(ideal).map(|((_, own), (_, ideal))| own / ideal);
    CheckFigure::at_most(
        "this drive over the ideal choice, most",
        "",
        parts.fold(0.0, f64::max),
        1.02,
    )
}

/// How often a deeper queue did less than a shallower one.
pub(super) fn steadiness(points: &[(f64, f64)]) -> CheckFigure {
    let falls = points.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    CheckFigure::at_most("deeper queues that did less", "", falls as f64, 0.0)
}
