//! Small writes and flushes: what the controller takes, and what it takes to be durable.

use rand::Rng;

use super::flash_writes::{FlashWrites, SMALL_ROOM};
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, least_squares, median, median_error};
use crate::findings::MeasuredCurve;
use crate::load::{BLOCK, carry_out, keep_busy, per_second};
use crate::timed::DriveAccess;

/// Sizes, all of which fit into the buffer of any drive.
const SIZES: [u64; 6] = [BLOCK, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10];
/// Writes of each size.
const WRITES: usize = 200;
/// Time after each, in which the buffer becomes empty.
const PAUSE: u64 = 5_000_000;
const DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Writes at each depth, and in flight.
const BUSY: u64 = 4000;
/// Writes with a flush behind each.
const FLUSHES: usize = 100;
/// A flush that has something to write out and takes no longer than this beyond one that has not
/// programs no flash: those of protected drives take up to 195 µs (Kingston DC600M:
/// centminmod/centminmod-sysbench), those of others 255 µs and more (Team T253:
/// d-uzlov/k8s-homelab, test-fsync.md).
const NOTHING: f64 = 225_000.0;

pub(super) fn measure(writes: &mut FlashWrites<'_>) -> Result<(), ProbeError> {
    writes.fill(writes.room.start, SMALL_ROOM)?;
    sizes(writes)?;
    flushes(writes)?;
    depths(writes)
}

fn sizes(writes: &mut FlashWrites<'_>) -> Result<(), ProbeError> {
    let (mut rows, mut times, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for bytes in SIZES {
        let mut took = Vec::new();
        for _ in 0..WRITES {
            let place = writes.place(bytes);
            let done = carry_out(writes.drive, DriveAccess::write(place, bytes))?;
            took.push(done.took() as f64);
            writes.drive.idle(PAUSE)?;
        }
        rows.push([1.0, bytes as f64]);
        times.push(median(&took));
        errors.push(median_error(&took).max(1.0));
    }
    let points = SIZES.iter().zip(&times);
    writes.findings.curves.push(MeasuredCurve {
        title: "Latency of writes over their size",
        columns: ["KiB", "µs"],
        points: points.map(|(bytes, time)| (*bytes as f64 / 1024.0, time / 1e3)).collect(),
    });
    let weights: Vec<f64> = times.iter().map(|time| time.max(1.0).powi(-2)).collect();
    let Some([fixed, per_byte]) = least_squares(&rows, &times, &weights) else { return Ok(()) };
    let samples = WRITES * SIZES.len();
    let overhead = (fixed - writes.write_command()).max(1.0);
    writes
        .findings
        .found("interface.write-overhead", ProbedValue::within(overhead, errors[0], samples));
    // The link is known from reads only where nothing was written before.
    if writes.reads.value("interface.link").is_some() {
        let each = ((per_byte - writes.link()) * BLOCK as f64).max(0.0);
        let error = errors[5] * BLOCK as f64 / SIZES[5] as f64;
        writes
            .findings
            .found("interface.write-overhead-4k", ProbedValue::within(each, error, samples));
    }
    Ok(())
}

/// Flushes behind a small write, and behind nothing.
fn flushes(writes: &mut FlashWrites<'_>) -> Result<(), ProbeError> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..FLUSHES {
        let place = writes.place(BLOCK);
        carry_out(writes.drive, DriveAccess::write(place, BLOCK))?;
        with.push(writes.flush()?);
        without.push(writes.flush()?);
    }
    writes.flushes = [median(&with), median(&without)];
    let protected = writes.flushes[0] < writes.flushes[1] + NOTHING;
    writes.findings.found(
        "buffer.power-loss-protection",
        ProbedValue::within(f64::from(u8::from(protected)), 0.0, FLUSHES),
    );
    Ok(())
}

/// What a flush takes beyond programming the page that the write waits in.
pub(super) fn flush_overhead(writes: &mut FlashWrites<'_>) {
    let [with, without] = writes.flushes;
    if writes.findings.value("buffer.power-loss-protection") == Some(1.0) {
        writes.findings.note(
            "a flush is too short to program anything: what is in the buffer survives a loss of \
             power, or flushes are ignored",
        );
        let overhead = ProbedValue::within((with - without).max(1.0), 1000.0, FLUSHES);
        writes.findings.found("buffer.flush-overhead", overhead);
        return;
    }
    let program = if writes.is_cached { "slc-cache.program" } else { "flash.program" };
    let page = writes.known("flash.page") * writes.channel();
    let overhead = with - without - page - writes.known(program);
    if !writes.findings.values.contains_key(program) {
        writes.findings.note(format!(
            "how long the flash is programmed does not show behind this link: {program} is the \
             sibling's, and only its sum with buffer.flush-overhead is measured"
        ));
    }
    writes
        .findings
        .found("buffer.flush-overhead", ProbedValue::within(overhead.max(1.0), 1000.0, FLUSHES));
}

fn depths(writes: &mut FlashWrites<'_>) -> Result<(), ProbeError> {
    let deepest = writes.drive.queue_depth().unwrap_or(64).max(1);
    let mut points = Vec::new();
    for depth in DEPTHS.into_iter().filter(|depth| *depth <= deepest) {
        let (start, mut left) = (writes.room.start, BUSY);
        let random = &mut writes.random;
        let done = keep_busy(writes.drive, depth, || {
            left = left.checked_sub(1)?;
            let block = random.random_range(0..SMALL_ROOM / BLOCK);
            Some(DriveAccess::write(start + block * BLOCK, BLOCK))
        })?;
        let full = done.len().saturating_sub(depth as usize);
        points.extend(per_second(&done[..full], depth as usize).map(|rate| (depth as f64, rate)));
    }
    writes.findings.curves.push(MeasuredCurve {
        title: "Random writes of 4 KiB over the depth of the queue",
        columns: ["depth", "per second"],
        points,
    });
    Ok(())
}
