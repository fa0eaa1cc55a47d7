//! Random reads by the engine that runs fio jobs: what a workload's I/O costs.

use std::sync::Arc;

use disklab_engine::{DeviceAccess, JobContext, run};
use disklab_jobfile::{Policy, Runner, parse};
use disklab_source::Source;

use crate::GuestWorkError;
use crate::raw_disk::{DRIVE, PAGE, RawDisk};

/// So many reads of 4 KiB at random offsets of the drive, one after another.
///
/// # Errors
/// [`GuestWorkError`] if the drive or the engine cannot do them.
pub(crate) fn reads(count: u64) -> Result<(), GuestWorkError> {
    let on_drive = |action| move |source| GuestWorkError::Drive { action, source };
    let drive = RawDisk::open(DRIVE).map_err(on_drive("open"))?;
    let size = drive.pages.saturating_sub(1) * PAGE as u64;
    let text = format!(
        "[reads]\nfilename={DRIVE}\nrw=randread\nbs=4k\ndirect=1\nsize={size}\n\
         number_ios={count}\n"
    );
    let source = Arc::new(Source { name: "speed".to_owned(), text });
    let policy = Policy { runner: Runner::Native, directory: true };
    let jobs = parse(&source, policy)?;
    let context = JobContext { lean: true, devices: DeviceAccess::Any, ..JobContext::new("/", 1) };
    let mark = || drive.mark().map_err(on_drive("mark"));
    mark()?;
    let report = run(&jobs, &context)?;
    mark()?;
    match report.jobs.first().map(|job| (job.read.operations, job.error.as_ref())) {
        Some((done, None)) if done == count => Ok(()),
        other => {
            let done = other.map(|(done, error)| (done, error.cloned()));
            Err(GuestWorkError::Reads { asked: count, done })
        }
    }
}
