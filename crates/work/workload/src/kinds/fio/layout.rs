//! The files that jobs read, written beforehand by disklab.
//!
//! fio would lay them out itself, within the time that a naive script measures
//! and with one buffer repeated, which a compressing file system shrinks.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::PathBuf;

use disklab_units::Bytes;
use indexmap::IndexMap;

use super::part::FioPart;
use super::work::FioWork;
use crate::data::{ByteStream, FileContent};
use crate::{WorkContext, WorkloadError};

/// What the files hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Prewrite {
    /// Seeded data that neither compresses nor deduplicates.
    #[default]
    Random,
    Zeros,
    /// Nothing: fio makes what it misses.
    None,
}

impl Prewrite {
    /// Its words in a study file.
    pub const WORDS: [(&'static str, Self); 3] =
        [("random", Self::Random), ("zeros", Self::Zeros), ("none", Self::None)];
}

/// All files of the jobs, each once with the largest size that any job wants.
pub(super) fn files<'a>(works: impl Iterator<Item = &'a FioWork>) -> IndexMap<&'a str, Bytes> {
    let mut files: IndexMap<&str, Bytes> = IndexMap::new();
    for (name, size) in works.flat_map(|work| &work.files) {
        let known = files.entry(name).or_default();
        *known = (*known).max(*size);
    }
    files
}

/// Those that some job needs to be there. A file that jobs share is as large as
/// the largest of them wants, even if that one only writes: fio would extend it.
pub(super) fn needed(parts: &[FioPart]) -> IndexMap<&str, Bytes> {
    let all = files(parts.iter().map(|part| &part.work));
    let read = files(parts.iter().map(|part| &part.work).filter(|work| work.needs_files));
    all.into_iter().filter(|(name, _)| read.contains_key(name)).collect()
}

/// Checks that what the jobs will write to are files, if they are there already: a link in
/// the measured directory could lead anywhere, to a block device too, and fio follows it.
/// A directory does no harm: the error comes when it is opened.
///
/// # Errors
/// [`WorkloadError::NotAFile`] with the first that is none.
pub(super) fn keep_off(parts: &[FioPart], context: &WorkContext<'_>) -> Result<(), WorkloadError> {
    // In a guest of the lab there is nothing but models, and each call costs time there.
    if context.executor.guest().is_some() {
        return Ok(());
    }
    for name in files(parts.iter().map(|part| &part.work)).keys() {
        let path = context.directory.join(name);
        if path.symlink_metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            return Err(WorkloadError::NotAFile(path));
        }
    }
    Ok(())
}

/// Creates the directories that jobs name below the measured one, following no link.
///
/// # Errors
/// [`WorkloadError`] if one cannot be created, or is a link or a file.
pub(super) fn make_directories(
    parts: &[FioPart],
    context: &WorkContext<'_>,
) -> Result<(), WorkloadError> {
    let mut made: BTreeSet<PathBuf> = BTreeSet::new();
    for name in files(parts.iter().map(|part| &part.work)).keys() {
        let Some((directory, _)) = name.rsplit_once('/') else { continue };
        let mut path = context.directory.to_path_buf();
        for part in directory.split('/') {
            path.push(part);
            if !made.insert(path.clone()) {
                continue;
            }
            match std::fs::create_dir(&path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(WorkloadError::io("cannot make", &path)(error));
                }
                _ if path.symlink_metadata().is_ok_and(|there| there.is_dir()) => {}
                _ => {
                    return Err(WorkloadError::NotADirectory(path));
                }
            }
        }
    }
    Ok(())
}

/// Writes the files that have to be there.
///
/// # Errors
/// Where one cannot be written, or the user asked to stop.
pub(super) fn prewrite(
    parts: &[FioPart],
    prewrite: Prewrite,
    context: &mut WorkContext<'_>,
) -> Result<(), WorkloadError> {
    let needed = needed(parts);
    if needed.is_empty() {
        return Ok(());
    }
    let (content, from) = match prewrite {
        Prewrite::Random => (FileContent::Random, "/dev/urandom"),
        Prewrite::Zeros => (FileContent::Zeros, "/dev/zero"),
        Prewrite::None => {
            context.note("fio", "prewrite = \"none\": fio lays out the files it reads by itself");
            return Ok(());
        }
    };
    let mut stream = ByteStream::new(content, context.seed);
    for (name, size) in &needed {
        context.write_file(&mut stream, &context.directory.join(name), *size, true)?;
        let made = format!("head -c {} {from} > '{name}'", size.0);
        context.executor.trace.note(&["sh", "-c", &made]);
    }
    let total: Bytes = needed.values().copied().sum();
    let files =
        if needed.len() == 1 { "1 file".to_owned() } else { format!("{} files", needed.len()) };
    let what = match content {
        FileContent::Random => "data that do not compress",
        FileContent::Zeros => "zeros, of which a compressing file system stores next to nothing",
    };
    context.note("fio", format!("written beforehand: {files}, {total} of {what}"));
    Ok(())
}
