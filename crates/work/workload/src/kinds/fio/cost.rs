//! What a job will cost.

use disklab_units::Bytes;

use super::layout::{Prewrite, files, needed};
use super::part::FioPart;
use super::steps::FioStep;
use super::work::FioWork;
use crate::Cost;

/// What fio takes to start and to end, in seconds, about: it forks, calibrates
/// its clock and waits up to 250 ms for its helper thread.
pub(super) const FIO_START_SECONDS: f64 = 0.5;

/// From this size on, random reads take as much time for their bytes as for the
/// way there: a hard disk of 200 MB/s reads 1 MiB in 5 ms, about one seek.
const LARGE_BLOCK: Bytes = Bytes::kib(256);

/// What the jobs will cost, where each step takes `start` seconds by itself.
///
/// A job that ends by its time (`time_based`) is counted with its time. Held to a rate,
/// it writes no more than that in its time, and is counted so; without one it is counted
/// with the bytes of one pass, since how many it will write depends on the drives: its
/// bytes are a lower bound then.
pub(super) fn cost(parts: &[FioPart], steps: &[FioStep], prewrite: Prewrite, start: f64) -> Cost {
    let works = || parts.iter().map(|part| &part.work);
    let written: Bytes = if prewrite == Prewrite::None {
        Bytes::ZERO
    } else {
        needed(parts).values().copied().sum()
    };
    let space = files(works()).values().copied().sum();
    let content = match prewrite {
        _ if works().any(|work| work.writes && !work.repeats) => space,
        Prewrite::Random => written,
        Prewrite::Zeros | Prewrite::None => Bytes::ZERO,
    };
    // Over what is there, in part: blocks that repeat are kept once.
    let known = if prewrite == Prewrite::Random { written } else { Bytes::ZERO };
    let fresh = works().filter(|work| work.writes && work.fresh).map(FioWork::written).sum();
    let mut cost = Cost {
        space,
        content,
        rewritten: (known + fresh).saturating_sub(content),
        prewrite: written,
        fixed_seconds: start * steps.len() as f64,
        ..Cost::default()
    };
    let mut at_most = Some(cost.fixed_seconds);
    for group in steps.iter().flat_map(|step| &step.groups) {
        let group: Vec<&FioWork> = group.iter().map(|index| &parts[*index].work).collect();
        let time = |work: &&FioWork| work.limit.filter(|_| work.time_based).unwrap_or(0.0);
        cost.fixed_seconds += group.iter().map(time).fold(0.0, f64::max);
        let limits = group.iter().map(|work| work.limit).collect::<Option<Vec<f64>>>();
        let longest = limits.map(|limits| limits.into_iter().fold(0.0, f64::max));
        at_most = at_most.zip(longest).map(|(sum, longest)| sum + longest);
        for work in group.into_iter().filter(|work| !work.time_based || work.writes) {
            add(&mut cost, work);
        }
    }
    cost.at_most_seconds = at_most;
    cost
}

fn add(cost: &mut Cost, work: &FioWork) {
    let (read, written) = (work.read(), work.written());
    cost.writes_until_its_end |= work.time_based && work.writes && work.paced.is_none();
    let operations = |bytes: Bytes| bytes.0.div_ceil(work.block.0.max(1));
    if work.only_names {
        cost.seeks = cost.seeks.saturating_add(work.operations());
    } else if work.random {
        cost.random_write += written;
        if work.block >= LARGE_BLOCK {
            cost.sequential_read += read;
        }
        // The time of a time-based job is known without them.
        if !work.time_based {
            let all = work.operations();
            cost.seeks = cost.seeks.saturating_add(all);
            let reads = operations(read).min(all);
            cost.small_writes = cost.small_writes.saturating_add(all - reads);
        }
    } else {
        cost.sequential_read += read;
        cost.sequential_write += written;
    }
    if let (Some(every), false) = (work.sync_every, work.time_based) {
        let syncs = operations(written).div_ceil(every.max(1));
        let counted = work.random && every == 1;
        let more = if counted { 0 } else { syncs };
        cost.seeks = cost.seeks.saturating_add(more);
        cost.small_writes = cost.small_writes.saturating_add(more);
    }
}
