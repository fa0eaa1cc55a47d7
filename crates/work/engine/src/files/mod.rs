//! The files of jobs.

mod append;
mod device_access;
mod directories;
mod existing;
mod guard;
mod layout;
mod open;

pub(crate) use append::Ends;
pub use device_access::{DeviceAccess, HeldDevice, Untouchable};
pub(crate) use directories::{check_directories, make_directories};
pub(crate) use existing::take_lengths;
pub use guard::{preflight, written_devices};
pub(crate) use layout::lay_out_job;
pub(crate) use open::OpenFiles;

use std::path::PathBuf;

use disklab_jobfile::{Extent, Job};

use crate::context::JobContext;

/// One file of a clone.
#[derive(Debug, Clone)]
pub(crate) struct FileTarget {
    pub(crate) path: PathBuf,
    pub(crate) extent: Extent,
}

/// The directory from which the names of a clone's files lead.
pub(crate) fn base(job: &Job, clone: u32, context: &JobContext) -> PathBuf {
    job.files.directory(clone).map_or(context.directory.clone(), |own| context.directory.join(own))
}

/// The files of a clone, by number.
pub(crate) fn targets(job: &Job, clone: u32, context: &JobContext) -> Vec<FileTarget> {
    let own = job.files.directory(clone);
    let directory = base(job, clone, context);
    // As in fio, a name that begins with '/' lies below the job's own directory, too.
    let below = |name: &str| match own {
        Some(_) => directory.join(name.trim_start_matches('/')),
        None => directory.join(name),
    };
    let target = |file: disklab_jobfile::JobFile| FileTarget {
        path: below(&file.name),
        extent: file.extent,
    };
    job.files.of(clone, context.seed).into_iter().map(target).collect()
}

#[cfg(test)]
mod tests;
