//! The file of a shipped run: JSON, a line for the run and one for each cell. A cell's line
//! says what changes from the sample before it; samples of the same stack and workload
//! follow each other.

use disklab_sample::Sample;
use disklab_store::{CellState, Run, RunInfo};
use disklab_study::Cell;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::delta::{Leaves, change, leaves, value};
use super::{ShippedRun, programs};
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
    samples.sort_by_cached_key(|(cell, _)| (cell.stack.clone(), cell.workload.clone(), cell.block));
    let mut text = serde_json::to_string(&info).map_err(Failure::failed)? + "\n";
    let mut before = Leaves::new();
    for (cell, sample) in samples {
        let after = leaves(&sample);
        let (is, gone) = change(&before, &after);
        text += &serde_json::to_string(&Line { cell, is, gone }).map_err(Failure::failed)?;
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

/// Reads such a file.
///
/// # Errors
/// As text: which line is wrong, and why.
pub fn read(text: &str) -> Result<ShippedRun, String> {
    let mut lines = text.lines().enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    let info: RunInfo = serde_json::from_str(first).map_err(|e| format!("line 1: {e}"))?;
    let (mut now, mut samples) = (Leaves::new(), Vec::new());
    for (number, line) in lines {
        let wrong = |why: String| format!("line {}: {why}", number + 1);
        let line: Line = serde_json::from_str(line).map_err(|e| wrong(e.to_string()))?;
        for path in &line.gone {
            now.remove(path).ok_or_else(|| wrong(format!("'{path}' was not there")))?;
        }
        now.extend(line.is);
        let sample = value(&now).map_err(|path| wrong(format!("'{path}' contradicts another")))?;
        let sample = serde_json::from_value(sample).map_err(|e| wrong(e.to_string()))?;
        samples.push((line.cell, sample));
    }
    samples.sort_by_key(|(cell, _)| cell.number);
    Ok(ShippedRun { info, samples })
}
