//! The lengths of files whose `size` was not given: as large as they are.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use disklab_jobfile::{Engine, Job, NameSource};

use super::targets;
use crate::context::JobContext;
use crate::error::EngineError;

/// Gives a job the lengths of its files, if it takes them as they are.
///
/// # Errors
/// If there is no such file, or none with a length.
pub(crate) fn take_lengths(job: &mut Job, context: &JobContext) -> Result<(), EngineError> {
    if !job.takes_existing_lengths() {
        return Ok(());
    }
    let needs_size = |why: String| EngineError::Job(job.place.error(why));
    if job.engine == Engine::Null {
        return Err(needs_size("this job has no `size`, and `ioengine=null` no files".to_owned()));
    }
    let clones = match job.files.names {
        NameSource::Fixed(_) => 1,
        NameSource::Format { .. } => job.process.clones,
    };
    let paths = (0..clones).flat_map(|clone| targets(job, clone, context)).map(|file| file.path);
    let lengths = paths
        .map(|path| {
            length(&path).ok_or_else(|| {
                needs_size(format!(
                    "this job has no `size`, and {} is not a file or drive with a length: give `size`",
                    path.display()
                ))
            })
        })
        .collect::<Result<Vec<u64>, _>>()?;
    job.take_lengths(lengths).map_err(EngineError::Job)
}

fn length(path: &Path) -> Option<u64> {
    let there = fs::metadata(path).ok()?;
    if there.file_type().is_block_device() {
        return File::open(path).ok()?.seek(SeekFrom::End(0)).ok();
    }
    there.is_file().then_some(there.len())
}
