//! The cliff: synchronous random chunks fill the persistent cache.

use super::load::{CHUNKS, Cliff, Places, cliff};
use disklab_drive::{DriveFile, Kind};

use crate::of_shipped::of_shipped;
use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome};

pub(crate) const CHECK: Check = Check {
    id: "cliff",
    title: "The cliff",
    about: "\
Chunks at random offsets, each written with a flush behind it (`O_SYNC` on the raw device), until 48 \
GiB are written. While the persistent cache has room, each goes to its log; when it is full, each \
has to wait until bands are cleaned, and the rate falls off a cliff. Squares: what was published of \
this very model (github.com/aicodix/smr, 2018; read off its plots, to about 3 %). A chunk of 1 MiB \
came out at 7 to 12 MiB/s after the cliff, off the line of the others; its author repeated it.",
    by_drive: None,
    run,
};

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

/// What is written in each chunk size.
const TOTAL: u64 = 48 << 30;

/// The published figures of a drive: ms for each chunk before the cliff, its place in
/// GiB written, MiB/s after it; in the order of [`CHUNKS`].
type Published = [(f64, f64, f64); 7];

const PUBLISHED: [(&str, Published); 1] = [(
    "st8000as0002",
    [
        (21.6, 17.0, 9.5),
        (28.8, 22.8, 4.2),
        (44.4, 27.5, 7.7),
        (91.0, 28.0, 13.3),
        (198.0, 30.5, 20.5),
        (386.0, 30.2, 30.3),
        (1000.0, 34.5, 39.0),
    ],
)];

/// Part by which the model may differ from them (issue 5 of this project).
const TOLERANCE: f64 = 0.1;

/// The chunk sizes whose trend is drawn, MiB.
const DRAWN: [u64; 4] = [1, 4, 16, 64];

fn run(file: &DriveFile) -> Option<Outcome> {
    let Kind::Smr(parameters) = &file.kind else { return None };
    let cliffs = CHUNKS.map(|chunk| cliff(parameters, chunk, TOTAL, Places::Random(3)));
    let published = of_shipped(file, &PUBLISHED);
    let mut figures = Vec::new();
    for (index, cliff) in cliffs.iter().enumerate() {
        if let Some(row) = published.and_then(|rows| rows.get(index)) {
            figures.extend(figures_of(cliff, *row));
        }
    }
    Some(Outcome { figures, charts: vec![trend(&cliffs), over_chunks(&cliffs, published)] })
}

/// A cliff's figures and the published ones.
fn figures_of(cliff: &Cliff, (before, at, after): (f64, f64, f64)) -> [CheckFigure; 3] {
    let chunk = format!("{} MiB chunks", cliff.chunk >> 20);
    let place = cliff.at.map_or(f64::NAN, |bytes| bytes as f64 / GIB);
    let near = |what: &str, unit, model, value| {
        CheckFigure::near(format!("{chunk}, {what}"), unit, model, value, TOLERANCE)
    };
    let after = match cliff.chunk >> 20 {
        // Published as a range.
        1 => CheckFigure::usual(
            format!("{chunk}, after the cliff"),
            "MiB/s",
            cliff.after / MIB,
            (7.0, 12.0),
        ),
        _ => near("after the cliff", "MiB/s", cliff.after / MIB, after),
    };
    [
        near("each before the cliff", "ms", cliff.before / 1e6, before),
        near("the cliff", "GiB", place, at),
        after,
    ]
}

/// The rate over what was written.
fn trend(cliffs: &[Cliff]) -> Chart {
    let drawn = cliffs.iter().filter(|cliff| DRAWN.contains(&(cliff.chunk >> 20)));
    let curves = drawn.zip(0..).map(|(cliff, colour)| {
        let points =
            cliff.windows.iter().map(|w| (w.written as f64 / GIB, (w.rate / MIB).max(0.1)));
        Curve::new(format!("{} MiB", cliff.chunk >> 20), Mark::Line, colour, points)
    });
    Chart {
        id: "cliff",
        title: "Rate of synchronous random chunks over what was written",
        x: Axis::linear("written, GiB"),
        y: Axis::decades("rate, MiB/s"),
        curves: curves.collect(),
    }
}

/// The rates on both sides of the cliff over the size of a chunk.
fn over_chunks(cliffs: &[Cliff], published: Option<&Published>) -> Chart {
    let mib = |cliff: &Cliff| (cliff.chunk >> 20) as f64;
    let before = cliffs.iter().map(|c| (mib(c), mib(c) / (c.before / 1e9)));
    let after = cliffs.iter().map(|c| (mib(c), c.after / MIB));
    let mut curves = vec![
        Curve::new("before the cliff", Mark::LineAndPoints, 0, before),
        Curve::new("after it", Mark::LineAndPoints, 1, after),
    ];
    if let Some(rows) = published {
        let each = || cliffs.iter().map(mib).zip(rows);
        let before = each().map(|(chunk, (ms, _, _))| (chunk, chunk * 1e3 / ms));
        let after = each().map(|(chunk, (_, _, rate))| (chunk, *rate));
        curves.push(Curve::new("published, before", Mark::Squares, 0, before));
        curves.push(Curve::new("published, after", Mark::Squares, 1, after));
    }
    Chart {
        id: "chunks",
        title: "Rate before and after the cliff over the size of a chunk",
        x: Axis::doublings("chunk, MiB"),
        y: Axis::decades("rate, MiB/s"),
        curves,
    }
}
