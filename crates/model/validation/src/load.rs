//! Loads on drives of virtual time: what fio would be asked to do on real ones.

use disklab_drive::{Completion, Drive, Nanos, Operation, Request};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Bytes of the requests of random loads.
pub const BLOCK: u64 = 4096;

/// Sectors of a request of [`BLOCK`] bytes.
const SECTORS: u64 = BLOCK / 512;

/// As a host sends it, without hints.
pub fn request(id: u64, operation: Operation, sector: u64, sectors: u64) -> Request {
    Request { id, operation, sector, sectors }
}

/// A generator whose numbers follow from `seed`, on every machine.
pub fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Advances until something completes, and appends that to `done`; at once where
/// there is something in it. Where nothing is in flight, nothing is appended.
pub fn next_completion(drive: &mut dyn Drive, done: &mut Vec<Completion>) {
    while done.is_empty() {
        let Some(at) = drive.next_event() else { return };
        drive.advance(at, done);
    }
}

/// Carries one request out, begun at `now`, while nothing else is in flight; gives
/// when it was done, ns.
pub fn carry_out(
    drive: &mut dyn Drive,
    now: u64,
    operation: Operation,
    sector: u64,
    sectors: u64,
) -> u64 {
    let mut done = Vec::new();
    drive.submit(Nanos(now), request(0, operation, sector, sectors));
    next_completion(drive, &mut done);
    done.first().map_or(now, |completion| completion.at.0)
}

/// Operations per second of 4 KiB at uniformly random offsets within the first
/// `span` bytes, with `depth` of them in flight at all times, over `count` of them.
pub fn random_iops(
    drive: &mut dyn Drive,
    operation: Operation,
    depth: u64,
    span: u64,
    count: u64,
) -> f64 {
    random_iops_shifted(drive, operation, depth, span, count, 0)
}

/// The same, each block `shift` sectors behind the place where it is aligned.
pub fn random_iops_shifted(
    drive: &mut dyn Drive,
    operation: Operation,
    depth: u64,
    span: u64,
    count: u64,
    shift: u64,
) -> f64 {
    let mut random = random(depth ^ 0x5eed);
    let blocks = (span / BLOCK).saturating_sub(shift.min(1)).max(1);
    let mut place = || random.random_range(0..blocks) * SECTORS + shift;
    for id in 0..depth {
        drive.submit(Nanos(0), request(id, operation, place(), SECTORS));
    }
    let (mut completed, mut last) = (0_u64, 0);
    let mut done = Vec::new();
    while completed < count {
        next_completion(drive, &mut done);
        if done.is_empty() {
            break;
        }
        for completion in done.drain(..) {
            completed += 1;
            last = completion.at.0;
            drive.submit(completion.at, request(completion.id, operation, place(), SECTORS));
        }
    }
    completed as f64 / last.max(1) as f64 * 1e9
}

/// Seconds that a sequential read of the whole drive takes, in reads of `bytes`,
/// each of which is sent when the last is done.
pub fn scan_seconds(drive: &mut dyn Drive, bytes: u64) -> f64 {
    let (mut now, mut sector, total) = (0, 0, drive.sectors());
    while sector < total {
        let sectors = (bytes / 512).max(1).min(total - sector);
        now = carry_out(drive, now, Operation::Read, sector, sectors);
        sector += sectors;
    }
    now as f64 * 1e-9
}

/// B/s of 200 sequential reads of 1 MiB, one after the other, from the part `x` of
/// the drive on (from as near to the end as there is room for them).
pub fn rate_at(drive: &mut dyn Drive, x: f64) -> f64 {
    let (reads, sectors) = (200, 2048);
    let room = drive.sectors().saturating_sub((reads + 1) * sectors);
    let mut sector = (room as f64 * x) as u64 / 8 * 8;
    let begun = carry_out(drive, 0, Operation::Read, sector, sectors);
    let mut now = begun;
    for _ in 0..reads {
        sector += sectors;
        now = carry_out(drive, now, Operation::Read, sector, sectors);
    }
    (reads * sectors * 512) as f64 / (now - begun).max(1) as f64 * 1e9
}
