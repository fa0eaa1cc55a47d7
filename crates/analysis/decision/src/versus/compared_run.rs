//! One of the runs that are compared.

use disklab_store::{CellRecord, RunInfo};
use disklab_study::Study;

use crate::Analysis;

/// One of the two runs.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'a> {
    /// Bench, options and machine, which say whether the figures may be compared.
    pub info: &'a RunInfo,
    /// As the run keeps it: the two may differ.
    pub study: &'a Study,
    /// All its cells.
    pub cells: &'a [CellRecord],
    /// What was worked out of it.
    pub analysis: &'a Analysis,
}

impl ComparedRun<'_> {
    /// Whether both are parts of one run, at other levels of its axes.
    pub(super) fn is_of_one_run_with(&self, other: &Self) -> bool {
        let (one, other) = (self.info, other.info);
        (one.created, one.seed) == (other.created, other.seed)
            && (&one.disklab, &one.study_text) == (&other.disklab, &other.study_text)
    }
}
