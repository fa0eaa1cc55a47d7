//! Random reads by the engine that runs fio jobs: what a workload's I/O costs.

use std::sync::Arc;

use disklab_engine::{DeviceAccess, JobContext, run};
use disklab_jobfile::{Policy, Runner, parse};
use disklab_source::Source;

use crate::job::{DRIVE, Disk, PAGE};

/// So many reads of 4 KiB at random places of the drive, one after another.
///
/// # Errors
/// In words, where they cannot be done.
pub(crate) fn reads(count: u64) -> Result<(), String> {
    let drive = Disk::open(DRIVE).map_err(|e| format!("cannot open {DRIVE}: {e}"))?;
    let size = drive.pages.saturating_sub(1) * PAGE as u64;
    let text = format!(
        "[reads]\nfilename={DRIVE}\nrw=randread\nbs=4k\ndirect=1\nsize={size}\n\
         number_ios={count}\n"
    );
    let source = Arc::new(Source { name: "speed".to_owned(), text });
    let policy = Policy { runner: Runner::Native, directory: true, folders: true };
    let jobs = parse(&source, policy).map_err(|e| e.to_string())?;
    let context = JobContext { lean: true, devices: DeviceAccess::Any, ..JobContext::new("/", 1) };
    let mark = || drive.mark().map_err(|e| format!("cannot mark {DRIVE}: {e}"));
    mark()?;
    let report = run(&jobs, &context).map_err(|e| e.to_string())?;
    mark()?;
    match report.jobs.first().map(|job| (job.read.operations, job.error.as_ref())) {
        Some((done, None)) if done == count => Ok(()),
        other => Err(format!("the engine did not do {count} reads: {other:?}")),
    }
}
