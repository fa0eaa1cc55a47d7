//! What the tests of all kinds need.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disklab_cell::{Caches, WorkloadPlan};
use disklab_config::Node;
use disklab_exec::{Executor, Interrupt};
use disklab_sample::{Note, Step};
use disklab_source::{Source, SourceError};

use crate::{Context, WorkContext, Workload, WorkloadError, read_workload};

/// The workload `kind` with these fields, written as TOML lines.
pub fn read(kind: &str, body: &str, scale: f64) -> Result<Box<dyn Workload>, SourceError> {
    read_in(kind, body, scale, Path::new("/nowhere"))
}

/// As [`read`], with the directory that file names are resolved against.
pub fn read_in(
    kind: &str,
    body: &str,
    scale: f64,
    directory: &Path,
) -> Result<Box<dyn Workload>, SourceError> {
    let source = Arc::new(Source { name: "test.toml".to_owned(), text: body.to_owned() });
    let body = Node::parse(&source)?;
    let spec = WorkloadPlan {
        id: "the-workload".to_owned(),
        kind: kind.to_owned(),
        body,
        caches: Caches::Keep,
        events: None,
    };
    read_workload(&spec, &Context::new(scale, directory))
}

/// What a run left behind.
#[derive(Debug, Default)]
pub struct WorkOutcome {
    pub steps: Vec<Step>,
    pub notes: Vec<Note>,
    pub commands: Vec<String>,
}

/// A place to run in, where caches are kept and no drive is watched.
pub fn context<'a>(
    executor: &'a Executor,
    directory: &'a Path,
    device: Option<PathBuf>,
) -> WorkContext<'a> {
    WorkContext {
        executor,
        directory,
        device,
        device_is_ata: false,
        watched: Vec::new(),
        seed: 42,
        caches: Caches::Keep,
        remount: None,
        caretaker: None,
        emptied: false,
        spread: None,
        spread_over: None,
        events: &[],
        steps: Vec::new(),
        files_read: Vec::new(),
        notes: Vec::new(),
        caches_seconds: 0.0,
        background_bytes: None,
    }
}

/// The names in a directory.
fn entries(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Prepares and runs a workload in `directory`.
pub fn run_in(
    workload: &dyn Workload,
    directory: &Path,
    device: Option<PathBuf>,
) -> Result<WorkOutcome, WorkloadError> {
    let executor = Executor::new(Interrupt::new());
    let mut context = context(&executor, directory, device);
    let before = entries(directory);
    workload.prepare(&mut context)?;
    workload.run(&mut context)?;
    // Recovery takes any other name for the user's.
    let names = workload.names();
    let other: Vec<_> = entries(directory)
        .into_iter()
        .filter(|name| !before.contains(name) && !names.contains(name))
        .collect();
    assert!(other.is_empty(), "not among the workload's names: {other:?}");
    context.describe_steps(|step| workload.profile(step));
    // Parts that ran at the same time are steps too.
    assert!(context.steps.iter().all(|step| step.profile.is_some()), "a step without a profile");
    let (steps, notes) = (context.steps, context.notes);
    let commands = executor.trace.take().iter().map(|e| e.command_line()).collect();
    Ok(WorkOutcome { steps, notes, commands })
}

/// Whether the test must be left out for want of a program; says so.
pub fn lacks(program: &str) -> bool {
    let missing = disklab_exec::find_program(program).is_none();
    if missing {
        eprintln!("skipped: needs {program}");
    }
    missing
}
