//! The file of a shipped run: JSON, a line for the run and one for each cell.

use disklab_cell::Cell;
use disklab_sample::Sample;
use disklab_store::{CellState, Run, RunInfo};
use serde::{Deserialize, Serialize};

use super::study::programs;
use crate::exit::Failure;

/// A cell's line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    cell: Cell,
    sample: Sample,
}

/// The file of a run that is done.
///
/// # Errors
/// [`Failure`] if the run cannot be read, or a cell has no sample.
pub fn write(run: &Run) -> Result<String, Failure> {
    let mut info = run.info().map_err(Failure::usage_error)?;
    let needed = programs(&info)?;
    info.environment.tools.retain(|tool| needed.contains(tool.name.as_str()));
    if run.cells().map_err(Failure::usage_error)?.iter().any(|c| c.state != CellState::Done) {
        return Err(Failure::usage_error("not all cells of this run are done"));
    }
    let mut text = serde_json::to_string(&info)? + "\n";
    let mut broken = None;
    run.for_each_sample(|record, sample| {
        let line = Line { cell: record.cell.clone(), sample: shortened(sample) };
        match serde_json::to_string(&line) {
            Ok(line) => text += &(line + "\n"),
            Err(e) => broken = Some(e),
        }
    })
    .map_err(Failure::usage_error)?;
    broken.map_or(Ok(text), |error| Err(Failure::failed(error)))
}

/// A sample without what takes most room and no figure is made of: the commands that ran, and
/// the lab's notes on the machine that it ran on.
fn shortened(mut sample: Sample) -> Sample {
    sample.trace.clear();
    sample.environment.extra.clear();
    sample.lab = None;
    sample
}

/// A line of the file of a shipped run that is not one: `make shipped-run` writes the file anew.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ShippedTextError {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    #[source]
    pub problem: serde_json::Error,
}

/// Reads such a file: what the run is, and its samples in the order in which their cells ran.
///
/// # Errors
/// [`ShippedTextError`]: the first line that is wrong.
pub fn read(text: &str) -> Result<(RunInfo, Vec<(Cell, Sample)>), ShippedTextError> {
    let mut lines = text.lines().zip(1..);
    let at = |line| move |problem| ShippedTextError { line, problem };
    let first = lines.next().map_or("", |(line, _)| line);
    let info: RunInfo = serde_json::from_str(first).map_err(at(1))?;
    let sample = |(text, number)| {
        let line: Line = serde_json::from_str(text).map_err(at(number))?;
        Ok((line.cell, line.sample))
    };
    Ok((info, lines.map(sample).collect::<Result<_, _>>()?))
}
