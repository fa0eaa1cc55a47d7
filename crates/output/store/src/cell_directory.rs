//! A directory for one cell: its result and its raw outputs.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use disklab_exec::read_text;
use disklab_sample::CellResult;

use crate::directory::RunDirectory;
use crate::run::take_lock;
use crate::schema::LOCK;
use crate::{DirectoryClaim, StoreError, raw};

/// What came of the cell. It is there when all of it is.
const RESULT: &str = "result.json";
/// Until then it has this name.
const UNFINISHED: &str = "result.json.unfinished";
/// The directory of its raw outputs.
const OUTPUTS: &str = "raw";
/// The largest samples have a few MB.
const LARGEST_RESULT: u64 = 256 << 20;

/// The directory of a cell that is being carried out; nobody else carries it out there.
#[derive(Debug)]
pub struct CellDirectory {
    directory: RunDirectory,
    _lock: File,
}

impl Drop for CellDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.directory.at(LOCK));
    }
}

impl CellDirectory {
    /// The result that is in `path` already; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be read, [`StoreError::BadResult`] if it is not one.
    pub fn result(path: &Path) -> Result<Option<CellResult>, StoreError> {
        let file = path.join(RESULT);
        match read_text(&file, LARGEST_RESULT) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|source| StoreError::BadResult { path: file, source }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(StoreError::io("cannot read", &file)(e)),
        }
    }

    /// Claims `path`: a new directory, an empty one, or one in which this cell was cut off.
    ///
    /// # Errors
    /// As [`DirectoryClaim::make`], and [`StoreError::BeingWritten`].
    pub fn claim(path: &Path) -> Result<Self, StoreError> {
        let directory = DirectoryClaim::make(path)?.keep();
        let lock = take_lock(&directory)?;
        Ok(Self { directory, _lock: lock })
    }

    /// An empty directory for raw outputs. The path is valid while this exists.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be made.
    pub fn outputs(&self) -> Result<PathBuf, StoreError> {
        let path = self.directory.at(OUTPUTS);
        let made = raw::remove(&path).and_then(|()| {
            std::fs::create_dir(&path).map_err(StoreError::io("cannot make", &path))
        });
        made.map_err(|error| self.directory.named(error))?;
        Ok(path)
    }

    /// Keeps what came of the cell: all of it, or nothing.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be written.
    pub fn keep(&self, result: &CellResult) -> Result<(), StoreError> {
        let (unfinished, path) = (self.directory.at(UNFINISHED), self.directory.at(RESULT));
        let json = serde_json::to_vec(result)
            .map_err(|source| StoreError::SampleJson { cell: result.cell.number, source })?;
        let written = (|| {
            let _ = std::fs::remove_file(&unfinished);
            // New: a link of that name would lead elsewhere.
            let mut file = File::create_new(&unfinished)?;
            file.write_all(&json)?;
            file.sync_all()?;
            std::fs::rename(&unfinished, &path)
        })();
        written
            .map_err(StoreError::io("cannot write", &path))
            .map_err(|error| self.directory.named(error))
    }
}
