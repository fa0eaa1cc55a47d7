//! What the controller and the link take: reads of what was never written.

use super::flash_probe::{Controller, FlashProbe};
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, least_squares, median, median_error};
use crate::load::{BLOCK, keep_busy, steady_rate};
use crate::timed::DriveAccess;

/// Reads of each size.
const READS: usize = 300;
/// Sizes of large reads.
const SIZES: [u64; 5] = [8 << 10, 32 << 10, 128 << 10, 256 << 10, 512 << 10];
/// Reads at depth, and how many at a time.
const BUSY: (u64, u64) = (30_000, 64);

pub(super) fn measure(flash: &mut FlashProbe<'_>) -> Result<(), ProbeError> {
    if flash.empty.is_empty() {
        assume(flash);
        return Ok(());
    }
    let small = flash.single(READS, |flash| flash.block(true, BLOCK))?;
    let (mut rows, mut times, mut error) = (Vec::new(), Vec::new(), 0.0_f64);
    for bytes in SIZES {
        let took = flash.single(READS, |flash| flash.block(true, bytes))?;
        rows.push([1.0, bytes as f64]);
        times.push(median(&took));
        error = error.max(median_error(&took)).max(1.0);
    }
    let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
    let Some([fixed, link]) = least_squares(&rows, &times, &weights) else { return Ok(()) };
    if link <= 0.0 || fixed <= 0.0 {
        flash.findings.note("reads take no longer if they are larger: no link shows");
        assume(flash);
        return Ok(());
    }
    let samples = READS * SIZES.len();
    let link_error = (error / SIZES[4] as f64).min(link / 2.0);
    let rate = ProbedValue::within(link, link_error, samples).map(|per_byte| 1e9 / per_byte);
    flash.choose_basis(rate.value);
    flash.findings.found("interface.link", rate);
    let command = command(flash, link)?;
    let Controller { small: short, large, .. } = Controller {
        command,
        small: median(&small) - command - link * BLOCK as f64,
        large: fixed - command,
        link_per_byte: link,
    };
    flash.note_median("interface.read-overhead", &small, command + link * BLOCK as f64);
    let large_overhead = ProbedValue::within(large.max(1.0), error, samples);
    flash.findings.found("interface.large-read-overhead", large_overhead);
    flash.controller = Controller { command, small: short.max(0.0), large, link_per_byte: link };
    Ok(())
}

/// What the controller takes before it looks at the next request: with many in flight it
/// is never idle.
fn command(flash: &mut FlashProbe<'_>, link: f64) -> Result<f64, ProbeError> {
    let (count, depth) = BUSY;
    let depth = flash.drive.queue_depth().map_or(depth, |deepest| depth.min(deepest.max(1)));
    let accesses: Vec<DriveAccess> = (0..count).filter_map(|_| flash.block(true, BLOCK)).collect();
    let mut accesses = accesses.into_iter();
    let done = keep_busy(flash.drive, depth, || accesses.next())?;
    let full = done.len().saturating_sub(depth as usize);
    let Some(rate) = steady_rate(&done[..full]) else {
        return Ok(flash.basis_value("interface.command"));
    };
    let time = rate.map(|rate| 1e9 / rate);
    let each = time.value;
    let carried = link * BLOCK as f64;
    if each < 1.05 * carried {
        flash
            .findings
            .note("the link is busier than the controller: what a command takes does not show");
        return Ok(flash.basis_value("interface.command").min(each));
    }
    flash.findings.found("interface.command", time);
    Ok(each)
}

/// Everything is written: the controller's part cannot be told from the flash's.
fn assume(flash: &mut FlashProbe<'_>) {
    flash.findings.note(
        "no place was found that is empty, so that overheads cannot be told from the flash's own \
         times: they are the sibling's, and only their sums with the flash's are measured",
    );
    flash.controller = Controller {
        command: flash.basis_value("interface.command"),
        small: flash.basis_value("interface.read-overhead"),
        large: flash.basis_value("interface.large-read-overhead"),
        link_per_byte: 1e9 / flash.basis_value("interface.link").max(1.0),
    };
}
