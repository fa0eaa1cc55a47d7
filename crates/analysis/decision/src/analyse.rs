//! From a run's directory to an analysis.

use disklab_store::{Run, StoreError};

use crate::{Analyser, Analysis};

/// Why a run could not be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalyseError {
    /// The run could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This version of disklab does not understand the study that the run holds.
    #[error("the run's study is not understood by this version of disklab: {0}")]
    Study(#[from] disklab_source::SourceError),
}

/// Works out everything that a report says, in one pass over the run's samples.
/// Only what figures and findings need is kept of a sample, so that a run of any
/// length fits into memory.
///
/// # Errors
/// [`AnalyseError::Store`] if the run cannot be read, [`AnalyseError::Study`] if this version does
/// not know something in its study.
pub fn analyse(run: &Run) -> Result<Analysis, AnalyseError> {
    let info = run.info()?;
    let study = info.load_study()?;
    let mut analyser = Analyser::new(study, info);
    run.cells()?.iter().for_each(|record| analyser.add_unfinished(record));
    run.for_each_sample(|record, sample| analyser.add(record, sample))?;
    Ok(analyser.finish())
}
