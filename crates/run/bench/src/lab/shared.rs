//! What the labs of a bench have in common.

use std::path::PathBuf;

use disklab_cell::LabPlan;
use disklab_lab::ContentLimits;
use disklab_sample::Environment;
use disklab_units::Bytes;

use super::made_drives::MadeDrivesCache;
use crate::BenchError;

/// A kernel for guests, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabKernel {
    /// A User-Mode Linux program.
    pub program: PathBuf,
    /// A directory of programs that fit to it, such as those of ZFS.
    pub programs: Option<PathBuf>,
    /// Words for its command line.
    pub arguments: Vec<String>,
    /// What a record says of it besides its release, such as how it runs programs.
    pub words: &'static str,
}

/// How all labs of a bench run.
#[derive(Debug, Clone)]
pub struct LabSettings {
    /// The program that is the guest's first: this one.
    pub program: PathBuf,
    /// Where the labs' directories are made.
    pub scratch: PathBuf,
    /// The processors to run on: each lab takes the one that the fewest labs run on.
    pub cores: Vec<usize>,
    /// How many labs run at once.
    pub at_once: usize,
    /// The memory of the machine that they all run on.
    pub machine_memory: Bytes,
    /// What the content of one guest's drives may take.
    pub content: ContentLimits,
}

/// What all labs have in common.
pub(super) struct LabShared {
    pub settings: LabSettings,
    /// At least one.
    pub kernels: Vec<PreparedKernel>,
    pub made: MadeDrivesCache,
}

/// A kernel that is there.
pub(super) struct PreparedKernel {
    /// The cells' name for it; none if they have no choice.
    pub name: Option<String>,
    pub kernel: LabKernel,
    /// What a record says of a machine with it.
    pub environment: Environment,
}

impl LabShared {
    /// The kernel of a guest.
    pub fn kernel(&self, plan: &LabPlan) -> Result<&PreparedKernel, BenchError> {
        let mut kernels = self.kernels.iter();
        // A cell that says nothing has the only one.
        let fits = |known: &&PreparedKernel| known.name.is_none() || known.name == plan.linux;
        kernels.find(fits).ok_or(BenchError::OtherBench)
    }
}
