//! What came of a cell's plan.

use disklab_cell::Cell;
use serde::{Deserialize, Serialize};

use crate::{Environment, Sample, TraceEntry};

/// What came of a cell's plan, wherever it was carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// [`CellResult::FORMAT`].
    pub format: u32,
    /// Which cell it was.
    pub cell: Cell,
    /// SHA-256 of the plan.
    pub plan: String,
    /// disklab's version.
    pub disklab: String,
    /// The machine, before the cell began.
    pub environment: Environment,
    /// The sample, or why there is none.
    pub outcome: Result<Sample, String>,
    /// Every command that ran.
    pub trace: Vec<TraceEntry>,
    /// Real seconds from beginning to end.
    pub seconds: f64,
}

impl CellResult {
    /// The version of the format.
    pub const FORMAT: u32 = 1;
}
