//! Write amplification over over-provisioning.

use std::sync::LazyLock;

use super::{
    Traffic, fifo_write_amplification, greedy_write_amplification, spare_layout,
    structure_write_amplification,
};
use disklab_drive::{DriveFile, Kind};

use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome};

pub(crate) const CHECK: Check = Check {
    id: "amplification",
    title: "Write amplification over over-provisioning",
    about: "\
Units of the map written at random, uniformly, until nothing changes any more: how many units the \
flash programs for each. Lines: the closed forms, for lines of flash that are reclaimed in the order \
of their writing or of very many pages, A = α/(α + W(−α·e^−α)) with α = 1/(1 − spare) (Xiang and \
Kurkoski, 2012), and greedily for lines of N = 64 pages, A = N/(N − X₀ + 1) with k = 1 + 1/(2N) and \
X₀ = ½ − (N/α)·W(−kα·e^−kα) (Desnoyers, 2014). Points: the flash translation layer that the drive's \
model works with, on 1024 lines of 64 pages and on 256 lines of 512 pages. Sequential writes are \
not amplified.",
    by_drive: None,
    run,
};

/// Parts of the flash that the host does not see.
const SPARES: [f64; 6] = [0.07, 0.1, 0.125, 0.18, 0.231, 0.28];

/// Lines and pages of a line of the two structures that are measured.
const SMALL: (u32, u32) = (1024, 64);
const LARGE: (u32, u32) = (256, 512);

/// Part by which the model may differ from a closed form (issue 5 of this project).
const TOLERANCE: f64 = 0.03;

/// What the structures do. It depends on no drive, takes seconds, and is measured once.
static MEASURED: LazyLock<Measured> = LazyLock::new(|| {
    let measure = |structure| SPARES.map(|spare| (spare, random(spare, structure)));
    let layout = spare_layout(0.07, SMALL.0, SMALL.1);
    let sequential = structure_write_amplification(layout, Traffic::Sequential, 4.0, 1);
    Measured {
        small: measure(SMALL),
        large: measure(LARGE),
        sequential: sequential.unwrap_or(f64::NAN),
    }
});

/// Write amplification over spare parts, of both structures, and of sequential writes.
#[derive(Clone, Copy)]
struct Measured {
    small: [(f64, f64); SPARES.len()],
    large: [(f64, f64); SPARES.len()],
    sequential: f64,
}

fn run(file: &DriveFile) -> Option<Outcome> {
    let Kind::Ssd(_) = &file.kind else { return None };
    let Measured { small, large, sequential } = *MEASURED;
    let fine = || (0..=50).map(|n| 0.06 + f64::from(n) * 0.005);
    let percent = |points: Vec<(f64, f64)>| points.into_iter().map(|(x, y)| (x * 100.0, y));
    let greedy = |spare| greedy_write_amplification(spare, SMALL.1);
    let curves = vec![
        Curve::new(
            "many pages, theory",
            Mark::Line,
            0,
            percent(fine().map(|spare| (spare, fifo_write_amplification(spare))).collect()),
        ),
        Curve::new("512 pages", Mark::Points, 0, percent(large.to_vec())),
        Curve::new(
            "64 pages, theory",
            Mark::Line,
            1,
            percent(fine().map(|spare| (spare, greedy(spare))).collect()),
        ),
        Curve::new("64 pages", Mark::Points, 1, percent(small.to_vec())),
    ];
    let worst = |points: &[(f64, f64)], theory: &dyn Fn(f64) -> f64| {
        let parts = points.iter().map(|(spare, model)| (model / theory(*spare) - 1.0).abs());
        parts.fold(0.0, f64::max) * 100.0
    };
    let most = TOLERANCE * 100.0;
    Some(Outcome {
        figures: vec![
            CheckFigure::at_most(
                "lines of 64 pages: largest deviation",
                "%",
                worst(&small, &greedy),
                most,
            ),
            CheckFigure::at_most(
                "lines of 512 pages: largest deviation",
                "%",
                worst(&large, &fifo_write_amplification),
                most,
            ),
            CheckFigure::near("sequential writes", "", sequential, 1.0, 0.0),
        ],
        charts: vec![Chart {
            id: "amplification",
            title: "Write amplification over over-provisioning",
            x: Axis::linear("flash that the host does not see, %"),
            y: Axis::linear("write amplification"),
            curves,
        }],
    })
}

fn random(spare: f64, (lines, pages): (u32, u32)) -> f64 {
    structure_write_amplification(spare_layout(spare, lines, pages), Traffic::Random, 4.0, 7)
        .unwrap_or(f64::NAN)
}
