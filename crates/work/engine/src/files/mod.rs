//! The files of jobs.

mod append;
mod existing;
mod guard;
mod layout;
mod open;

pub(crate) use append::Ends;
pub(crate) use existing::take_lengths;
pub use guard::{DeviceAccess, HeldDevice, Untouchable, preflight, written_devices};
pub(crate) use layout::lay_out_job;
pub(crate) use open::OpenFiles;

use std::path::{Path, PathBuf};

use disklab_jobfile::{Extent, Job};

use crate::context::JobContext;

/// One file of a clone.
#[derive(Debug, Clone)]
pub(crate) struct FileTarget {
    pub(crate) path: PathBuf,
    pub(crate) extent: Extent,
}

/// The files of a clone, by number.
pub(crate) fn targets(job: &Job, clone: u32, context: &JobContext) -> Vec<FileTarget> {
    let directory: PathBuf = match &job.files.directory {
        Some(own) => context.directory.join(Path::new(own)),
        None => context.directory.clone(),
    };
    let target = |file: disklab_jobfile::JobFile| FileTarget {
        path: directory.join(&file.name),
        extent: file.extent,
    };
    job.files.of(clone, context.seed).into_iter().map(target).collect()
}

#[cfg(test)]
mod tests;
