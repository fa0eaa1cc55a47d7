//! From an import to a run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use disklab_options::RunOrigin;
use disklab_sample::Environment;
use disklab_source::{Location, Source};
use disklab_store::{Run, RunInfo, Session, now};

use crate::{Import, ImportError, ImportedCell, ImportedSample};

/// Cells for each of which the text is kept that it was read from. Of more, that would
/// be as many directories of a line each: the file itself has them.
const MOST_RAW: usize = 10_000;

/// The bench of imported runs: none of disklab's own.
pub const BENCH: &str = "import";

impl Import {
    /// Makes a run of it in `directory`, which must not hold one already, and which is there for
    /// others from [`Run::publish`] on. Next to each sample lies the part of the file that it was
    /// read from, unless there are very many.
    ///
    /// # Errors
    /// Where the directory holds a run, or cannot be written.
    pub fn write(&self, directory: &Path, session: &Session) -> Result<Run, ImportError> {
        let study = &self.study;
        let info = RunInfo {
            disklab: session.disklab.clone(),
            study: study.id.to_string(),
            title: study.title.clone(),
            study_file: study.source.name.clone(),
            study_text: study.source.text.clone(),
            bench: RunOrigin::Import,
            bench_about: self.about.clone(),
            options: self.options.clone(),
            scale: 1.0,
            repeats: self.cells.iter().map(|c| c.cell.block + 1).max().unwrap_or(1),
            seed: 0,
            created: now(),
            stacks: Vec::new(),
            left_out: self.left_out.clone(),
            reference: None,
            machines: Default::default(),
            // That of this machine is not that of the figures.
            environment: Environment::default(),
        };
        let cells: Vec<_> = self.cells.iter().map(|c| c.cell.clone()).collect();
        let mut run = Run::prepare(directory, &info, &cells)?;
        run.begin_session(session)?;
        if self.cells.len() <= MOST_RAW {
            let mut lines = LineNumbers::default();
            for imported in &self.cells {
                let raw = run.begin_cell(&imported.cell)?;
                keep(imported, &raw, &mut lines)?;
            }
        }
        let results = self
            .cells
            .iter()
            .map(|one| (&one.cell, one.result.as_ref().map_err(|error| error.0.as_str())))
            .map(|(cell, result)| (cell, result.map(ImportedSample::sample)));
        run.record_all(results)?;
        Ok(run)
    }
}

/// Where the lines of each source begin: looked up once per cell, so found once.
#[derive(Default)]
struct LineNumbers(HashMap<*const Source, Vec<usize>>);

impl LineNumbers {
    /// The number of the line that a place begins in, from 1.
    fn of(&mut self, place: &Location) -> usize {
        let text = &place.source.text;
        let ends = || text.match_indices('\n').map(|(at, _)| at).collect();
        let ends = self.0.entry(Arc::as_ptr(&place.source)).or_insert_with(ends);
        ends.partition_point(|end| *end < place.span.start) + 1
    }
}

/// Keeps the text that a cell was read from.
fn keep(
    imported: &ImportedCell,
    directory: &Path,
    lines: &mut LineNumbers,
) -> Result<(), ImportError> {
    let Some(place) = &imported.origin else { return Ok(()) };
    let text = place.source.text.get(place.span.clone()).unwrap_or_default();
    let path = directory.join("imported.txt");
    let line = lines.of(place);
    std::fs::write(&path, format!("{}:{line}\n{text}\n", place.source.name))
        .map_err(|source| ImportError::Write { path, source })
}
