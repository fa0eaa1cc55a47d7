//! From an import to a run.

use std::path::Path;

use disklab_measure::Environment;
use disklab_store::{Run, RunInfo, Session};
use jiff::Timestamp;

use crate::{Import, ImportError, ImportedCell};

/// The bench of imported runs: none of disklab's own.
pub const BENCH: &str = "import";

impl Import {
    /// Makes a run of it in `folder`, which must not hold one already. Beside each
    /// sample lies the part of the file that it was read from.
    ///
    /// # Errors
    /// Where the folder holds a run, or cannot be written.
    pub fn write(&self, folder: &Path, session: &Session) -> Result<Run, ImportError> {
        let study = &self.study;
        let info = RunInfo {
            disklab: session.disklab.clone(),
            study: study.id.clone(),
            title: study.title.clone(),
            study_file: study.source.name.clone(),
            study_text: study.source.text.clone(),
            bench: BENCH.to_owned(),
            bench_about: self.about.clone(),
            options: self.options.clone(),
            scale: 1.0,
            repeats: self.cells.iter().map(|c| c.cell.block + 1).max().unwrap_or(1),
            seed: 0,
            created: Timestamp::now(),
            stacks: Vec::new(),
            left_out: self.left_out.clone(),
            // That of this machine is not that of the figures.
            environment: Environment::default(),
        };
        let cells: Vec<_> = self.cells.iter().map(|c| c.cell.clone()).collect();
        let mut run = Run::create(folder, &info, &cells)?;
        run.begin_session(session)?;
        for imported in &self.cells {
            let raw = run.begin_cell(&imported.cell)?;
            keep(imported, &raw)?;
            match &imported.result {
                Ok(sample) => run.record(&imported.cell, sample, 0.0)?,
                Err(why) => run.fail(&imported.cell, why, &[], 0.0)?,
            }
        }
        Ok(run)
    }
}

/// Keeps the text that a cell was read from.
fn keep(imported: &ImportedCell, folder: &Path) -> Result<(), ImportError> {
    let Some(place) = &imported.origin else { return Ok(()) };
    let text = place.source.text.get(place.span.clone()).unwrap_or_default();
    let path = folder.join("imported.txt");
    let line = place.error("").line;
    std::fs::write(&path, format!("{}:{line}\n{text}\n", place.source.name))
        .map_err(|e| ImportError::Other(format!("cannot write {}: {e}", path.display())))
}
