//! Throughput over position.

use disklab_drive::DriveFile;
use disklab_drive::hdd::HardDisk;

use crate::load::{rate_at, scan_seconds};
use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome, theory};

pub(crate) const CHECK: Check = Check {
    id: "position",
    title: "Throughput over position",
    about: "\
Sequential reads of 1 MiB, one after the other, 200 at each place. Line: the rate at the part x of \
the capacity, R(x) = √(R₀² − x·(R₀² − R₁²)), which a constant density of bits along tracks and of \
tracks along the radius gives between the outer rate R₀ and the inner rate R₁ (or the link's \
payload, where that is less). The model cuts the medium into zones of equal track length, hence \
its steps. A read of the whole drive then takes its capacity over the mean of both rates.",
    by_drive: None,
    run,
};

/// Places that are measured.
const PLACES: u32 = 61;

fn run(file: &DriveFile) -> Option<Outcome> {
    let p = file.mechanics()?;
    let seen = p.visible as f64 / p.capacity as f64;
    let places = (0..PLACES).map(|n| f64::from(n) / f64::from(PLACES - 1));
    let model: Vec<(f64, f64)> =
        places.clone().map(|x| (x, rate_at(&mut HardDisk::new(p, 3), x))).collect();
    let worst = model
        .iter()
        .map(|(x, rate)| (rate / theory::sequential(p, x * seen) - 1.0).abs())
        .fold(0.0, f64::max);
    let scan = scan_seconds(&mut HardDisk::new(p, 2), 16 << 20);
    let percent = |points: Vec<(f64, f64)>| {
        points.into_iter().map(|(x, rate)| (x * 100.0, rate / 1e6)).collect::<Vec<_>>()
    };
    let curve = places.map(|x| (x, theory::sequential(p, x * seen))).collect();
    let curves = vec![
        Curve::new("R(x)", Mark::Line, 0, percent(curve)),
        Curve::new("model", Mark::Points, 0, percent(model)),
    ];
    Some(Outcome {
        figures: vec![
            CheckFigure::at_most("largest deviation from R(x)", "%", worst * 100.0, 2.0),
            CheckFigure::near(
                "read of the whole drive",
                "min",
                scan / 60.0,
                theory::scan(p) / 60.0,
                0.01,
            ),
        ],
        charts: vec![Chart {
            id: "position",
            title: "Sequential reads over position",
            x: Axis::linear("position, % of the capacity"),
            y: Axis::linear("sequential reads, MB/s"),
            curves,
        }],
    })
}
