//! The nameless file of a store, and its use by one store after another.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::block::BLOCK_BYTES;
use crate::LabError;

/// Files whose stores are gone, for the next ones on the same file system. Memory
/// of the page cache that was written before is written again ten times as fast as
/// fresh memory, and the labs of a run come one after another.
static SPARE: Mutex<Vec<File>> = Mutex::new(Vec::new());
/// As many are kept: one for each lab that may run at the same time.
const SPARE_LIMIT: usize = 64;
/// Bytes of a spare file that are kept.
const SPARE_BYTES: u64 = 1 << 30;

/// Where a slot begins in the file.
pub(super) fn offset(slot: u32) -> u64 {
    u64::from(slot) * BLOCK_BYTES as u64
}

/// A file without a name. What it holds at first is of no meaning.
#[derive(Debug)]
pub(super) struct StoreFile(File);

impl StoreFile {
    /// A file in the file system of `directory`, of up to `limit_bytes`.
    pub fn new(directory: &Path, limit_bytes: u64) -> Result<Self, LabError> {
        let what = format!("make a file for the disks' content in '{}'", directory.display());
        if let Some(spare) = spare(directory, limit_bytes) {
            return Ok(Self(spare));
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let fd = match open(directory, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => fd,
            // Some file systems have no nameless files.
            Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
                let path = directory.join("content");
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
                let fd = open(&path, flags, Mode::RUSR | Mode::WUSR);
                let fd = fd.map_err(LabError::system(what.clone()))?;
                std::fs::remove_file(&path).map_err(LabError::system(what))?;
                fd
            }
            Err(e) => return Err(LabError::system(what)(e)),
        };
        Ok(Self(File::from(fd)))
    }

    pub fn write(&self, data: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(data, at)
    }

    pub fn read(&self, data: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(data, at)
    }

    /// Reads what there is, and says how many bytes.
    pub fn read_up_to(&self, data: &mut [u8], at: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < data.len() {
            match self.0.read_at(&mut data[done..], at.saturating_add(done as u64)) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(done)
    }
}

impl Drop for StoreFile {
    fn drop(&mut self) {
        let Ok(metadata) = self.0.metadata() else { return };
        let Ok(file) = self.0.try_clone() else { return };
        let fits = metadata.len() <= SPARE_BYTES || file.set_len(SPARE_BYTES).is_ok();
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if fits && metadata.len() > 0 && spare.len() < SPARE_LIMIT {
            spare.push(file);
        }
    }
}

/// A file that was used before, if there is one in the file system of `directory`.
fn spare(directory: &Path, limit_bytes: u64) -> Option<File> {
    let device = std::fs::metadata(directory).ok()?.dev();
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |file: &File| file.metadata().is_ok_and(|m| m.dev() == device);
    let found = spare.iter().rposition(same)?;
    let file = spare.swap_remove(found);
    let length = file.metadata().ok()?.len();
    // No more space may be taken than this store is allowed.
    (length <= limit_bytes || file.set_len(limit_bytes).is_ok()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_used_again_within_its_limit() {
        let directory = tempfile::tempdir().unwrap();
        // Other tests take and leave spare files at the same time: what counts is
        // that each is within its limit, and whole.
        for limit in [1 << 20, 4096, 1 << 20] {
            let file = StoreFile::new(directory.path(), limit).unwrap();
            assert!(file.0.metadata().unwrap().len() <= limit);
            file.write(&[7; 4096], 0).unwrap();
            let mut data = [0; 4096];
            file.read(&mut data, 0).unwrap();
            assert_eq!(data, [7; 4096]);
        }
        assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none());
    }
}
