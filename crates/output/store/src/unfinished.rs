//! A run that is being made: it is not there before all of it is.
//!
//! Its database has another name until then, and says which raw outputs are its own. What a
//! killed process left of one is removed before another is made in the directory.

use std::io::ErrorKind;
use std::path::Path;

use rusqlite::OpenFlags;

use crate::database::connect;
use crate::schema::LOCK;
use crate::untrusted::{SIDE_FILES, check_schema, check_side_files, side_file};
use crate::{DirectoryClaim, RunDirectory, StoreError, raw, rows};

/// Name of a run's database until all of the run is there.
pub(crate) const UNFINISHED: &str = "run.sqlite.new";

/// The files of a run that is being made. Dropped, they go.
#[derive(Debug)]
pub(crate) struct UnfinishedRun {
    directory: RunDirectory,
    published: bool,
    /// If it was made for this run. Dropped after all else is gone.
    claim: Option<DirectoryClaim>,
}

impl UnfinishedRun {
    /// Of a directory that is claimed and locked.
    pub(crate) fn new(directory: RunDirectory, claim: Option<DirectoryClaim>) -> Self {
        Self { directory, published: false, claim }
    }

    /// All of the run is there.
    pub(crate) fn keep(mut self) {
        self.published = true;
        if let Some(claim) = self.claim.take() {
            claim.keep();
        }
    }
}

impl Drop for UnfinishedRun {
    fn drop(&mut self) {
        if !self.published && clear(&self.directory.at("")).is_ok() {
            let _ = std::fs::remove_file(self.directory.at(LOCK));
        }
    }
}

/// Removes what is left of a run that was being made.
///
/// # Errors
/// [`StoreError::Unexpected`] if one of its names is that of something that disklab does not
/// make, [`StoreError::Io`] if something cannot be removed.
pub(crate) fn clear(directory: &Path) -> Result<(), StoreError> {
    let database = directory.join(UNFINISHED);
    match database.symlink_metadata() {
        Ok(there) if there.is_file() => {}
        Ok(_) => {
            return Err(StoreError::Unexpected { path: database, expected: "regular file" });
        }
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(StoreError::io("cannot look at", &database)(e)),
    }
    check_side_files(&database)?;
    // Before anything else is made, its cells are in it; if they are not, there is nothing else.
    if let Ok(cells) = cells(&database) {
        raw::clear_all(directory, &cells)?;
    }
    // The database last: it says what else there is.
    let side_files = SIDE_FILES.iter().map(|ending| side_file(&database, ending));
    for path in side_files.chain([database.clone()]) {
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                return Err(StoreError::io("cannot remove", &path)(e));
            }
            _ => {}
        }
    }
    Ok(())
}

fn cells(database: &Path) -> Result<Vec<crate::CellRecord>, StoreError> {
    let (connection, _) = connect(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check_schema(database, &connection)?;
    let cells = rows::cells(&connection).map_err(StoreError::sqlite(database))?;
    Ok(cells.unwrap_or_default())
}
