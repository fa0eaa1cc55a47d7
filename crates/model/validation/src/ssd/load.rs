//! Loads on the modelled drive, in its own time.

use super::closed_forms::program_rate;
use super::structure::{Numbers, Traffic};
use disklab_drive::ssd::{Parameters, SolidState};
use disklab_drive::{Completion, Drive, Nanos, Operation, Request};

/// Sectors of 512 B in 4 KiB.
const SMALL: u64 = 8;

/// Keeps `depth` requests in flight, from virtual time `now` on; `next` gives each
/// one's operation, first sector and sectors, until it gives none. `ended` is told
/// of each end. Gives when the last was done.
fn keep_busy(
    drive: &mut SolidState,
    now: u64,
    depth: u64,
    mut next: impl FnMut() -> Option<(Operation, u64, u64)>,
    mut ended: impl FnMut(u64),
) -> u64 {
    let (mut last, mut in_flight) = (now, 0_u64);
    let mut done: Vec<Completion> = Vec::new();
    let mut submit = |drive: &mut SolidState, now: u64, in_flight: &mut u64| {
        if let Some((operation, sector, sectors)) = next() {
            *in_flight += 1;
            drive.submit(Nanos(now), Request { id: 0, operation, sector, sectors });
        }
    };
    for _ in 0..depth {
        submit(drive, now, &mut in_flight);
    }
    while in_flight > 0 {
        // Requests are in flight, so there is a next event.
        let Some(at) = drive.next_event() else { break };
        drive.advance(at, &mut done);
        for completion in done.drain(..) {
            in_flight -= 1;
            last = completion.at.0;
            ended(last);
            submit(drive, last, &mut in_flight);
        }
    }
    last
}

/// Requests of `sectors` each that cover `of` sectors in order, the last maybe less.
fn in_order(
    operation: Operation,
    sectors: u64,
    of: u64,
) -> impl FnMut() -> Option<(Operation, u64, u64)> {
    let mut at = 0;
    move || {
        let begin = at;
        at = of.min(at + sectors);
        (begin < at).then_some((operation, begin, at - begin))
    }
}

/// How long a drive may still be programming after a flush, ns: one whose memory outlasts a loss of
/// power has nothing to flush, and may have all of it to program.
fn left_behind(parameters: &Parameters) -> u64 {
    let buffer = &parameters.buffer;
    if !buffer.power_loss_protection {
        return 0;
    }
    let rate = program_rate(parameters, parameters.flash.program);
    (buffer.size as f64 / rate * 1e9) as u64 + 2 * parameters.flash.program
}

/// A drive whose first `bytes` are written, and programmed. Gives the time as well.
fn written(parameters: &Parameters, bytes: u64) -> (SolidState, u64) {
    let mut drive = SolidState::new(parameters);
    let sectors = (bytes / 4096 * SMALL).min(drive.sectors() / SMALL * SMALL);
    let now = keep_busy(&mut drive, 0, 8, in_order(Operation::Write, 2048, sectors), |_| {});
    let mut flush = std::iter::once((Operation::Flush, 0, 0));
    let now = keep_busy(&mut drive, now, 1, || flush.next(), |_| {});
    (drive, now + left_behind(parameters))
}

/// Operations per second of 4 KiB at uniformly random offsets within the first `span`
/// bytes, all of which are written before, with `depth` in flight.
pub fn random_iops(
    parameters: &Parameters,
    operation: Operation,
    depth: u64,
    span: u64,
    count: u64,
) -> f64 {
    let (mut drive, now) = written(parameters, span);
    let mut numbers = Numbers(depth);
    let places = (span / 4096).min(drive.sectors() / SMALL);
    let mut left = count;
    let next = || {
        left = left.checked_sub(1)?;
        Some((operation, numbers.below(places) * SMALL, SMALL))
    };
    let end = keep_busy(&mut drive, now, depth, next, |_| {});
    count as f64 / (end - now) as f64 * 1e9
}

/// Mean seconds of reads of 4 KiB, one after the other, spread over the first `span`
/// bytes.
pub fn small_read_latency(parameters: &Parameters, span: u64, count: u64) -> f64 {
    1.0 / random_iops(parameters, Operation::Read, 1, span, count)
}

/// B/s of reading the first `total` bytes, written before, in order: `request` bytes at a
/// time, with `depth` in flight.
pub fn sequential_read_rate(parameters: &Parameters, request: u64, depth: u64, total: u64) -> f64 {
    let (mut drive, begun) = written(parameters, total);
    let sectors = (total / 512).min(drive.sectors());
    let end = keep_busy(
        &mut drive,
        begun,
        depth,
        in_order(Operation::Read, request / 512, sectors),
        |_| {},
    );
    (sectors * 512) as f64 / (end - begun).max(1) as f64 * 1e9
}

/// A rate, and where or when it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePoint {
    /// Bytes written before.
    pub written: u64,
    /// Virtual seconds gone by.
    pub seconds: f64,
    /// B/s of the host since the point before.
    pub rate: f64,
    /// Units programmed for each of the host's since the point before.
    pub write_amplification: f64,
}

/// Rates of writing a new drive in order, in writes of `request` bytes with `depth`
/// in flight, over each `step` of the first `total` bytes: an SLC cache ends in a cliff.
pub fn sequential_write_rates(
    parameters: &Parameters,
    request: u64,
    depth: u64,
    step: u64,
    total: u64,
) -> Vec<RatePoint> {
    let mut drive = SolidState::new(parameters);
    let total = (total / 512).min(drive.sectors());
    let (request, step) = ((request / 512).max(1), (step / 512).max(1));
    let (mut points, mut now, mut at) = (Vec::new(), 0, 0);
    while at < total {
        let sectors = step.min(total - at);
        let mut next = in_order(Operation::Write, request, sectors);
        let place = || next().map(|(operation, sector, n)| (operation, at + sector, n));
        let (began, wear) = (now, drive.wear());
        now = keep_busy(&mut drive, now, depth, place, |_| {});
        at += sectors;
        points.push(RatePoint {
            written: at * 512,
            seconds: now as f64 * 1e-9,
            rate: (sectors * 512) as f64 / (now - began).max(1) as f64 * 1e9,
            write_amplification: drive.wear().since(&wear).write_amplification(),
        });
    }
    points
}

/// Rates of writing units of the map, in order or at random, on a drive that was
/// written whole once before: each point is over `step` bytes, and there are `points`.
/// The first are those of a fresh drive, the last those of the steady state.
pub fn random_write_rates(
    parameters: &Parameters,
    traffic: Traffic,
    depth: u64,
    step: u64,
    points: usize,
) -> Vec<RatePoint> {
    let (mut drive, begun) = written(parameters, parameters.visible);
    let unit = parameters.flash.map_unit / 512;
    let units = (drive.sectors() / unit).max(1);
    let (mut numbers, mut in_turn, mut now) = (Numbers(depth), 0, begun);
    let count = (step / 512 / unit).max(1);
    (1..=points as u64)
        .map(|point| {
            let (began, wear, mut left) = (now, drive.wear(), count);
            let next = || {
                left = left.checked_sub(1)?;
                in_turn += 1;
                let place = match traffic {
                    Traffic::Sequential => in_turn % units,
                    Traffic::Random => numbers.below(units),
                };
                Some((Operation::Write, place * unit, unit))
            };
            now = keep_busy(&mut drive, now, depth, next, |_| {});
            RatePoint {
                written: point * count * unit * 512,
                seconds: (now - begun) as f64 * 1e-9,
                rate: (count * unit * 512) as f64 / (now - began).max(1) as f64 * 1e9,
                write_amplification: drive.wear().since(&wear).write_amplification(),
            }
        })
        .collect()
}
