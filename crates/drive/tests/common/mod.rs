//! Loads on modelled drives, and what the data sheets' numbers let expect of them.
#![allow(dead_code)]

use disklab_drive::hdd::{HardDisk, Parameters};
use disklab_drive::{Completion, Drive, Kind, Nanos, Operation, Request, SHIPPED, shipped};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub const GIB: u64 = 1 << 30;

/// The shipped hard disks.
pub fn drives() -> Vec<(&'static str, Parameters)> {
    SHIPPED
        .iter()
        .filter_map(|(id, _)| match shipped(id).expect("all shipped drives load").kind {
            Kind::Hdd(parameters) => Some((*id, parameters)),
            _ => None,
        })
        .collect()
}

pub fn request(id: u64, operation: Operation, sector: u64, sectors: u64) -> Request {
    Request { id, operation, sector, sectors }
}

/// Advances until something completes.
pub fn next_completion(drive: &mut HardDisk, done: &mut Vec<Completion>) {
    while done.is_empty() {
        let at = drive.next_event().expect("requests are outstanding");
        drive.advance(at, done);
    }
}

/// Carries one request out; gives when it was done.
pub fn carry_out(drive: &mut HardDisk, now: u64, operation: Operation, at: u64, n: u64) -> u64 {
    let mut done = Vec::new();
    drive.submit(Nanos(now), request(0, operation, at, n));
    next_completion(drive, &mut done);
    done[0].at.0
}

/// Operations per second of 4 KiB at uniformly random places within the outer
/// `span` bytes, at a constant depth.
pub fn random_iops(
    p: &Parameters,
    operation: Operation,
    depth: u64,
    span: u64,
    count: u64,
) -> (f64, HardDisk) {
    let mut random = ChaCha8Rng::seed_from_u64(depth ^ 0x5eed);
    let mut drive = HardDisk::new(p, 1);
    let mut done = Vec::new();
    let mut place = || random.random_range(0..span / 4096) * 8;
    for id in 0..depth {
        drive.submit(Nanos(0), request(id, operation, place(), 8));
    }
    let (mut completed, mut last) = (0, 0);
    while completed < count {
        next_completion(&mut drive, &mut done);
        for completion in done.drain(..) {
            completed += 1;
            last = completion.at.0;
            drive.submit(completion.at, request(completion.id, operation, place(), 8));
        }
    }
    (completed as f64 / last as f64 * 1e9, drive)
}

/// R(x), the rate at the part `x` of the sectors, B/s.
pub fn rate(p: &Parameters, x: f64) -> f64 {
    (p.outer_rate.powi(2) - x * (p.outer_rate.powi(2) - p.inner_rate.powi(2))).sqrt()
}

/// 1/(E[seek] + T/2 + overhead + transfer) for random reads of 4 KiB at depth 1,
/// with the expectation over pairs of sectors that are uniform over the drive, from
/// the continuous curves: no zones, no tracks, no heads.
pub fn expected_iops(p: &Parameters) -> f64 {
    const STEPS: usize = 600;
    let cylinder = |step: usize| {
        let x = (step as f64 + 0.5) / STEPS as f64;
        (p.outer_rate - rate(p, x)) / (p.outer_rate - p.inner_rate)
    };
    let [first, average, full] =
        [p.read_seek.single_track, p.read_seek.average, p.read_seek.full].map(|t| t as f64 * 1e-9);
    let root = (-10.0 * first + 15.0 * average - 5.0 * full) / 3.0;
    let linear = (7.0 * first - 15.0 * average + 8.0 * full) / 3.0;
    let mut sum = 0.0;
    for from in (0..STEPS).map(cylinder) {
        for to in (0..STEPS).map(cylinder) {
            let distance = (to - from).abs();
            sum += root * distance.sqrt() + linear * distance + first;
        }
    }
    let seek = sum / (STEPS * STEPS) as f64;
    let half_turn = 30.0 / p.rpm as f64;
    let overhead = p.read_overhead as f64 * 1e-9;
    let transfer = 4096.0 / f64::midpoint(p.outer_rate, p.inner_rate) + 4096.0 / p.link_rate;
    1.0 / (seek + half_turn + overhead + transfer)
}

/// Seconds that a sequential read of the whole drive takes, in reads of `bytes`
/// each of which is sent when the last is done.
pub fn scan_seconds(p: &Parameters, bytes: u64) -> f64 {
    let mut drive = HardDisk::new(p, 2);
    let (mut now, mut sector, total) = (0, 0, p.capacity / 512);
    while sector < total {
        let sectors = (bytes / 512).min(total - sector);
        now = carry_out(&mut drive, now, Operation::Read, sector, sectors);
        sector += sectors;
    }
    now as f64 * 1e-9
}

/// B/s of sequential reads of 1 MiB, one after the other, around the part `x` of
/// the sectors.
pub fn rate_at(p: &Parameters, x: f64) -> f64 {
    let mut drive = HardDisk::new(p, 3);
    let (reads, sectors) = (200, 2048);
    let room = p.capacity / 512 - (reads + 1) * sectors;
    let mut sector = (room as f64 * x) as u64 / 8 * 8;
    let begun = carry_out(&mut drive, 0, Operation::Read, sector, sectors);
    let mut now = begun;
    for _ in 0..reads {
        sector += sectors;
        now = carry_out(&mut drive, now, Operation::Read, sector, sectors);
    }
    (reads * sectors * 512) as f64 / (now - begun) as f64 * 1e9
}

/// Without write cache, the mean time of rewriting the same 4 KiB, and of writing
/// the next 4 KiB on the same track, in turns.
pub fn rewrite_turns(p: &Parameters) -> (f64, f64) {
    let p = Parameters { write_cache: false, ..p.clone() };
    let turn = p.turn() as f64;
    let mut turns = [0.0; 2];
    for (kind, turns) in turns.iter_mut().enumerate() {
        let mut drive = HardDisk::new(&p, 4);
        let mut sector = p.capacity / 512 / 16 * 8;
        let mut now = carry_out(&mut drive, 0, Operation::Write, sector, 8);
        let begun = now;
        for _ in 0..20 {
            sector += 8 * kind as u64;
            now = carry_out(&mut drive, now, Operation::Write, sector, 8);
        }
        *turns = (now - begun) as f64 / 20.0 / turn;
    }
    (turns[0], turns[1])
}
