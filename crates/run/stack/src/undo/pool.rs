//! Destroying ZFS pools.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_exec::{ExecError, Invocation, find_program};
use disklab_measure::{BlockDevice, SystemRoot};
use serde::{Deserialize, Serialize};

use super::{Marks, Obstacle, Teardown, TeardownContext, UnseenContent, inspect};
use crate::StackError;
use crate::blkid::probe;
use crate::mounts::mounts;
use crate::udev::zpool;

/// The property by which a pool is known to be ours: user properties have a
/// colon in their name (zfsprops(7), 'User Properties').
pub(crate) const POOL_MARK: &str = "disklab:mark";

/// The data set of a pool that has one; it has the mark by itself, as no other below the pool.
pub(crate) const DATASET_NAME: &str = "data";

/// How long a pool may stay busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// Destroy a ZFS pool with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestroyPool {
    /// As zpool(8) lists it.
    pub name: String,
    /// The user property that marks it as disklab's.
    pub mark: String,
    /// The devices it was made of.
    pub devices: Vec<PathBuf>,
}

impl Teardown for DestroyPool {
    /// Destroys the pool of this name, if it has this mark.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let Self { name, mark, devices } = self;
        // Without the program there never was a pool.
        if find_program("zfs").is_none() || find_program("zpool").is_none() {
            return Ok(false);
        }
        let destroy = Invocation::new("zpool").args(["destroy", "-f", name]).uninterruptible();
        let began = Instant::now();
        let mut done = false;
        while is_imported(name, mark, context)? {
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
                probe(device, "LABEL", context.executor)?.is_some_and(|label| label == *name),
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

    /// What is not ours in the pool, if it has this mark: datasets, snapshots, the content of volumes,
    /// devices; and mounts, as disklab's has been unmounted. One that is not imported is imported
    /// read-only, as nothing else shows what is in it.
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let Self { name, mark, devices } = self;
        if find_program("zfs").is_none() || find_program("zpool").is_none() {
            return Ok(Vec::new());
        }
        if is_imported(name, mark, context)? {
            return in_imported(name, mark, devices, marks, context);
        }
        let mut labelled = None;
        for device in devices.iter().filter(|device| device.exists()) {
            if probe(device, "LABEL", context.executor)?.is_some_and(|label| label == *name) {
                labelled = Some(device.clone());
            }
        }
        let Some(on) = labelled else { return Ok(Vec::new()) };
        let mut import =
            zpool().args(["import", "-f", "-N", "-o", "readonly=on", "-o", "cachefile=none"]);
        for device in devices {
            import = import.arg("-d").arg(device);
        }
        let _ = context.executor.run(&import.arg(name).uninterruptible()).map_err(program)?;
        if !is_imported(name, mark, context)? {
            return Ok(vec![Obstacle::Unseen { on, content: UnseenContent::PoolMember }]);
        }
        let found = in_imported(name, mark, devices, marks, context);
        let export = Invocation::new("zpool").args(["export", name]).uninterruptible();
        context.executor.check(&export).map_err(program)?;
        found
    }

    fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        if find_program("zfs").is_none() || !is_imported(&self.name, &self.mark, context)? {
            return Ok(());
        }
        let export = Invocation::new("zpool").args(["export", &self.name]).uninterruptible();
        context.executor.check(&export).map(|_| ()).map_err(program)
    }

    fn marks(&self) -> Vec<String> {
        vec![self.name.clone(), self.mark.clone()]
    }

    fn paths(&self) -> Vec<&Path> {
        self.devices.iter().map(PathBuf::as_path).collect()
    }

    fn contains(&self, others: &[&Path]) -> bool {
        let volumes = Path::new("/dev/zvol").join(&self.name);
        others.iter().any(|path| path.starts_with(&volumes))
    }
}

impl fmt::Display for DestroyPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the ZFS pool {}", self.name)
    }
}

fn is_imported(name: &str, mark: &str, context: &TeardownContext<'_>) -> Result<bool, StackError> {
    let get = Invocation::new("zfs")
        .args(["get", "-H", "-o", "value", POOL_MARK, name])
        .uninterruptible();
    // It fails where there is no such pool.
    let found = context.executor.run(&get).map_err(program)?;
    Ok(found.code == 0 && found.text().trim() == mark)
}

fn program(source: ExecError) -> StackError {
    StackError::Program { layer: "zfs".to_owned(), source }
}

fn in_imported(
    name: &str,
    mark: &str,
    devices: &[PathBuf],
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
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
    let members =
        Invocation::new("zpool").args(["list", "-v", "-H", "-P", "-L", name]).uninterruptible();
    let members = context.executor.check(&members).map_err(program)?.text();
    obstacles.extend(other_members(&members, devices));
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
        } else if dataset != name && !is_own_dataset(dataset, name, mark, context)? {
            obstacles.push(Obstacle::Volume(dataset.to_owned()));
        }
    }
    Ok(obstacles)
}

/// The devices that `zpool list -v -H -P -L` shows besides these: paths, and the numbers of those
/// that are not here. Of a whole disk ZFS uses the first partition.
fn other_members(list: &str, own: &[PathBuf]) -> Vec<Obstacle> {
    let root = SystemRoot::here();
    let device = |path: &Path| BlockDevice::at(&root, path);
    let own: Vec<_> = own.iter().filter_map(|path| device(path)).collect();
    let is_own = |path: &str| {
        device(Path::new(path))
            .is_some_and(|found| own.contains(&found) || own.contains(&found.whole()))
    };
    let names = list.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let is_device =
        |name: &&str| name.starts_with('/') || name.bytes().all(|byte| byte.is_ascii_digit());
    let others = names.filter(is_device).filter(|name| !is_own(name));
    others.map(|name| Obstacle::Member(name.to_owned())).collect()
}

/// Whether it is the data set that the layer made: others inherit the pool's mark.
fn is_own_dataset(
    dataset: &str,
    pool: &str,
    mark: &str,
    context: &TeardownContext<'_>,
) -> Result<bool, StackError> {
    if dataset.strip_prefix(pool) != Some(&format!("/{DATASET_NAME}")) {
        return Ok(false);
    }
    Ok(local_mark(dataset, context)? == mark)
}

/// Whether a file system of ZFS is one that the run made: the root of its pool, or the data set there.
pub(super) fn is_own_file_system(
    source: &str,
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<bool, StackError> {
    let pool = source.strip_suffix(DATASET_NAME).and_then(|below| below.strip_suffix('/'));
    match pool.filter(|pool| marks.has(pool)) {
        Some(_) => Ok(marks.has(&local_mark(source, context)?)),
        None => Ok(marks.has(source)),
    }
}

/// The mark that a data set has by itself.
fn local_mark(dataset: &str, context: &TeardownContext<'_>) -> Result<String, StackError> {
    let get = Invocation::new("zfs")
        .args(["get", "-H", "-o", "value", "-s", "local", POOL_MARK, dataset])
        .uninterruptible();
    let found = context.executor.check(&get).map_err(program)?;
    Ok(found.text().trim().to_owned())
}

/// Whether a dataset is named as the zvol layer names them.
fn is_volume(dataset: &str, below: &str) -> bool {
    let rest = dataset.strip_prefix(below);
    let rest = rest.map(|rest| rest.strip_prefix(&format!("{DATASET_NAME}/")).unwrap_or(rest));
    let number = rest.and_then(|rest| rest.strip_prefix("volume-"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_contains_its_volumes() {
        let pool = DestroyPool { name: "p".to_owned(), mark: "m".to_owned(), devices: vec![] };
        let contains = |path: &str| pool.contains(&[Path::new("/dev/none"), Path::new(path)]);
        assert!(contains("/dev/zvol/p/volume"));
        assert!(!contains("/dev/zvol/other/p") && !contains("/dev/zvol/p2/volume"));
    }

    #[test]
    fn members_of_the_users_are_found_in_a_list() {
        let list = "disklab1\t1.88G\t-\n\tmirror-0\t1.88G\n\t\t/dev/none1\t-\n\
                    \t1234567890\t-\n\tcache\t-\n\t/srv/file.img\t-\n";
        let found = other_members(list, &[PathBuf::from("/dev/none2")]);
        let expected = ["/dev/none1", "1234567890", "/srv/file.img"];
        assert_eq!(found, expected.map(|name| Obstacle::Member(name.to_owned())));
    }
}
