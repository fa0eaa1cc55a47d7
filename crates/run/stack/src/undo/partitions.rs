//! Removing a partition table and its partitions.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use disklab_exec::{ExecError, Invocation};
use disklab_measure::{BlockDevice, SystemRoot};
use serde::{Deserialize, Serialize};

use super::{Marks, Obstacle, Teardown, TeardownContext, any_is_built_on, inspect};
use crate::StackError;
use crate::udev::kernel_name;

/// How long a partition may stay busy: udev looks at each whenever
/// something has changed, such as an array on it that was stopped.
const PATIENCE: Duration = Duration::from_secs(10);

/// Remove the partition table with this GUID from a device, and its partitions from the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovePartitions {
    /// The whole device.
    pub device: PathBuf,
    /// The GUID of the table, in lower case.
    pub guid: String,
    /// How many the run makes; 0 if it was not recorded.
    #[serde(default)]
    pub count: usize,
}

impl Teardown for RemovePartitions {
    /// Removes the partitions of `device` from the kernel and the table from the
    /// device, if the table has this GUID.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let Self { device, guid, .. } = self;
        if !has_table(device, guid, context)? {
            return Ok(false);
        }
        delete(device, context)?;
        let wipe =
            Invocation::new("wipefs").args(["--all", "--force"]).arg(device).uninterruptible();
        context.executor.check(&wipe).map_err(failed)?;
        // udev may have read the table anew just before.
        delete(device, context)?;
        Ok(true)
    }

    /// What is not ours on the device and in its partitions, and partitions that the user added: what
    /// is in them need not have a signature.
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let Self { device, guid, count } = self;
        if !has_table(device, guid, context)? {
            return Ok(Vec::new());
        }
        let mut found = inspect::device(device, marks, context)?;
        let whole = BlockDevice::at(&SystemRoot::here(), device);
        let number = |part: &BlockDevice| part.attribute("partition")?.trim().parse::<usize>().ok();
        let others = whole.iter().flat_map(BlockDevice::partitions);
        let others = others.filter(|part| *count > 0 && number(part).is_none_or(|n| n > *count));
        found.extend(others.map(|part| Obstacle::Member(part.node().display().to_string())));
        Ok(found)
    }

    fn marks(&self) -> Vec<String> {
        vec![self.guid.clone()]
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.device]
    }

    fn contains(&self, others: &[&Path]) -> bool {
        any_is_built_on(others, &self.paths())
    }
}

impl fmt::Display for RemovePartitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the partitions of {}", self.device.display())
    }
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
    let directory = kernel_name(device).map(|name| Path::new("/sys/class/block").join(name));
    let entries =
        directory.and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten();
    entries.flatten().any(|entry| entry.path().join("partition").exists())
}
