//! A run's folder.

use std::path::{Path, PathBuf};

use disklab_measure::Sample;
use disklab_study::Cell;

use crate::{CellRecord, RunInfo, Session, StoreError};

/// A run, open. Readers may open it while it is being written.
#[derive(Debug)]
pub struct Run {
    folder: PathBuf,
}

impl Run {
    /// Makes a run in `folder`, which must not hold one already.
    ///
    /// # Errors
    /// Where it does, or cannot be written.
    pub fn create(folder: &Path, info: &RunInfo, cells: &[Cell]) -> Result<Self, StoreError> {
        let _ = (info, cells);
        Ok(Self { folder: folder.to_owned() })
    }

    /// Opens a run for reading.
    ///
    /// # Errors
    /// Where there is none, or it is not readable.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self { folder: folder.to_owned() })
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the run is.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn info(&self) -> Result<RunInfo, StoreError> {
        Err(StoreError::Other(String::new()))
    }

    /// All cells, in order.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub fn cells(&self) -> Result<Vec<CellRecord>, StoreError> {
        Ok(Vec::new())
    }

    /// All starts of the program on this run.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        Ok(Vec::new())
    }

    /// Calls `visit` with every finished cell and its sample, in order, one in
    /// memory at a time.
    ///
    /// # Errors
    /// Where one cannot be read.
    pub fn for_each_sample(
        &self,
        visit: impl FnMut(&CellRecord, Sample),
    ) -> Result<(), StoreError> {
        let _ = visit;
        Ok(())
    }
}
