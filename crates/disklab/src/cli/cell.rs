//! The command line of `disklab cell`.

use std::path::PathBuf;

use clap::Args;
use disklab_runner::{BenchKind, CellOptions};

const EXAMPLES: &str = "Examples:
  disklab plan first-look --cells plans                  one plan for each cell
  disklab cell plans/00001.json --out results/00001      on any machine

Exit codes:
  0    the cell is done, now or before
  1    the cell failed; the result says why
  2    the plan or an option is wrong, before anything was touched
  130  interrupted; the same command begins the cell anew";

/// Carry out one cell's plan, without its study.
///
/// A plan, written by `disklab plan STUDY --cells DIR`, has all that one measurement needs. Its
/// result goes to a directory: result.json, with the sample or why there is none, and the raw
/// outputs. If the result is there already, nothing is done, so that the command can be repeated
/// after any kill. In the lab the sample is the one that `disklab run` records.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CellArgs {
    /// The plan.
    pub plan: PathBuf,
    /// Directory for the result.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// What a plan writes to that is not its own, a directory or disks: named here as well, as
    /// `disklab run` takes it.
    #[arg(long, value_name = "BENCH")]
    pub on: Option<BenchKind>,
    /// Serial number of a disk that may be erased although it carries data. Repeatable.
    #[arg(long, value_name = "SERIAL")]
    pub erase: Vec<String>,
    /// Erase the disks without asking.
    #[arg(long)]
    pub yes: bool,
    /// Directory below which the cell creates one of its own, for large files and mount
    /// points. [default: that of its result]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// A kernel of the lab in place of the one that the plan names.
    #[arg(long, value_name = "PATH")]
    pub kernel: Option<PathBuf>,
}

impl CellArgs {
    /// How the plan is carried out.
    pub fn options(&self) -> CellOptions {
        let Self { on, erase, yes, scratch, kernel, .. } = self;
        CellOptions {
            on: on.clone(),
            erase: erase.clone(),
            yes: *yes,
            scratch: scratch.clone(),
            kernel: kernel.clone(),
        }
    }
}
