//! The command line of `disklab merge`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "Examples:
  disklab run nas --parts 2 --to plan             on one machine
  disklab run --part plan/001 --out parts/001     on any
  disklab run --part plan/002 --out parts/002     on any
  disklab merge parts/* --to whole
  disklab merge --machines nas1=runs/a nas2=runs/b --to both
  disklab compare both both@machine=nas2";

/// Make one run of several parts of it, or of the runs of several machines.
///
/// A study that takes long can be run in parts, on several machines or one after the other:
/// divided by `disklab run --parts`, or as runs of some of its cells, by --only and --without.
/// Merged, it is the run that it would have been in one go: in the lab
/// a cell's figures do not depend on where and when it ran. So the parts must have the same
/// study, seed, repeats and settings, lab kernel and programs, and no cell twice; of a divided
/// run, none may be missing. Parts from real disks are refused: there, what is measured at other
/// times differs by more than the stacks do.
///
/// Whole runs of a study on several real machines become one in which the machine is an axis: the
/// answers are about the first, and the report says what the others change.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeArgs {
    /// Directories of the parts, which are not changed.
    #[arg(
        required_unless_present = "machines",
        conflicts_with = "machines",
        num_args = 1..,
        value_name = "RUN"
    )]
    pub parts: Vec<PathBuf>,
    /// The directory of all parts, of a run that --goal or --precision ends. If the samples of these do
    /// not decide, writes the parts up to the next look into it, and makes no run yet.
    #[arg(long, value_name = "DIR", conflicts_with = "machines")]
    pub next: Option<PathBuf>,
    /// Runs of the same study on real machines, of the same seed, repeats, scale and options. Each is
    /// a level of the axis `machine`, called by its directory's name if none is given.
    #[arg(long, num_args = 1.., value_name = "[NAME=]RUN")]
    pub machines: Vec<String>,
    /// Directory of the new run.
    // `run` and `report` call theirs `--out`.
    #[arg(long, alias = "out", required = true, value_name = "DIR")]
    pub to: PathBuf,
}
