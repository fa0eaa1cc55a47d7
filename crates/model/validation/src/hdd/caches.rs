//! The drive's memory, and what it costs to do without.

use disklab_drive::hdd::{HardDisk, Parameters, SectorFormat};
use disklab_drive::{DriveFile, Operation};

use super::conventional;
use crate::load::{carry_out, random_iops_shifted};
use crate::{Check, CheckFigure, Outcome, theory};

pub(crate) const CHECK: Check = Check {
    id: "caches",
    title: "Caches",
    about: "\
Without write cache (WCE = 0), each write of the same sectors has to wait until they come round \
again: exactly one revolution. The next sectors on the track follow one revolution and their own \
length later. Half a physical sector (512e) is read first and written one revolution later. With \
write cache the drive does other work meanwhile: a random write that cuts two physical sectors costs \
two visits, one that reads both and one that writes both, each chosen among as many as an aligned \
write's. Published: with mixed loads up to 50 % fewer I/Os (Tom's Hardware, 'Advanced Format'); of a WD \
Green of 2010 22 to 24 s for 1000 of them, 7 to 8 s for aligned ones, each durable, so 2.75 to 3.4 times \
as long. What is in memory, written or read, takes overhead and link; so does a write with write \
cache, and without it where memory outlasts a loss of power, with the time of a log if the drive \
keeps one on its medium. The other figures without write cache are of the medium.",
    by_drive: None,
    run,
};

/// Random writes of each kind; many more than the cache's memory holds pieces.
const WRITES: u64 = 6000;

fn run(file: &DriveFile) -> Option<Outcome> {
    let whole = conventional(file)?;
    let p = &Parameters { persistent: 0, ..whole.clone() };
    let revolution = theory::revolution(p);
    let own = 4096.0 / (theory::rate(p, 0.5 * p.visible as f64 / p.capacity as f64) * revolution);
    let hit = p.read_overhead as f64 * 1e-9 + theory::link(p, 4096);
    let cached = p.write_overhead as f64 * 1e-9 + theory::link(p, 4096);
    let mut figures = vec![
        CheckFigure::near(
            "uncached rewrite of 4 KiB",
            "turns",
            rewrite(p, 0) / revolution,
            1.0,
            1e-5,
        ),
        CheckFigure::near(
            "uncached write of the next 4 KiB",
            "turns",
            rewrite(p, 8) / revolution,
            1.0 + own,
            0.001,
        ),
    ];
    if p.sectors == SectorFormat::Emulated512 {
        let name = "uncached write of half a physical sector, beyond a whole one";
        figures.push(CheckFigure::near(name, "turns", partial(p) / revolution, 1.0, 0.01));
        figures.extend(misaligned(p));
    }
    let (read_back, written) = (read_back(p) * 1e6, write(p) * 1e6);
    figures.push(CheckFigure::near(
        "read of 4 KiB just written",
        "µs",
        read_back,
        hit * 1e6,
        0.001,
    ));
    figures.push(CheckFigure::near("cached write of 4 KiB", "µs", written, cached * 1e6, 0.001));
    if whole.persistent > 0 {
        let off = Parameters { write_cache: false, ..whole.clone() };
        let durable = carry_out(&mut HardDisk::new(&off, 5), 0, Operation::Write, 80_000, 8);
        let expected = cached * 1e6 + whole.persistent_write as f64 * 1e-3;
        let name = "write of 4 KiB without write cache, in memory that outlasts a loss of power";
        figures.push(CheckFigure::near(name, "µs", durable as f64 * 1e-3, expected, 0.001));
    }
    Some(Outcome { figures, charts: Vec::new() })
}

/// The median time of writes of 4 KiB in the middle of the drive without write cache,
/// each `step` sectors from the last, s. On the way a track may end, and the next begins
/// by a skew later; a mean would have a part of that.
fn rewrite(p: &Parameters, step: u64) -> f64 {
    let mut drive = HardDisk::new(&Parameters { write_cache: false, ..p.clone() }, 4);
    let mut sector = p.visible / 512 / 16 * 8;
    let mut now = carry_out(&mut drive, 0, Operation::Write, sector, 8);
    let mut times: Vec<_> = (0..21)
        .map(|_| {
            sector += step;
            let begun = now;
            now = carry_out(&mut drive, begun, Operation::Write, sector, 8);
            now - begun
        })
        .collect();
    times.sort_unstable();
    times[10] as f64 * 1e-9
}

/// How many aligned random writes go into the time of one that is not, with write cache: what
/// theory allows, and what was published.
fn misaligned(p: &Parameters) -> [CheckFigure; 2] {
    let iops = |dirty_extents, shift| {
        let p = Parameters { dirty_extents, write_cache: true, ..p.clone() };
        let drive = &mut HardDisk::new(&p, 1);
        random_iops_shifted(drive, Operation::Write, 1, p.visible, WRITES, shift)
    };
    let aligned = iops(p.dirty_extents, 0);
    let ratio = aligned / iops(p.dirty_extents, 1);
    let name = "cached random write of 4 KiB across two physical sectors, over an aligned one";
    [
        CheckFigure::near(name, "", ratio, 2.0, 0.1),
        CheckFigure::usual(format!("{name}, published"), "", ratio, (1.0, 24.0 / 7.0)),
    ]
}

/// By how much a write of half a physical sector takes longer than of a whole, s: both
/// write the whole one.
fn partial(p: &Parameters) -> f64 {
    let time = |sectors| {
        let mut drive = HardDisk::new(&Parameters { write_cache: false, ..p.clone() }, 5);
        carry_out(&mut drive, 0, Operation::Write, 80_000, sectors) as f64 * 1e-9
    };
    time(4) - time(8)
}

/// A read of what was just written, s.
fn read_back(p: &Parameters) -> f64 {
    let mut drive = HardDisk::new(&Parameters { write_cache: true, ..p.clone() }, 5);
    let written = carry_out(&mut drive, 0, Operation::Write, 80_000, 8);
    (carry_out(&mut drive, written, Operation::Read, 80_000, 8) - written) as f64 * 1e-9
}

/// A write with write cache, s.
fn write(p: &Parameters) -> f64 {
    let mut drive = HardDisk::new(&Parameters { write_cache: true, ..p.clone() }, 5);
    carry_out(&mut drive, 0, Operation::Write, 80_000, 8) as f64 * 1e-9
}
