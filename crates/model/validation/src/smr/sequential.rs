//! Sequential writes, which pass the persistent cache by.

use super::load::sequential;
use disklab_drive::{Drive, DriveFile, Kind};

use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome, theory};

pub(crate) const CHECK: Check = Check {
    id: "sequential",
    title: "Sequential writes",
    about: "\
100 GiB written from the beginning on, without a flush (published: 187 to 201 MiB/s and no cliff, \
github.com/aicodix/smr). Whole bands go straight to their place: the rate is the medium's, R(x).",
    by_drive: None,
    run,
};

const GIB: f64 = 1_073_741_824.0;

fn run(file: &DriveFile) -> Option<Outcome> {
    let Kind::Smr(parameters) = &file.kind else { return None };
    let total = (100_u64 << 30).min(parameters.disk.visible);
    let (windows, host) = sequential(parameters, total, 8);
    let expected = |bytes: u64| {
        theory::sequential(&parameters.disk, bytes as f64 / parameters.disk.capacity as f64)
    };
    // In the first GiB the drive has yet to see that the run is sequential.
    let parts = windows.iter().skip(1).map(|w| w.rate / expected(w.written));
    let slowest = parts.fold(f64::INFINITY, f64::min);
    let cached = host.drive.statistics().shingled.cached_bytes;
    let curves = vec![
        Curve::new(
            "R(x)",
            Mark::Line,
            0,
            windows.iter().map(|w| (w.written as f64 / GIB, expected(w.written) / 1e6)),
        ),
        Curve::new(
            "model",
            Mark::Points,
            0,
            windows.iter().step_by(2).map(|w| (w.written as f64 / GIB, w.rate / 1e6)),
        ),
    ];
    Some(Outcome {
        figures: vec![
            CheckFigure::near("slowest GiB but the first, over R(x)", "", slowest, 1.0, 0.05),
            CheckFigure::at_most("left in the persistent cache", "GiB", cached as f64 / GIB, 1.0),
        ],
        charts: vec![Chart {
            id: "sequential",
            title: "Rate of sequential writes over what was written",
            x: Axis::linear("written, GiB"),
            y: Axis::linear("rate, MB/s"),
            curves,
        }],
    })
}
