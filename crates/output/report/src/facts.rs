//! What a report says besides its figures: surroundings, overhead, notes, commands.

use disklab_sample::{DriveState, MountState, Note, Tool, TraceEntry};
use serde::Serialize;

/// What a report says besides its figures, worked out of all samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Facts {
    /// Time outside the workload, one per stack with finished cells, in the
    /// study's order.
    pub overheads: Vec<StackOverhead>,
    /// Notes, each once, in the order in which they first came up.
    pub notes: Vec<CountedNote>,
    /// Mounts as the kernel reported them, per stack.
    pub mounts: Vec<StackMounts>,
    /// The drives; one that was seen in several states (write cache on, then
    /// off) stands here once for each.
    pub drives: Vec<DriveState>,
    /// Programs and their versions, each pair once.
    pub tools: Vec<Tool>,
    /// Kernels under which cells ran, as `uname -srvm` says; one, as a rule.
    pub kernels: Vec<String>,
    /// 1-minute load average before the cells.
    pub load: Option<Spread>,
    /// Bytes that block devices outside the stack moved during a cell.
    pub background_bytes: Option<Spread>,
    /// All commands of the first finished cell of each stack and workload, in
    /// the study's order.
    pub traces: Vec<CellTrace>,
    /// What drives that report it wrote to their own media, per stack, workload and
    /// step, in the order in which they first came up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<MediumWrites>,
}

/// What the drives of a stack wrote to their own media in a step, for what they were
/// given: garbage collected, caches emptied and bands cleaned are in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MediumWrites {
    /// The stack's id.
    pub stack: String,
    /// The workload's id.
    pub workload: String,
    /// The step's name.
    pub step: String,
    /// Bytes that the kernel wrote to these drives, over all cells.
    pub given_bytes: u64,
    /// Bytes that they wrote to their media.
    pub medium_bytes: u64,
}

impl MediumWrites {
    /// Bytes written to the media for each that was given; nothing where none was.
    pub fn amplification(&self) -> Option<f64> {
        (self.given_bytes > 0).then(|| self.medium_bytes as f64 / self.given_bytes as f64)
    }
}

/// Median and worst of a quantity over cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Cells.
    pub n: usize,
    /// The middle value, or the mean of the two.
    pub median: f64,
    /// Largest.
    pub worst: f64,
}

impl Spread {
    /// Median and largest of `values`, which may be in any order; values that
    /// are not finite do not count. Nothing where there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let worst = *values.last()?;
        let n = values.len();
        let median = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
        Some(Self { n, median, worst })
    }
}

/// Seconds that the cells of a stack took outside their workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StackOverhead {
    /// The stack's id.
    pub stack: String,
    /// Making drives and layers ready, mkfs and mount included.
    pub make: Spread,
    /// Waiting for a resync or lazy initialisation.
    pub settle: Spread,
    /// Syncing and dropping caches.
    pub caches: Spread,
    /// Tearing everything down.
    pub tear_down: Spread,
    /// Make, caches and take-down together.
    pub total: Spread,
    /// Writing beforehand what the workload reads.
    pub prewrite: Spread,
}

/// A note and how many cells gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CountedNote {
    /// What a cell noted, and about what.
    #[serde(flatten)]
    pub note: Note,
    /// How many cells gave it.
    pub cells: usize,
}

/// A stack's mounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StackMounts {
    /// The stack's id.
    pub stack: String,
    /// Its mounts, each once.
    pub mounts: Vec<MountState>,
}

/// All commands of one cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellTrace {
    /// The stack's id.
    pub stack: String,
    /// The workload's id.
    pub workload: String,
    /// The cell's number.
    pub cell: u32,
    /// The commands.
    pub entries: Vec<TraceEntry>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_given_is_not_amplified() {
        let writes = |given_bytes, medium_bytes| MediumWrites {
            stack: "a".to_owned(),
            workload: "b".to_owned(),
            step: "c".to_owned(),
            given_bytes,
            medium_bytes,
        };
        assert_eq!(writes(0, 4096).amplification(), None);
        assert_eq!(writes(4096, 6144).amplification(), Some(1.5));
    }

    #[test]
    fn median_and_worst() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[f64::NAN]), None);
        assert_eq!(Spread::of(&[3.0, 1.0]), Some(Spread { n: 2, median: 2.0, worst: 3.0 }));
        assert_eq!(Spread::of(&[9.0, 1.0, 2.0]), Some(Spread { n: 3, median: 2.0, worst: 9.0 }));
    }
}
