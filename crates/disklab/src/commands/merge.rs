//! `disklab merge`: one run of several parts, or of several machines.

use std::path::{Path, PathBuf};

use disklab_runner::sensitivity::merge_analysis;
use disklab_runner::{NextParts, RunnerError, after_look};
use disklab_store::{CellState, Run};
use disklab_units::count;

use super::caller::caller;
use super::ending::finish_new;
use super::parts::print_parts;
use super::sensitivity;
use crate::cli::MergeArgs;
use crate::exit::Failure;
use crate::watcher::Watcher;

/// Makes one run of the parts or machines, and writes its report.
pub fn merge(args: &MergeArgs, as_json: bool) -> Result<u8, Failure> {
    let are_machines = !args.machines.is_empty();
    if let (false, None) = (are_machines, &args.next) {
        let caller = caller()?;
        if let Some(analysis) = merge_analysis(&args.parts, &args.to, &caller)? {
            return sensitivity::finish(&analysis, &caller, as_json);
        }
    }
    let run = if are_machines {
        let machines: Vec<_> = args.machines.iter().map(|text| machine(text)).collect();
        Run::merge_machines(&machines, &args.to)
    } else {
        Run::merge(&args.parts, &args.to)
    };
    let run = run.map_err(RunnerError::Open)?;
    if let Some(code) = look(&run, args, as_json)? {
        return Ok(code);
    }
    let records = run.cells().map_err(RunnerError::Record)?;
    let in_state = |state| records.iter().filter(|record| record.state == state).count();
    let waiting = in_state(CellState::Waiting);
    if waiting > 0 && !as_json {
        let remedy = if are_machines {
            "finish the runs of the machines, and merge them again".to_owned()
        } else {
            format!("continue with: disklab run --resume --out {}", quoted(&args.to))
        };
        eprintln!("not run yet: {}; {remedy}", count(waiting, "cell"));
    }
    finish_new(run, in_state(CellState::Failed), as_json)
}

/// Looks at the samples of a run that they end. If they do not yet, says how to continue; with --next,
/// that is all.
fn look(run: &Run, args: &MergeArgs, as_json: bool) -> Result<Option<u8>, Failure> {
    let info = run.info().map_err(RunnerError::Open)?;
    if info.options.looks.is_none() {
        let Some(next) = &args.next else { return Ok(None) };
        return Err(Failure::usage_error(format!(
            "--next {}: the parts have all cells of the run, as no samples decide how many it has; \
             leave it out",
            next.display()
        )));
    }
    let caller = caller()?;
    let next = args.next.as_deref();
    let Some(NextParts { cells, written }) =
        after_look(run, next, &caller, &mut Watcher::default())?
    else {
        return Ok(None);
    };
    let to = quoted(&args.to);
    let Some(next) = next else {
        eprintln!(
            "the samples do not decide yet: {} up to the next look; continue here with: disklab run \
             --resume --out {to}; or in parts, with the same command and --next PLAN",
            count(cells, "cell")
        );
        return Ok(None);
    };
    eprintln!("the samples do not decide yet");
    let then = format!("disklab merge parts/* --to {to} --next {}", quoted(next));
    print_parts(&written, next, &then, as_json).map(Some)
}

fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
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
