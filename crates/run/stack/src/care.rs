//! What an operator does to a stack while it is in use: a drive fails, is replaced, all is scrubbed.

use std::path::Path;
use std::time::{Duration, Instant};

use disklab_cell::Care;
use disklab_exec::Executor;
use disklab_units::Bytes;

use crate::graph::GraphNode;
use crate::{Layer, LayerInUse, Made, RebuildProgress, Stack, StackError, WindowedPass};

/// How long a stack may lack redundancy while nothing is rebuilt: the kernel begins a moment after.
const IDLE_LIMIT: Duration = Duration::from_secs(30);

/// Does this to the stack, and says what came of it, if anything. `drive` is for what is done to
/// one of its drives.
///
/// # Errors
/// [`StackError::NotByLayer`] if no layer can do it, and those of the layers that can.
pub fn care_for(
    stack: &Stack,
    care: Care,
    made: &Made,
    drive: &Path,
    executor: &Executor,
) -> Result<Vec<String>, StackError> {
    let able = stack.nodes().iter().zip(&made.outputs);
    let able = able.filter(|(node, _)| node.layer.care().contains(&care));
    let (mut said, mut stray, mut done) = (Vec::new(), None, false);
    for (GraphNode { spec, layer, .. }, output) in able {
        let at = LayerInUse { layer: &spec.name, output, executor };
        let result = match care {
            Care::Fail => layer.fail(&at, drive).map(|()| None),
            Care::Replace => layer.replace(&at, drive).map(|()| None),
            Care::TakeSpare => layer.take_spare(&at, drive).map(|()| None),
            Care::PassFrom => Err(at.cannot(care)),
            Care::Rebuild => wait(layer.as_ref(), &at).map(|()| None),
            Care::Scrub => layer.scrub(&at).map(Some),
        };
        match result {
            // Another layer may have it.
            Err(error @ StackError::NotOnDrive { .. }) => stray = Some(error),
            result => {
                said.extend(result?);
                done = true;
            }
        }
    }
    let none = || StackError::NotByLayer { layer: stack.describe(), what: care.words() };
    if done { Ok(said) } else { Err(stray.unwrap_or_else(none)) }
}

/// The rebuilds of what is on `drive`, or the scrubs of the whole if there is none, that can begin anywhere, one
/// after another; none if the stack passes what is used.
///
/// # Errors
/// Those of the layers.
pub fn passes(
    stack: &Stack,
    made: &Made,
    drive: Option<&Path>,
    executor: &Executor,
) -> Result<Vec<Box<dyn WindowedPass>>, StackError> {
    let mut all = Vec::new();
    for (GraphNode { spec, layer, .. }, output) in stack.nodes().iter().zip(&made.outputs) {
        if !layer.care().contains(&Care::PassFrom) {
            continue;
        }
        match layer.passes(&LayerInUse { layer: &spec.name, output, executor }, drive) {
            Err(StackError::NotOnDrive { .. }) => {}
            own => all.extend(own?),
        }
    }
    Ok(all)
}

/// Bytes per second that the kernel holds the rebuild of all that a layer has to, if it does.
///
/// # Errors
/// Those of the layers.
pub fn rebuild_limit(
    stack: &Stack,
    made: &Made,
    executor: &Executor,
) -> Result<Option<Bytes>, StackError> {
    let mut least = None;
    for (GraphNode { spec, layer, .. }, output) in stack.nodes().iter().zip(&made.outputs) {
        let own = layer.rebuild_limit(&LayerInUse { layer: &spec.name, output, executor })?;
        least = least.into_iter().chain(own).min();
    }
    Ok(least)
}

/// How many bytes are scrubbed, and of how many as far as that is known; `None` while nothing is.
///
/// # Errors
/// Those of the layers.
pub fn scrubbed(
    stack: &Stack,
    made: &Made,
    executor: &Executor,
) -> Result<Option<(Bytes, Bytes)>, StackError> {
    let mut all = None;
    for (GraphNode { spec, layer, .. }, output) in stack.nodes().iter().zip(&made.outputs) {
        let at = LayerInUse { layer: &spec.name, output, executor };
        if layer.care().contains(&Care::Scrub) {
            all = all.or(layer.scrubbed(&at)?);
        }
    }
    Ok(all)
}

/// Waits until a layer is redundant.
fn wait(layer: &dyn Layer, at: &LayerInUse<'_>) -> Result<(), StackError> {
    let mut idle_since = None;
    loop {
        match layer.progress(at)? {
            RebuildProgress::Redundant => return Ok(()),
            RebuildProgress::Rebuilding(_) => idle_since = None,
            RebuildProgress::Degraded => {
                if idle_since.get_or_insert_with(Instant::now).elapsed() > IDLE_LIMIT {
                    return Err(StackError::StaysDegraded { layer: at.layer.to_owned() });
                }
            }
        }
        at.sleep()?;
    }
}
