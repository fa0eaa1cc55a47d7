//! The file of a shipped run: JSON, a line for the run and one for each cell. A cell's line
//! says what changes from the sample before it; samples of the same stack and workload
//! follow each other.

use disklab_cell::Cell;
use disklab_sample::Sample;
use disklab_store::{CellState, Run, RunInfo};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::delta::{Contradiction, Leaves, change, leaves, value};
use super::study::programs;
use crate::exit::Failure;

/// A cell's line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    cell: Cell,
    /// What is new or other.
    is: Leaves,
    /// What is not there any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gone: Vec<String>,
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
    let mut samples: Vec<(Cell, Value)> = Vec::new();
    let mut broken = None;
    run.for_each_sample(|record, sample| match serde_json::to_value(shortened(sample)) {
        Ok(value) => samples.push((record.cell.clone(), value)),
        Err(e) => broken = Some(e),
    })
    .map_err(Failure::usage_error)?;
    if let Some(error) = broken {
        return Err(Failure::failed(error));
    }
    samples.sort_by_cached_key(|(cell, _)| {
        (cell.levels.stack.clone(), cell.levels.workload.clone(), cell.block)
    });
    let mut text = serde_json::to_string(&info)? + "\n";
    let mut before = Leaves::new();
    for (cell, sample) in samples {
        let after = leaves(&sample);
        let (is, gone) = change(&before, &after);
        text += &serde_json::to_string(&Line { cell, is, gone })?;
        text.push('\n');
        before = after;
    }
    Ok(text)
}

/// A sample without what takes most room and no figure is made of: the commands that ran, and
/// the lab's notes on the machine that it ran on.
fn shortened(mut sample: Sample) -> Sample {
    sample.trace.clear();
    sample.environment.extra.clear();
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
    pub problem: ShippedLineProblem,
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum ShippedLineProblem {
    /// It is not JSON, or not of a cell or run.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It removes a leaf that the sample before does not have.
    #[error("'{0}' was not there")]
    NotThere(String),
    /// Its leaves are not those of one value.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
}

/// ShippedSamples with their cells.
type ShippedSamples = Vec<(Cell, Sample)>;

/// Reads such a file: what the run is, and its samples in the order in which their cells ran.
///
/// # Errors
/// [`ShippedTextError`]: the first line that is wrong.
pub fn read(text: &str) -> Result<(RunInfo, ShippedSamples), ShippedTextError> {
    let mut lines = text.lines().enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    let info: RunInfo =
        serde_json::from_str(first).map_err(|e| ShippedTextError { line: 1, problem: e.into() })?;
    let (mut now, mut samples) = (Leaves::new(), ShippedSamples::new());
    for (number, line) in lines {
        let sample = next_sample(&mut now, line)
            .map_err(|problem| ShippedTextError { line: number + 1, problem })?;
        samples.push(sample);
    }
    samples.sort_by_key(|(cell, _)| cell.number);
    Ok((info, samples))
}

/// The sample that a line describes by what changes in the leaves of the one before.
fn next_sample(now: &mut Leaves, line: &str) -> Result<(Cell, Sample), ShippedLineProblem> {
    let line: Line = serde_json::from_str(line)?;
    for path in line.gone {
        now.remove(&path).ok_or(ShippedLineProblem::NotThere(path))?;
    }
    now.extend(line.is);
    Ok((line.cell, serde_json::from_value(value(now)?)?))
}
