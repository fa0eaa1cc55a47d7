//! Dies and channels, and what they take.

use super::flash_probe::{FlashProbe, Pages};
use crate::error::ProbeError;
use crate::estimate::{ProbedValue, least_squares, median, median_error};
use crate::load::BLOCK;
use crate::timed::DriveAccess;

/// The most dies that are looked for.
const MOST: u64 = 300;
/// Pairs at each distance.
const PAIRS: usize = 9;
/// Reads of each length.
const READS: usize = 600;

pub(super) fn measure(flash: &mut FlashProbe<'_>) -> Result<(), ProbeError> {
    let Some(pages) = flash.pages else { return sums(flash) };
    let channel = times(flash, pages)?;
    let of_flash = flash.findings.value("flash.read-4k").unwrap_or_default();
    let small = extras(flash, pages, BLOCK)?;
    let Some(dies) = period(&small, 0.5 * of_flash) else {
        flash.findings.note("no two pages wait for each other: dies do not show");
        return Ok(());
    };
    // Two pages of one channel wait for each other's transfer there, all others for the
    // link's alone.
    let [there, link] = [channel, flash.controller.link_per_byte].map(|t| t * pages.bytes as f64);
    let bound = f64::midpoint(there, link.max(flash.controller.command));
    let whole = if there > 1.4 * link.max(flash.controller.command) {
        extras(flash, pages, pages.bytes)?
    } else {
        Vec::new()
    };
    let channels = period(&whole, bound).filter(|channels| dies.is_multiple_of(*channels));
    let of_sibling = (flash.basis_value("flash.channels") as u64).clamp(1, dies);
    let used = channels.unwrap_or(of_sibling);
    if channels.is_some() || used as f64 != flash.basis_value("flash.channels") {
        flash.findings.found("flash.channels", count(used));
    }
    if channels.is_none() {
        flash.findings.note(format!(
            "{dies} dies; how many channels they share does not show behind this link: {used}, as \
             of the sibling"
        ));
    }
    flash.findings.found("flash.dies-per-channel", count(dies.div_ceil(used)));
    Ok(())
}

fn count(value: u64) -> ProbedValue {
    ProbedValue::within(value as f64, 0.0, PAIRS)
}

/// How much longer two reads of `bytes` from pages at each distance take than one, in the
/// middle; distances are counted in pages from 1 on.
fn extras(flash: &mut FlashProbe<'_>, pages: Pages, bytes: u64) -> Result<Vec<f64>, ProbeError> {
    let mut all = Vec::new();
    for distance in 1..=MOST {
        let way = distance * pages.bytes;
        let mut times = Vec::new();
        for _ in 0..PAIRS {
            let Some(offset) = flash.page(pages, way + pages.bytes) else { return Ok(all) };
            let [first, second] = [offset, offset + way].map(|at| DriveAccess::read(at, bytes));
            times.push(flash.extra(first, second)?.0);
        }
        all.push(median(&times));
    }
    Ok(all)
}

/// The first distance at which pairs wait, if they do at each of its multiples too.
fn period(extras: &[f64], bound: f64) -> Option<u64> {
    let first = extras.iter().position(|extra| *extra > bound)? as u64 + 1;
    let multiples = extras.iter().skip(first as usize - 1).step_by(first as usize);
    let (waits, all) = multiples
        .fold((0, 0), |(waits, all), extra| (waits + usize::from(*extra > bound), all + 1));
    (waits * 10 >= all * 8).then_some(first)
}

/// The flash's times, in the mean over pages: those of a cell differ. Gives the time of a
/// byte on a channel.
fn times(flash: &mut FlashProbe<'_>, pages: Pages) -> Result<f64, ProbeError> {
    let link = flash.controller.link_per_byte;
    let (mut rows, mut means, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let half = pages.bytes / 2;
    for bytes in [2 * BLOCK, half.max(2 * BLOCK), pages.bytes] {
        let took = flash.single(READS, |flash| {
            Some(DriveAccess::read(flash.page(pages, pages.bytes)?, bytes))
        })?;
        rows.push([1.0, bytes as f64]);
        let (mean, error) = super::flash_probe::mean(&took);
        means.push(mean);
        errors.push(error);
    }
    let line = least_squares(&rows, &means, &[1.0; 3]);
    let sibling = 1e9 / flash.basis_value("flash.channel-rate").max(1.0);
    let per_byte = line.map(|[_, slope]| slope - link).filter(|per_byte| *per_byte > 0.0);
    let channel = per_byte.unwrap_or(sibling);
    let took = flash
        .single(READS, |flash| Some(DriveAccess::read(flash.page(pages, pages.bytes)?, BLOCK)))?;
    let overhead = flash.controller.command + flash.controller.small;
    flash.note_mean("flash.read-4k", &took, overhead + BLOCK as f64 * (link + channel));
    cells(flash, &took);
    if let (Some([fixed, _]), Some(per_byte)) = (line, per_byte) {
        let page = fixed - flash.controller.command - flash.controller.large;
        let error = errors[0].hypot(errors[2]);
        flash
            .findings
            .found("flash.read-page", ProbedValue::within(page.max(1.0), error, 3 * READS));
        let slope = (error / (pages.bytes - 2 * BLOCK).max(BLOCK) as f64).min(per_byte / 2.0);
        let rate = ProbedValue::within(per_byte, slope, 3 * READS);
        flash.findings.found("flash.channel-rate", rate.map(|per_byte| 1e9 / per_byte));
    }
    Ok(channel)
}

/// A cell's pages are read in different times: as many levels as the cell has bits.
fn cells(flash: &mut FlashProbe<'_>, times: &[f64]) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) =
        (crate::estimate::quantile(times, 0.01), crate::estimate::quantile(times, 0.99));
    let gap = ((high - low) / 8.0).max(0.01 * low);
    let levels = levels(&sorted, gap);
    let [Some(first), Some(last)] = [levels.first(), levels.last()] else { return };
    // A level that few reads have is an outlier.
    if !(2..=4).contains(&levels.len()) || levels.iter().any(|level| level.len() * 20 < times.len())
    {
        flash.findings.note("the pages of a cell do not differ clearly: its bits do not show");
        return;
    }
    let bits = ProbedValue::within(levels.len() as f64, 0.0, times.len());
    flash.findings.found("flash.cell-bits", bits);
    let spread = (median(last) - median(first)) / 2.0;
    let error = median_error(last).hypot(median_error(first)) / 2.0;
    let spread = ProbedValue::within(spread, error, times.len());
    flash.findings.found("flash.read-spread", spread);
}

/// Groups of times between which there are gaps.
fn levels(sorted: &[f64], gap: f64) -> Vec<Vec<f64>> {
    let mut groups: Vec<Vec<f64>> = Vec::new();
    for time in sorted {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| time - last <= gap) => group.push(*time),
            _ => groups.push(vec![*time]),
        }
    }
    groups
}

/// Without pages only the sum of a small read shows.
fn sums(flash: &mut FlashProbe<'_>) -> Result<(), ProbeError> {
    let took = flash.single(READS, |flash| flash.block(false, BLOCK))?;
    let channel = 1e9 / flash.basis_value("flash.channel-rate").max(1.0);
    let per_byte = flash.controller.link_per_byte + channel;
    let overhead = flash.controller.command + flash.controller.small;
    flash.note_mean("flash.read-4k", &took, overhead + BLOCK as f64 * per_byte);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_found_in_times() {
        let times = |period: usize| -> Vec<f64> {
            (1..=100).map(|n: usize| if n.is_multiple_of(period) { 60.0 } else { 2.0 }).collect()
        };
        assert_eq!(period(&times(16), 30.0), Some(16));
        assert_eq!(period(&[2.0; 50], 30.0), None);
        let mut odd = times(16);
        odd[4] = 60.0;
        assert_eq!(period(&odd, 30.0), None, "no multiple of 5 waits");
    }

    #[test]
    fn levels_are_separated_by_gaps() {
        let times = [50.0, 50.1, 60.0, 60.2, 60.3, 70.0];
        let expected = [vec![50.0, 50.1], vec![60.0, 60.2, 60.3], vec![70.0]];
        assert_eq!(levels(&times, 2.0), expected);
    }
}
