//! Random writes over the window of the destage.

use disklab_drive::hdd::{HardDisk, Parameters};
use disklab_drive::{DriveFile, Operation};

use super::conventional;
use crate::load::{BLOCK, random_iops};
use crate::of_shipped::of_shipped;
use crate::{Axis, Chart, Check, CheckFigure, Curve, Mark, Outcome, theory};

pub(crate) const CHECK: Check = Check {
    id: "destage",
    title: "Random writes over the window of the destage",
    about: "\
Random writes of 4 KiB over the whole drive with write cache, at depth 1, when the cache is full. \
Of the waiting writes the drive writes out the one that the arm reaches first; the wider the \
window (`dirty-extents`), the more there are to choose from. Drives gain 1.2 times (Seagate, 2003) to \
some 7 times, if data sheets say what random writes make (docs/validation/ncq.md). With a window of one there is no choice: 1/(E[write seek] + half a revolution + transfer), \
dashed; overhead and link are hidden behind the medium's work.",
    by_drive: None,
    run,
};

/// Windows that are measured.
const WINDOWS: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Writes of each point, beyond those that fill the window.
const REQUESTS: u64 = 6000;

/// Published: how many random writes go into the time of a random read, at depth 1, with write
/// cache, within so many bytes. The window of these drives was fitted to it.
///
/// Boost.AFIO's documentation, CrystalDiskMark 3.0.2 of April 2013, 'my Seagate 7200rpm drive', a
/// full partition of 180.1 GB: 188.3 writes and 118.8 reads a second.
const WRITES_OVER_READS: [(&str, (u64, f64)); 1] =
    [("st3500418as", (180_100_000_000, 188.3 / 118.8))];

fn run(file: &DriveFile) -> Option<Outcome> {
    let p = conventional(file)?;
    let seek = theory::mean_seek(p, p.write_seek);
    // The window is refilled while the medium works, but for the moment in which the
    // next write comes: so nothing but the medium's time counts.
    let one = 1.0 / (theory::service(p, seek, 0, BLOCK) - theory::link(p, BLOCK));
    let points = WINDOWS.map(|window| (window as f64, iops(p, window)));
    let falls = points.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    let own = iops(p, p.dirty_extents);
    let curves = vec![
        Curve::new("window of 1, theory", Mark::Dashes, 2, [(1.0, one), (512.0, one)]),
        Curve::new("model", Mark::LineAndPoints, 0, points),
        Curve::new("this drive", Mark::Squares, 1, [(p.dirty_extents as f64, own)]),
    ];
    let gain = own / points[0].1;
    let mut figures = vec![
        CheckFigure::near("window of 1", "IOPS", points[0].1, one, 0.03),
        CheckFigure::at_most("wider windows that did less", "", falls as f64, 0.0),
        CheckFigure::usual("gain of this drive's window over none", "", gain, (1.2, 7.5)),
    ];
    if let Some((span, published)) = of_shipped(file, &WRITES_OVER_READS) {
        figures.push(writes_over_reads(p, *span, *published));
    }
    Some(Outcome {
        figures,
        charts: vec![Chart {
            id: "destage",
            title: "Random writes over the window of the destage",
            x: Axis::doublings("window, separate writes"),
            y: Axis::linear("random writes, IOPS"),
            curves,
        }],
    })
}

/// How the drive's own ratio compares with the published one.
fn writes_over_reads(p: &Parameters, span: u64, published: f64) -> CheckFigure {
    let cached = Parameters { write_cache: true, ..p.clone() };
    let iops = |operation| {
        random_iops(&mut HardDisk::new(&cached, 1), operation, 1, span.min(p.visible), REQUESTS)
    };
    let ratio = iops(Operation::Write) / iops(Operation::Read);
    let name = format!("random writes over reads within {} GB, as published", span / 1_000_000_000);
    CheckFigure::near(name, "", ratio, published, 0.05)
}

fn iops(p: &Parameters, dirty_extents: u64) -> f64 {
    let mut drive = HardDisk::new(&Parameters { dirty_extents, write_cache: true, ..p.clone() }, 1);
    // The writes that only fill the window count too, as time that was not needed.
    let count = REQUESTS + 40 * dirty_extents;
    let iops = random_iops(&mut drive, Operation::Write, 1, p.visible, count);
    iops * (count - dirty_extents) as f64 / count as f64
}
