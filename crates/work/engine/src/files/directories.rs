//! The directories that file names lead through.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use disklab_exec::NamedPathError;
use disklab_jobfile::{Engine, Job};

use super::{base, targets};
use crate::context::JobContext;
use crate::error::EngineError;

/// Whether the directories are there that jobs name; fio does not make these.
///
/// # Errors
/// [`EngineError::Job`] at the first job of which one is not.
pub(crate) fn check_directories(jobs: &[Job], context: &JobContext) -> Result<(), EngineError> {
    for job in jobs.iter().filter(|job| job.engine != Engine::Null) {
        for clone in 0..(job.files.directories.len() as u32).min(job.process.clones) {
            let directory = base(job, clone, context);
            if !directory.is_dir() {
                let what = format!("{} is not a directory (`directory`)", directory.display());
                return Err(EngineError::Job(job.place.error(what)));
            }
        }
    }
    Ok(())
}

/// Makes the directories that are missing on the way to a job's files, as fio does
/// (create_work_dirs in filesetup.c).
pub(crate) fn make_directories(job: &Job, context: &JobContext) -> Result<(), EngineError> {
    if job.engine == Engine::Null {
        return Ok(());
    }
    let mut directories: BTreeSet<PathBuf> = BTreeSet::new();
    for clone in 0..job.process.clones {
        let base = base(job, clone, context);
        for target in targets(job, clone, context) {
            let parent = target.path.parent().filter(|parent| **parent != base);
            if let Some(parent) = parent.filter(|parent| !directories.contains(*parent)) {
                directories.insert(parent.to_owned());
            }
        }
    }
    let missing = directories.into_iter().filter(|directory| !directory.exists());
    for directory in missing {
        disklab_exec::make_directories(&directory).map_err(|error| {
            let error = match error {
                NamedPathError::Io(error) => error,
                other => io::Error::new(io::ErrorKind::PermissionDenied, other),
            };
            EngineError::file("make the directory", directory, error)
        })?;
    }
    Ok(())
}
