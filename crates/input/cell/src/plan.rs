//! All that one measurement needs.

use std::collections::BTreeMap;

use disklab_units::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Cell, DrivePlan, FaultPlan, MachinePlan, PlannedLayer, WorkloadPlan};

/// Everything that one measurement needs. With the program, and without the study, it can be
/// carried out anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellPlan {
    /// [`CellPlan::FORMAT`].
    pub format: u32,
    /// Which cell of its run it is.
    pub cell: Cell,
    /// What is there before the work begins.
    pub making: MakingPlan,
    /// The work.
    pub workload: WorkloadPlan,
    /// By how much the work's sizes are scaled: 1 is as the study says.
    pub scale: f64,
    /// The files that the work names, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The share of the file system over which large files are laid out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// What goes wrong with the drives while it works; for the lab alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultPlan>,
    /// What it cannot do without.
    pub needs: Needs,
    /// What it will cost.
    pub estimate: CellEstimate,
}

/// All that decides what is on a cell's drives before its work begins. Cells whose plans have the
/// same can begin on the same drives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakingPlan {
    /// Where the cell runs.
    pub machine: MachinePlan,
    /// The drives below the stack, in the order in which it takes them.
    pub drives: Vec<DrivePlan>,
    /// Its layers, bottom-up; none for a directory as it is.
    pub stack: Vec<PlannedLayer>,
    /// Whether the drives' write cache must be on or off; as it is if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<bool>,
    /// Seed of the stack and of the drives below it: the same for all work on it in a block.
    pub seed: u64,
    /// Whether directories and files are made before the work's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier_files: bool,
    /// Whether these take space, too: not where the work needs most of what there is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reserves_space: bool,
}

/// What a cell cannot do without on the machine that carries it out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// Options that the kernel must have, such as `CONFIG_EXT4_FS`.
    pub kernel: Vec<String>,
    /// Whether the kernel must have OpenZFS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zfs: bool,
    /// Programs, such as `mkfs.ext4`.
    pub programs: Vec<String>,
}

/// What a cell will cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellEstimate {
    /// Real seconds.
    pub seconds: f64,
    /// Seconds of the machine's own clock that the work takes, as far as they are fixed.
    pub clock_seconds: f64,
    /// What simulated drives will hold that takes space.
    pub content: Bytes,
}

/// A text is no plan that this version can carry out.
#[derive(Debug, thiserror::Error)]
pub enum CellPlanError {
    /// It is not JSON, or has not a plan's fields.
    #[error("not a plan of a cell: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another version.
    #[error("the plan has format {0}, and this disklab reads format {known}", known = CellPlan::FORMAT)]
    Format(u64),
}

impl CellPlan {
    /// The version of the format.
    pub const FORMAT: u32 = 2;

    /// What tells this plan from any other: SHA-256 of it, in hexadecimal.
    pub fn digest(&self) -> String {
        digest(self)
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// [`CellPlanError`] if it is not one, or one of another version.
    pub fn parse(text: &str) -> Result<Self, CellPlanError> {
        #[derive(Deserialize)]
        struct Format {
            format: u64,
        }
        let Format { format } = serde_json::from_str(text)?;
        if format != u64::from(Self::FORMAT) {
            return Err(CellPlanError::Format(format));
        }
        Ok(serde_json::from_str(text)?)
    }
}

impl MakingPlan {
    /// What tells the drives, as they are when the work begins, from those of any other plan:
    /// SHA-256 of it, in hexadecimal.
    pub fn digest(&self) -> String {
        digest(self)
    }
}

fn digest(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).unwrap_or_default();
    Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect()
}
