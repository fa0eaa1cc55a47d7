//! Rates of writing on and on.

use super::{
    RatePoint, Traffic, program_rate, random_write_rates, sequential_write_rates, steady_write_rate,
};
use disklab_drive::ssd::Parameters;
use disklab_drive::{DriveFile, Kind};

use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome};

pub(crate) const CHECK: Check = Check {
    id: "flash-writes",
    title: "Writing on and on",
    about: "\
First: a new drive written sequentially, 1 MiB at a time, four in flight, for 8/5 of its SLC cache (16 \
GiB if it has none; of a cache above 150 GB, 48 GB are taken for all, and it is emptied at \
the same rate). While the cache of one-bit cells has room, the rate is that at which all \
dies together program such cells, or the link's; after that, that of cells with all their bits, less \
what goes into emptying the cache. Second: a small drive of the same parameters (a four-hundredth of \
the flash, in shorter blocks, with the same spare part and no SLC cache), written whole and then at \
random: garbage collection begins, and the rate falls to dies · page / (A·t_program + (A − 1)·t_read \
+ A·t_erase/N), with the write amplification A that was measured.",
    by_drive: None,
    run,
};

const MIB: u64 = 1 << 20;
const GIB: f64 = 1_073_741_824.0;

/// A cache larger than this is written in part: each GB takes a tenth of a second to model.
const LARGE_CACHE: u64 = 150_000_000_000;
const PART: u64 = 48_000_000_000;

/// The drive, with a part of its SLC cache where that is large.
fn with_less_cache(p: &Parameters) -> Parameters {
    let mut p = p.clone();
    if let Some(cache) = p.slc_cache.as_mut().filter(|cache| cache.size > LARGE_CACHE) {
        cache.size = PART;
    }
    p
}

fn run(file: &DriveFile) -> Option<Outcome> {
    let Kind::Ssd(p) = &file.kind else { return None };
    let p = &with_less_cache(p);
    let enough = p.slc_cache.as_ref().map_or(16 << 30, |cache| cache.size / 5 * 8);
    let step = (enough.min(p.visible) / 60 / MIB).max(1) * MIB;
    let points = sequential_write_rates(p, MIB, 4, step, 60 * step);
    let link = p.interface.link_rate;
    let first = p.slc_cache.as_ref().map_or(p.flash.program, |cache| cache.program);
    let fresh = program_rate(p, first).min(link);
    let later = program_rate(p, p.flash.program).min(link);
    let mut figures = Vec::new();
    if let (Some(begin), Some(end)) = (points.get(1), points.last()) {
        figures.push(CheckFigure::near(
            "a new drive, at first",
            "MB/s",
            begin.rate / 1e6,
            fresh / 1e6,
            0.05,
        ));
        if p.slc_cache.is_some() {
            let slowest = points.iter().map(|point| point.rate).fold(end.rate, f64::min);
            let (slowest, bound) = (slowest / 1e6, later * 1.02 / 1e6);
            figures.push(CheckFigure::at_most(
                "behind the SLC cache, slowest",
                "MB/s",
                slowest,
                bound,
            ));
        }
    }
    let mut charts = vec![sequential(&points, fresh, later)];
    if let Some((small, points)) = steady(p) {
        if let Some(last) = points.last() {
            let theory = steady_write_rate(&small, last.write_amplification);
            figures.push(CheckFigure::near(
                "random, steady",
                "MB/s",
                last.rate / 1e6,
                theory / 1e6,
                0.1,
            ));
            figures.push(CheckFigure::usual(
                "write amplification, steady",
                "",
                last.write_amplification,
                (1.5, 10.0),
            ));
        }
        charts.push(random(&small, &points));
    }
    Some(Outcome { figures, charts })
}

/// Rates over what was written sequentially.
fn sequential(points: &[RatePoint], fresh: f64, later: f64) -> Chart {
    let end = points.last().map_or(1.0, |point| point.written as f64 / GIB);
    let line = |y: f64| [(0.0, y / 1e6), (end, y / 1e6)];
    Chart {
        id: "flash-sequential",
        title: "Rate of sequential writes on a new drive",
        x: Axis::linear("written, GiB"),
        y: Axis::linear("rate, MB/s"),
        curves: vec![
            Curve::new("first programming, theory", Mark::Dashes, 2, line(fresh)),
            Curve::new("all bits, theory", Mark::Dashes, 1, line(later)),
            Curve::new(
                "model",
                Mark::LineAndPoints,
                0,
                points.iter().map(|point| (point.written as f64 / GIB, point.rate / 1e6)),
            ),
        ],
    }
}

/// A small drive of the same kind, and its rates under random writes. `None` where
/// the small drive cannot be.
fn steady(p: &Parameters) -> Option<(Parameters, Vec<RatePoint>)> {
    let capacity = (p.capacity / 400 / MIB).max(1) * MIB;
    let mut small = Parameters { capacity, visible: capacity, slc_cache: None, ..p.clone() };
    // Lines as long as the large drive's would be too few: blocks shrink with it.
    small.flash.block_pages = (p.flash.block_pages / 32).max(8);
    small.check().ok()?;
    let points = random_write_rates(&small, Traffic::Random, 32, capacity / 8, 16);
    Some((small, points))
}

/// Rates over what was written at random, and what theory makes of each point's
/// write amplification.
fn random(small: &Parameters, points: &[RatePoint]) -> Chart {
    let times = |point: &RatePoint| point.written as f64 / small.capacity as f64;
    let theory = points
        .iter()
        .map(|point| (times(point), steady_write_rate(small, point.write_amplification) / 1e6));
    Chart {
        id: "flash-random",
        title: "Rate of random writes on a full drive",
        x: Axis::linear("written at random, times the capacity"),
        y: Axis::linear("rate, MB/s"),
        curves: vec![
            Curve::new("theory, of the measured A", Mark::Line, 1, theory),
            Curve::new(
                "model",
                Mark::Points,
                0,
                points.iter().map(|point| (times(point), point.rate / 1e6)),
            ),
        ],
    }
}
