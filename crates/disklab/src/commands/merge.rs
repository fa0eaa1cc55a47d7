//! `disklab merge`: one run of several parts, or of several machines.

use std::path::PathBuf;

use disklab_runner::RunnerError;
use disklab_store::{CellState, Run};
use disklab_units::count;

use super::run::finish_new;
use crate::cli::MergeArgs;
use crate::exit::Failure;

/// Makes one run of the parts or machines, and writes its report.
pub fn merge(args: &MergeArgs, as_json: bool) -> Result<u8, Failure> {
    let are_machines = !args.machines.is_empty();
    let run = if are_machines {
        let machines: Vec<_> = args.machines.iter().map(|text| machine(text)).collect();
        Run::merge_machines(&machines, &args.to)
    } else {
        Run::merge(&args.parts, &args.to)
    };
    let run = run.map_err(RunnerError::Open)?;
    let records = run.cells().map_err(RunnerError::Record)?;
    let in_state = |state| records.iter().filter(|record| record.state == state).count();
    let waiting = in_state(CellState::Waiting);
    if waiting > 0 && !as_json {
        let remedy = if are_machines {
            "finish the runs of the machines, and merge them again".to_owned()
        } else {
            let to = args.to.to_string_lossy();
            format!("continue with: disklab run --resume --out {}", shell_words::quote(&to))
        };
        eprintln!("not run yet: {}; {remedy}", count(waiting, "cell"));
    }
    finish_new(run, in_state(CellState::Failed), as_json)
}

/// A machine's name and its run: `nas1=RUN`, or RUN, which is called as its directory is.
fn machine(text: &str) -> (String, PathBuf) {
    match text.split_once('=') {
        Some((name, run)) if !name.contains('/') => (name.to_owned(), run.into()),
        _ => {
            let run = PathBuf::from(text);
            let named = run.canonicalize().unwrap_or_else(|_| run.clone());
            let name = named.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, run)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_named_or_called_as_their_directories() {
        for (text, name, run) in [
            ("nas1=runs/a", "nas1", "runs/a"),
            ("runs/nas2", "nas2", "runs/nas2"),
            ("runs/nas2/", "nas2", "runs/nas2/"),
            ("./a=b", "a=b", "./a=b"),
            ("nas1=/a=b", "nas1", "/a=b"),
        ] {
            assert_eq!(machine(text), (name.to_owned(), PathBuf::from(run)), "{text}");
        }
    }
}
