//! Why a run cannot be divided, or a part not be carried out.

use std::path::PathBuf;

use disklab_cell::CellPlanError;
use disklab_store::Difference;

/// 'the kernel was '6.1' and is '6.12'; …'.
pub(crate) fn then_and_now(differences: &[Difference]) -> String {
    let words =
        differences.iter().map(|d| format!("{} was '{}' and is '{}'", d.what, d.one, d.other));
    words.collect::<Vec<_>>().join("; ")
}

/// A run cannot be divided into parts, or a part cannot be carried out here.
#[derive(Debug, thiserror::Error)]
pub enum PartProblem {
    /// It runs on this machine.
    #[error(
        "only runs in the lab can be divided; on a machine, the order of the cells \
         spreads what changes with time over all stacks alike, which parts of other hours do not"
    )]
    NotInTheLab,
    /// The clock decides which cells there are.
    #[error(
        "--budget counts the time of one machine, and parts run on any; leave it out, or fix the \
         number with --repeats"
    )]
    Budget,
    /// A directory has not the parts that a run was merged of.
    #[error(
        "{} has parts of another run, or not all that were merged; name the directory that \
         `disklab run --parts` wrote", .0.display()
    )]
    OtherParts(PathBuf),
    /// A look here would be at other stacks.
    #[error(
        "this machine lacks programs that stacks of the run need, or has more than the one that \
         planned it, so that it would decide about other stacks; merge on a machine as that one"
    )]
    OtherStacks,
    /// There are fewer cells.
    #[error("--parts {parts}: the run has {cells} cells, and a part at least one")]
    TooMany {
        /// Asked for.
        parts: u32,
        /// Of the run.
        cells: usize,
    },
    /// A part would have cells of several runs.
    #[error("--parts {parts}: the analysis has {runs} runs, and a part is of one")]
    TooFew {
        /// Asked for.
        parts: u32,
        /// Of the analysis.
        runs: usize,
    },
    /// Not into the directory of other parts.
    #[error(
        "{} has parts already, or some that an earlier call was cut off at; name another directory \
         with --to", .0.display()
    )]
    HasParts(PathBuf),
    /// A file cannot be written or read.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A part cannot be written.
    #[error("cannot write a part: {0}")]
    Json(serde_json::Error),
    /// A file is not a part.
    #[error(
        "{}: not a part of a run, as `disklab run --parts` writes it: {why}", path.display()
    )]
    NotAPart {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A cell in it is none.
    #[error("{}: cell {number}: {source}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        number: usize,
        /// What is wrong with it.
        source: CellPlanError,
    },
    /// The directory has another run.
    #[error("{} has another run than this part; name another directory with --out", .0.display())]
    OtherRun(PathBuf),
    /// The machine is not as the one that the run was planned on.
    #[error(
        "this machine cannot carry the part out, because the run would mix two machines: {}; \
         make them the same here, or plan the run anew on a machine as this one{}",
        then_and_now(.0),
        if .0.iter().any(|d| d.what == disklab_store::RunAspect::LabKernel) {
            " (all machines need one kernel of the lab: share its cache, or name it with --kernel)"
        } else {
            ""
        }
    )]
    OtherMachine(Vec<Difference>),
}
