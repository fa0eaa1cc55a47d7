//! What the tests share.

use std::path::Path;
use std::sync::{Arc, Mutex};

use disklab_engine::{EngineReport, Issued, JobContext, run};
use disklab_jobfile::{Job, Policy, parse};
use disklab_source::Source;

/// Jobs of a job file.
pub fn jobs(text: &str) -> Vec<Job> {
    let source = Arc::new(Source { name: "test.fio".to_owned(), text: text.to_owned() });
    let plain = Policy { directory: true, ..Policy::default() };
    parse(&source, plain).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs jobs, and tells every I/O.
pub fn run_traced(jobs: &[Job], directory: &Path) -> (EngineReport, Vec<Issued>) {
    let trace = Arc::new(Mutex::new(Vec::new()));
    let context = JobContext { trace: Some(trace.clone()), ..JobContext::new(directory, 1) };
    let report = run(jobs, &context).unwrap_or_else(|error| panic!("{error}"));
    let issued = trace.lock().expect("no panic").clone();
    (report, issued)
}

/// Runs the jobs of a text in a new directory.
pub fn run_text(text: &str) -> (tempfile::TempDir, EngineReport) {
    let directory = tempfile::tempdir().expect("temp");
    let report = run(&jobs(text), &JobContext::new(directory.path(), 1));
    (directory, report.unwrap_or_else(|error| panic!("{error}")))
}
