//! Destroying ZFS pools.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_exec::{Invocation, find_program};

use super::{Marks, Obstacle, TeardownContext, inspect, probe};
use crate::StackError;
use crate::layers::MARK;
use crate::mounts::mounts;

/// How long a pool may stay busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// Destroys the pool of this name, if it has this mark.
pub(super) fn destroy(
    name: &str,
    mark: &str,
    devices: &[PathBuf],
    context: &mut TeardownContext<'_>,
) -> Result<bool, StackError> {
    // Without the program there never was a pool.
    if find_program("zfs").is_none() || find_program("zpool").is_none() {
        return Ok(false);
    }
    let program = |source| StackError::Program { layer: "zfs".to_owned(), source };
    let get =
        Invocation::new("zfs").args(["get", "-H", "-o", "value", MARK, name]).uninterruptible();
    let destroy = Invocation::new("zpool").args(["destroy", "-f", name]).uninterruptible();
    let began = Instant::now();
    let mut done = false;
    loop {
        // It fails where there is no such pool, and gives '-' where there is no
        // mark.
        let found = context.executor.run(&get).map_err(program)?;
        if found.code != 0 || found.text().trim() != mark {
            break;
        }
        done = true;
        if let Err(source) = context.executor.check(&destroy) {
            if began.elapsed() > PATIENCE {
                return Err(program(source));
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }
    // One that was exported, and not imported again, is known by its label alone; no
    // other pool has this name.
    let is_own = |device: &PathBuf| {
        Ok::<_, StackError>(
            probe(device, "LABEL", context.executor)?.is_some_and(|label| label == name),
        )
    };
    if !done {
        for device in devices.iter().filter(|device| device.exists()) {
            done |= is_own(device)?;
        }
    }
    if done {
        for device in devices {
            // The labels say 'destroyed' already; without them, other programs
            // take the device for free, too. Where zpool made partitions, the
            // device itself has none, and this fails.
            let clear = Invocation::new("zpool").args(["labelclear", "-f"]).arg(device);
            let _ = context.executor.run(&clear.uninterruptible());
        }
    }
    Ok(done)
}

/// What is not ours in the pool, if it is imported and has this mark: datasets,
/// snapshots, the content of volumes; and mounts, as disklab's has been unmounted.
pub(super) fn obstacles(
    name: &str,
    mark: &str,
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    if find_program("zfs").is_none() || find_program("zpool").is_none() {
        return Ok(Vec::new());
    }
    let program = |source| StackError::Program { layer: "zfs".to_owned(), source };
    let get =
        Invocation::new("zfs").args(["get", "-H", "-o", "value", MARK, name]).uninterruptible();
    let found = context.executor.run(&get).map_err(program)?;
    if found.code != 0 || found.text().trim() != mark {
        return Ok(Vec::new());
    }
    let below = format!("{name}/");
    let in_pool = |source: &Path| {
        let source = source.to_string_lossy();
        source == name || source.starts_with(&below)
    };
    let mut obstacles: Vec<Obstacle> = mounts()?
        .into_iter()
        .filter(|mount| mount.fs_type == "zfs" && in_pool(&mount.source))
        .map(|mount| Obstacle::Mount { source: mount.source, at: mount.mount_point })
        .collect();
    let list = Invocation::new("zfs")
        .args(["list", "-H", "-o", "name", "-t", "all", "-r", name])
        .uninterruptible();
    for dataset in context.executor.check(&list).map_err(program)?.text().lines() {
        let dataset = dataset.trim();
        if is_volume(dataset, &below) {
            obstacles.extend(inspect::device(
                &Path::new("/dev/zvol").join(dataset),
                marks,
                context,
            )?);
        } else if dataset != name {
            obstacles.push(Obstacle::Volume(dataset.to_owned()));
        }
    }
    Ok(obstacles)
}

/// Whether a dataset is named as the zvol layer names them.
fn is_volume(dataset: &str, below: &str) -> bool {
    let number = dataset.strip_prefix(below).and_then(|rest| rest.strip_prefix("volume-"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}
