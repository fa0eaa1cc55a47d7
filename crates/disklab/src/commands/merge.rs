//! `disklab merge`: one run of several parts.

use disklab_runner::RunnerError;
use disklab_store::{CellState, Run};
use disklab_units::count;

use super::run::finish_new;
use crate::cli::MergeArgs;
use crate::exit::Failure;

/// Makes one run of the parts, and writes its report.
pub fn merge(args: &MergeArgs, as_json: bool) -> Result<u8, Failure> {
    let run = Run::merge(&args.parts, &args.to).map_err(RunnerError::Open)?;
    let records = run.cells().map_err(RunnerError::Record)?;
    let in_state = |state| records.iter().filter(|record| record.state == state).count();
    let waiting = in_state(CellState::Waiting);
    if waiting > 0 && !as_json {
        eprintln!(
            "not run yet: {}; continue with: disklab run --resume --out {}",
            count(waiting, "cell"),
            shell_words::quote(&args.to.to_string_lossy())
        );
    }
    finish_new(run, in_state(CellState::Failed), as_json)
}
