//! IOPS over queue depth.

use super::{random_iops, read_latency};
use disklab_drive::Operation;
use disklab_drive::ssd::Parameters;
use disklab_drive::{DriveFile, Kind};

use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome};

pub(crate) const CHECK: Check = Check {
    id: "flash-depth",
    title: "IOPS over queue depth",
    about: "\
Random reads of 4 KiB within 2 GiB that were written before and have left the SLC cache, where \
there is one. Theory at depth 1: overhead + read of the flash + transfer over channel and link. \
At great depths the first of these is the limit: the link, the controller (one command after the \
other), or the dies (one read each).",
    by_drive: None,
    run,
};

/// Depths that are measured.
const DEPTHS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// What is read of.
const SPAN: u64 = 2 << 30;

/// Reads of each point.
const REQUESTS: u64 = 20_000;

fn run(file: &DriveFile) -> Option<Outcome> {
    let Kind::Ssd(parameters) = &file.kind else { return None };
    let p = &Parameters { slc_cache: None, ..parameters.clone() };
    let span = SPAN.min(p.visible);
    let model =
        DEPTHS.map(|depth| (depth as f64, random_iops(p, Operation::Read, depth, span, REQUESTS)));
    let single = 1.0 / read_latency(p);
    let link = p.interface.link_rate / 4096.0;
    let controller = 1e9 / p.interface.command.max(1) as f64;
    let read = p.flash.read_4k as f64 * 1e-9 + 4096.0 / p.flash.channel_rate;
    let dies = p.all_dies() as f64 / read;
    let most = link.min(controller).min(dies);
    let falls = model.windows(2).filter(|pair| pair[1].1 < 0.98 * pair[0].1).count();
    let scaled = |iops: f64| iops / 1000.0;
    let line = |y: f64| [(1.0, scaled(y)), (128.0, scaled(y))];
    let curves = vec![
        Curve::new("depth 1, theory", Mark::Dashes, 2, line(single)),
        Curve::new("limit", Mark::Dashes, 1, line(most)),
        Curve::new("model", Mark::LineAndPoints, 0, model.map(|(d, iops)| (d, scaled(iops)))),
    ];
    let highest = model.iter().map(|(_, iops)| *iops).fold(0.0, f64::max);
    Some(Outcome {
        figures: vec![
            CheckFigure::near("depth 1", "IOPS", model[0].1, single, 0.02),
            CheckFigure::at_most("highest over the limit", "", highest / most, 1.01),
            CheckFigure::usual("highest over depth 1", "", highest / model[0].1, (4.0, 100.0)),
            CheckFigure::at_most("deeper queues that did less", "", falls as f64, 0.0),
        ],
        charts: vec![Chart {
            id: "flash-depth",
            title: "Random reads over queue depth",
            x: Axis::doublings("requests in flight"),
            y: Axis::linear("random reads, 1000 IOPS"),
            curves,
        }],
    })
}
