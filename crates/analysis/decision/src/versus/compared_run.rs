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
