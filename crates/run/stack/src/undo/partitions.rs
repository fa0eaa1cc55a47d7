//! Removing a partition table and its partitions.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use disklab_exec::{ExecError, Invocation};
use disklab_measure::{BlockDevice, SystemRoot};

use super::{Marks, Obstacle, TeardownContext, inspect};
use crate::StackError;
use crate::udev::kernel_name;

/// How long a partition may stay busy: udev looks at each whenever
/// something has changed, such as an array on it that was stopped.
const PATIENCE: Duration = Duration::from_secs(10);

/// Removes the partitions of `device` from the kernel and the table from the
/// device, if the table has this GUID.
pub(super) fn remove(
    device: &Path,
    guid: &str,
    context: &mut TeardownContext<'_>,
) -> Result<bool, StackError> {
    if !has_table(device, guid, context)? {
        return Ok(false);
    }
    delete(device, context)?;
    let wipe = Invocation::new("wipefs").args(["--all", "--force"]).arg(device).uninterruptible();
    context.executor.check(&wipe).map_err(failed)?;
    // udev may have read the table anew just before.
    delete(device, context)?;
    Ok(true)
}

/// What is not ours on the device and in its partitions, and partitions that the user added: what
/// is in them need not have a signature.
pub(super) fn obstacles(
    (device, guid, count): (&Path, &str, usize),
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    if !has_table(device, guid, context)? {
        return Ok(Vec::new());
    }
    let mut found = inspect::device(device, marks, context)?;
    let whole = BlockDevice::at(&SystemRoot::here(), device);
    let number = |part: &BlockDevice| part.attribute("partition")?.trim().parse::<usize>().ok();
    let others = whole.iter().flat_map(BlockDevice::partitions);
    let others = others.filter(|part| count > 0 && number(part).is_none_or(|n| n > count));
    found.extend(others.map(|part| Obstacle::Member(part.node().display().to_string())));
    Ok(found)
}

fn has_table(device: &Path, guid: &str, context: &TeardownContext<'_>) -> Result<bool, StackError> {
    if device.exists() { inspect::has_gpt(device, guid, context.executor) } else { Ok(false) }
}

fn failed(source: ExecError) -> StackError {
    StackError::Program { layer: "partition".to_owned(), source }
}

/// Has the kernel forget the partitions. There may be none, where it never saw
/// the table.
fn delete(device: &Path, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
    let delete = Invocation::new("partx").arg("--delete").arg(device).uninterruptible();
    let began = Instant::now();
    while has_partitions(device) {
        let failure = context.executor.check(&delete).err();
        if failure.is_none() && !has_partitions(device) {
            break;
        }
        if began.elapsed() > PATIENCE {
            let kept = || StackError::KeepsPartitions(device.to_owned());
            return Err(failure.map_or_else(kept, failed));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Whether the kernel shows partitions of `device`.
fn has_partitions(device: &Path) -> bool {
    let folder = kernel_name(device).map(|name| Path::new("/sys/class/block").join(name));
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    entries.flatten().any(|entry| entry.path().join("partition").exists())
}
