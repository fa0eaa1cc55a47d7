//! What the drives did for what was asked of them.

use disklab_audits::Group;
use disklab_decision::Analysis;
use disklab_sample::Direction;
use disklab_study::Part;
use indexmap::IndexMap;

use crate::{MediumWrites, Report};

/// What all drives of a stack together moved in one step, and per drive.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrafficPanel {
    /// Bytes read, the median of the cells.
    pub(crate) read: f64,
    /// Bytes written, the median of the cells.
    pub(crate) written: f64,
    /// Bytes read per byte asked for, over all cells; absent where the step's
    /// bytes do not tell what to compare with.
    pub(crate) read_ratio: Option<f64>,
    /// Bytes written per byte asked for, likewise.
    pub(crate) written_ratio: Option<f64>,
    /// Bytes that the drives wrote to their own media per byte that they were given, over
    /// all cells; absent where they do not tell.
    pub(crate) medium_ratio: Option<f64>,
    /// The share of the drives' reads that they answered from their own memory, the median of
    /// the cells; absent if they were not counted.
    pub(crate) memory_reads: Option<f64>,
    /// (drive, bytes read, bytes written), means of the cells.
    pub(crate) drives: Vec<(String, f64, f64)>,
}

/// The drives' traffic in a group's step; nothing where no drive was watched.
///
/// The drives' counters cover the whole step. Where the step worked in several
/// directions at once, only its own direction can be compared with what a group
/// asked for: reads with reads, writes with writes.
pub(crate) fn traffic(report: &Report, index: usize) -> Option<TrafficPanel> {
    let analysis = &report.analysis;
    let group = analysis.groups.get(index)?;
    let watched: Vec<_> = group.observations.iter().filter(|o| !o.drives.is_empty()).collect();
    if watched.is_empty() {
        return None;
    }
    let sum = |part: fn(&disklab_audits::Observation) -> u64| -> f64 {
        watched.iter().map(|o| part(o) as f64).sum()
    };
    let median = |part: fn(&disklab_audits::Observation) -> u64| {
        let values: Vec<f64> = watched.iter().map(|o| part(o) as f64).collect();
        crate::Spread::of(&values).unwrap_or_default().median
    };
    let asked = sum(|o| o.bytes);
    let ratio = |moved: f64| (asked > 0.0).then_some(moved / asked);
    let mixed = shares_its_step(analysis, group);
    let direction = group.key.direction;
    let compares = |own: Direction| match direction {
        // What was asked for is only a part of what the drives did.
        _ if group.key.part != Part::Whole => false,
        Direction::Copy => true,
        Direction::Read | Direction::Write => !mixed || direction == own,
        Direction::Trim | Direction::Remove | Direction::Mixed => false,
    };
    let mut drives: IndexMap<&str, (f64, f64)> = IndexMap::new();
    for moved in watched.iter().flat_map(|o| &o.drives) {
        let entry = drives.entry(&moved.drive).or_default();
        entry.0 += moved.read as f64 / watched.len() as f64;
        entry.1 += moved.written as f64 / watched.len() as f64;
    }
    let shares: Vec<f64> = watched.iter().filter_map(|o| Some(o.memory_reads?.of_reads)).collect();
    let key = &group.key;
    let media = report.facts.media.iter().find(|media| {
        media.step == key.step
            && media.workload == key.levels.workload
            && media.stack == key.levels.stack
    });
    Some(TrafficPanel {
        read: median(|o| o.drive_read),
        written: median(|o| o.drive_write),
        read_ratio: ratio(sum(|o| o.drive_read)).filter(|_| compares(Direction::Read)),
        written_ratio: ratio(sum(|o| o.drive_write)).filter(|_| compares(Direction::Write)),
        memory_reads: crate::Spread::of(&shares).map(|spread| spread.median),
        medium_ratio: media.and_then(MediumWrites::amplification),
        drives: drives.into_iter().map(|(d, (r, w))| (d.to_owned(), r, w)).collect(),
    })
}

/// Whether another group shares the step: it worked in several directions.
fn shares_its_step(analysis: &Analysis, group: &Group) -> bool {
    let key = &group.key;
    analysis.groups.iter().any(|g| {
        g.key.direction != key.direction
            && g.key.step == key.step
            && g.key.levels.workload == key.levels.workload
            && g.key.levels.stack == key.levels.stack
    })
}
