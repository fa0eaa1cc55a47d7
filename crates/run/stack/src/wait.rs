//! Waiting for the kernel and udev.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::udev::is_block_device;
use crate::{LayerContext, StackError};

/// How long a device node may take to appear: udev's own limit for an event is
/// longer, but an event that takes 10 s is a fault worth knowing about.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until `path` is a block device.
///
/// # Errors
/// Where it does not appear, or the user asked to stop.
pub(crate) fn wait_for_node(
    context: &LayerContext<'_>,
    layer: &str,
    path: &Path,
) -> Result<PathBuf, StackError> {
    let began = Instant::now();
    while !is_block_device(path) {
        if began.elapsed() > PATIENCE {
            let (layer, what) = (layer.to_owned(), path.display().to_string());
            return Err(StackError::NotShown { layer, what, waited: PATIENCE });
        }
        nap(context, layer)?;
    }
    Ok(path.to_owned())
}

/// Sleeps for a moment.
///
/// # Errors
/// [`StackError::Program`] of an interrupt, with `layer`.
pub(crate) fn nap(context: &LayerContext<'_>, layer: &str) -> Result<(), StackError> {
    context
        .executor
        .interrupt
        .sleep(Duration::from_millis(50))
        .map_err(|stop| StackError::Program { layer: layer.to_owned(), source: stop.into() })
}
