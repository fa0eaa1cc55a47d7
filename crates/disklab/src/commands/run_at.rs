//! A run, and the levels of its study's axes that are meant: `RUN@memory=8GiB`.

use std::path::{Path, PathBuf};

use disklab_report::Report;
use disklab_runner::RunnerError;
use disklab_store::Run;

use crate::exit::Failure;

/// Where a run is, and the levels behind its name. A directory that is called so goes before.
pub(crate) fn split(text: &Path) -> (PathBuf, Vec<(String, String)>) {
    let whole = || (text.to_owned(), Vec::new());
    if text.exists() {
        return whole();
    }
    let Some((run, levels)) = text.to_str().and_then(|text| text.rsplit_once('@')) else {
        return whole();
    };
    let level = |word: &str| {
        let (axis, level) = word.split_once('=')?;
        Some((axis.to_owned(), level.to_owned()))
    };
    match levels.split(',').map(level).collect() {
        Some(levels) => (PathBuf::from(run), levels),
        None => whole(),
    }
}

/// The report of the run that is named.
pub(crate) fn gather(text: &Path) -> Result<Report, Failure> {
    let (directory, levels) = split(text);
    let run = Run::open(&directory).map_err(RunnerError::Open)?;
    if levels.is_empty() {
        return Ok(Report::gather(&run)?);
    }
    Ok(Report::gather_at(&run, &levels)?)
}
