//! A ledger's file.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use disklab_exec::owner;
use rustix::fs::{FlockOperation, flock};

use super::host::LedgerHost;
use super::line::LedgerLine;
use crate::StackError;

/// A ledger's file and the lock on it, which ends with it.
#[derive(Debug)]
pub(super) struct LockedFile {
    pub path: PathBuf,
    pub file: File,
}

impl LockedFile {
    /// Makes and locks a file of a new name.
    pub(super) fn create(directory: &Path, marks: &BTreeSet<String>) -> Result<Self, StackError> {
        let pid = std::process::id();
        for n in 0_u32.. {
            let path = directory.join(format!("ledger-{pid}-{n}.jsonl"));
            let made = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
            let file = match made {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(StackError::io("cannot make", &path, e)),
            };
            flock(&file, FlockOperation::LockExclusive)
                .map_err(|e| StackError::io("cannot lock", &path, e.into()))?;
            // Without this, the file's name might not survive a power failure.
            File::open(directory)
                .and_then(|f| f.sync_all())
                .map_err(|e| StackError::io("cannot write", directory, e))?;
            let mut file = Self { path, file };
            file.append(&LedgerLine::Owner { mark: owner().to_owned(), host: LedgerHost::here() })?;
            // A recovery may have taken it for an abandoned one until its first line
            // said whose it is: before its lock, or on a machine that it does not reach.
            let fail = |e| StackError::io("cannot look at", &file.path, e);
            if file.file.metadata().map_err(fail)?.nlink() == 0 {
                continue;
            }
            if !marks.is_empty() {
                file.append(&LedgerLine::Marks(marks.iter().cloned().collect()))?;
            }
            return Ok(file);
        }
        Err(StackError::NoLedgerName(directory.to_owned()))
    }

    /// Adds a line and waits until it is on the disk.
    pub(super) fn append(&mut self, line: &LedgerLine) -> Result<(), StackError> {
        let fail = |e: io::Error| StackError::io("cannot write to the ledger", &self.path, e);
        let mut text = serde_json::to_string(line).map_err(|e| fail(e.into()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()).map_err(fail)
    }

    pub(super) fn remove(self) -> Result<(), StackError> {
        std::fs::remove_file(&self.path)
            .map_err(|e| StackError::io("cannot remove the ledger", &self.path, e))
    }
}
