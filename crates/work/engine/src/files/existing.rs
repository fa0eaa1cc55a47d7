//! The lengths of files that stay as large as they are, and of which a job uses a share.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use disklab_jobfile::{Engine, FileSize, Job};

use super::targets;
use crate::context::JobContext;
use crate::error::EngineError;

/// Gives a job the lengths of its files, if it depends on them.
///
/// # Errors
/// If there is no such file, or none with a length.
pub(crate) fn take_lengths(job: &mut Job, context: &JobContext) -> Result<(), EngineError> {
    if !job.files.depends_on_lengths() {
        return Ok(());
    }
    // What has a size of its own may be missing, and is made then.
    let may_be_missing = !matches!(job.files.size, FileSize::Existing { .. });
    let needs_size = |why: String| EngineError::Job(job.place.error(why));
    if job.engine == Engine::Null {
        return Err(needs_size("this job has no `size`, and `ioengine=null` no files".to_owned()));
    }
    let clones = if job.files.are_shared() { 1 } else { job.process.clones };
    let paths = (0..clones).flat_map(|clone| targets(job, clone, context)).map(|file| file.path);
    let lengths = paths
        .map(|path| {
            length(&path).or(may_be_missing.then_some(0)).ok_or_else(|| {
                needs_size(format!(
                    "this job has no `size` in bytes, and {} is not a file or drive with a length: \
                     give `size`",
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
