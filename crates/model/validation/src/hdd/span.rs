//! IOPS over queue depth within a small file.

use disklab_drive::DriveFile;
use disklab_drive::hdd::Parameters;

use super::depth::{curves, gain, ideal_choice, over_depths, steadiness};
use crate::load::BLOCK;
use crate::of_shipped::of_shipped;
use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome, theory};

pub(crate) const CHECK: Check = Check {
    id: "span",
    title: "IOPS over queue depth within 1 GiB",
    about: "\
The same within the first GiB, as with a test file. It lies on a few hundred tracks, so seeks are \
short and a deep queue gains far more: a benchmark's file size decides its result. Dashes: overhead \
+ mean seek or head switch between the tracks of that GiB + half a revolution + transfer. Squares: the \
throw-away model (see above), whose controller works on each request for 0.15 ms while the medium \
rests; here it works on the next one meanwhile, hence the gap at depth 32.",
    by_drive: None,
    run,
};

/// The file.
const SPAN: u64 = 1 << 30;

/// The throw-away model's IOPS at depths 1, 8 and 32, by drive.
const ANOTHER_MODEL: [(&str, [f64; 3]); 6] = [
    ("hdn721010ale604", [212.0, 768.0, 1249.0]),
    ("wd40efrx-68n32n0", [150.0, 442.0, 644.0]),
    ("wd40efrx-68wt0n0", [150.0, 442.0, 644.0]),
    ("st3500418as", [187.0, 470.0, 639.0]),
    ("st8000as0002", [160.0, 420.0, 587.0]),
    ("md04aca400", [192.0, 501.0, 718.0]),
];

fn run(file: &DriveFile) -> Option<Outcome> {
    let p = file.mechanics()?;
    if p.visible < SPAN {
        return None;
    }
    let ideal = over_depths(&ideal_choice(p), SPAN);
    let own = over_depths(p, SPAN);
    let service = theory::service(p, mean_way(p), p.read_overhead, BLOCK);
    let mut figures = vec![
        CheckFigure::near("depth 1", "IOPS", own[0].1, 1.0 / service, 0.02),
        CheckFigure::usual("gain of depth 32, ideal choice", "", gain(&ideal), (3.5, 7.5)),
        CheckFigure::usual("gain of depth 32, this drive", "", gain(&own), (1.5, 7.0)),
        steadiness(&ideal),
    ];
    let mut curves = curves(p, service, ideal, own);
    if let Some(others) = of_shipped(file, &ANOTHER_MODEL) {
        let points: Vec<(f64, f64)> = [1.0, 8.0, 32.0].into_iter().zip(*others).collect();
        let name = "depth 1, and the throw-away model";
        figures.push(CheckFigure::near(name, "IOPS", ideal[0].1, others[0], 0.02));
        curves.push(Curve::new("throw-away model", Mark::Squares, 3, points));
    }
    let (x, y) = (Axis::doublings("requests in flight"), Axis::linear("random reads, IOPS"));
    Some(Outcome {
        figures,
        charts: vec![Chart {
            id: "span",
            title: "Random reads over queue depth, within 1 GiB",
            x,
            y,
            curves,
        }],
    })
}

/// The mean time to get from one track to another, uniform over the tracks of the
/// span, s: a head serves `tracks_per_head` of them outwards or inwards, then the
/// next head does.
fn mean_way(p: &Parameters) -> f64 {
    let per_track = p.outer_rate * theory::revolution(p);
    let tracks = (SPAN as f64 / per_track).ceil().max(1.0) as u64;
    // The stroke in cylinders, from the capacity: what the curve's distances are parts of.
    let mean = f64::midpoint(p.outer_rate, p.inner_rate) * theory::revolution(p) * p.heads as f64;
    let cylinders = p.capacity as f64 / mean;
    let leg = p.tracks_per_head;
    let place = |track: u64| {
        let (band, within) = (track / (leg * p.heads), track % (leg * p.heads));
        let (head, step) = (within / leg, within % leg);
        let column = if head.is_multiple_of(2) { step } else { leg - 1 - step };
        (band * leg + column, head)
    };
    let mut sum = 0.0;
    for (from, from_head) in (0..tracks).map(place) {
        for (to, to_head) in (0..tracks).map(place) {
            let distance = from.abs_diff(to);
            let seek = if distance == 0 {
                0.0
            } else {
                theory::seek(p.read_seek, (distance - 1) as f64 / cylinders)
            };
            let switch = if from_head == to_head { 0.0 } else { p.head_switch as f64 * 1e-9 };
            sum += seek.max(switch);
        }
    }
    sum / (tracks * tracks) as f64
}
