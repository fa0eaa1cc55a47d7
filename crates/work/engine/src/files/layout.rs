//! Making the files that a job needs, before anything is measured.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use disklab_exec::Interrupted;
use disklab_jobfile::{Engine, Fallocate, Job};

use super::targets;
use crate::context::JobContext;
use crate::error::EngineError;
use crate::filler::BufferFiller;

/// Laid out in pieces of this size, which file systems can keep whole.
const PIECE: usize = 1 << 20;

/// Makes the files that are missing or too short, as fio does (extend_file in
/// filesetup.c): for a job that reads or overwrites they are written full with
/// its own kind of data; for one that only writes, room is reserved.
pub(crate) fn lay_out_job(job: &Job, context: &JobContext) -> Result<(), EngineError> {
    // What is appended is made when the jobs begin: see Ends.
    if job.opening.create_on_open || job.opening.append || job.engine == Engine::Null {
        return Ok(());
    }
    // Clones may share a file, of which each uses another part.
    let mut needed: BTreeMap<PathBuf, u64> = BTreeMap::new();
    let mut order = Vec::new();
    for clone in 0..job.process.clones {
        for target in targets(job, clone, context) {
            let end = needed.entry(target.path.clone()).or_insert_with(|| {
                order.push(target.path);
                0
            });
            *end = (*end).max(target.extent.end());
        }
    }
    let with_content = job.pattern.access.reads || job.opening.overwrite;
    for (number, path) in order.into_iter().enumerate() {
        let size = needed[&path];
        let there = match fs::metadata(&path) {
            Ok(there) if there.is_file() => there.len(),
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(EngineError::file("look at", path, error)),
        };
        if there >= size && (there > 0 || path.exists()) {
            continue;
        }
        let made = make(job, context, &path, size, with_content.then_some(number as u64));
        made.map_err(|error| describe(&path, error))?;
    }
    Ok(())
}

fn describe(path: &Path, error: io::Error) -> EngineError {
    match error.kind() {
        io::ErrorKind::Interrupted => Interrupted.into(),
        _ => EngineError::file("lay out", path, error),
    }
}

/// Makes room behind what a file holds, and fills it where a job reads there; `number` is
/// that of the file.
pub(super) fn lengthen(
    job: &Job,
    context: &JobContext,
    path: &Path,
    new: Range<u64>,
    number: u64,
) -> Result<(), EngineError> {
    let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o644).open(path);
    let lengthened = open.and_then(|file| {
        context.devices.check_open(&file)?;
        reserve(&file, job.opening.fallocate, new.end)?;
        if job.pattern.access.reads { fill(job, context, &file, new, number) } else { Ok(()) }
    });
    lengthened.map_err(|error| describe(path, error))
}

/// Makes one file anew; `content` is its number where it is filled.
fn make(
    job: &Job,
    context: &JobContext,
    path: &Path,
    size: u64,
    content: Option<u64>,
) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Nothing may have taken its place meanwhile that is not a file.
    let open = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o644)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path);
    let file = open?;
    context.devices.check_open(&file)?;
    file.set_len(0)?;
    reserve(&file, job.opening.fallocate, size)?;
    let Some(number) = content else { return Ok(()) };
    fill(job, context, &file, 0..size, number)
}

/// Writes a part of a file, up to its end, with the job's kind of data.
fn fill(
    job: &Job,
    context: &JobContext,
    file: &File,
    part: Range<u64>,
    number: u64,
) -> io::Result<()> {
    file.set_len(part.end)?;
    let filler = BufferFiller::new(job, 0, context.seed).map_err(io::Error::other)?;
    let mut buffer = vec![0; PIECE];
    let mut at = part.start;
    while at < part.end {
        if context.interrupt.is_raised() {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let piece = &mut buffer[..usize::try_from(part.end - at).unwrap_or(PIECE).min(PIECE)];
        filler.lay_out(number, at, piece);
        file.write_all_at(piece, at)?;
        at += piece.len() as u64;
    }
    if job.opening.create_fsync {
        file.sync_all()?;
    }
    Ok(())
}

/// Reserves room as `fallocate` says.
fn reserve(file: &File, how: Fallocate, size: u64) -> io::Result<()> {
    let length =
        libc::off_t::try_from(size).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    if length == 0 {
        return Ok(());
    }
    let fd = file.as_raw_fd();
    // SAFETY: plain numbers, and a descriptor that is open.
    let allocate = |mode| match unsafe { libc::fallocate(fd, mode, 0, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    match how {
        Fallocate::None => Ok(()),
        Fallocate::Truncate => file.set_len(size),
        Fallocate::Keep => allocate(libc::FALLOC_FL_KEEP_SIZE),
        // SAFETY: as above. It returns the error instead of setting errno.
        Fallocate::Posix => match unsafe { libc::posix_fallocate(fd, 0, length) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        },
        // Without room, writing would fail as well: that is reported now.
        Fallocate::Native => match allocate(0) {
            Err(e)
                if matches!(e.raw_os_error(), Some(libc::ENOSPC | libc::EFBIG | libc::EDQUOT)) =>
            {
                Err(e)
            }
            _ => Ok(()),
        },
    }
}
