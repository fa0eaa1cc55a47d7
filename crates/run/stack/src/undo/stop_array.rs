//! Stopping md arrays.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use disklab_exec::{ExecError, Invocation};
use serde::{Deserialize, Serialize};

use super::{Marks, Obstacle, Teardown, TeardownContext, UnseenContent, any_is_built_on, inspect};
use crate::StackError;
use crate::error::list;
use crate::md_arrays::{all_arrays, array_uuid, exported_uuid, same_uuid};
use crate::udev;

/// How long an array may stay busy: udev may be having a look at it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Block devices of md have this major number (kernel:
/// `Documentation/admin-guide/devices.txt`).
const MD_MAJOR: u32 = 9;

/// Stop the md array with this UUID, and make its members forget it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopArray {
    /// Its name below `/dev/md`.
    pub name: String,
    /// In the usual form, with or without separators.
    pub uuid: String,
    /// The devices it was made of.
    pub members: Vec<PathBuf>,
    /// How many of them are its journal or spares.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl StopArray {
    fn link(&self) -> PathBuf {
        // A name that is a path is none that disklab gave.
        Path::new("/dev/md").join(self.name.replace('/', "-"))
    }

    /// Whether an array of so many devices, without spares, has one that the run did not add.
    fn has_one_more(&self, devices: usize) -> bool {
        devices > self.members.len().saturating_sub(self.others)
    }

    /// The kernel's names of what this array runs as.
    fn running(
        &self,
        node: Option<&Path>,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<String>, StackError> {
        let mut running = Vec::new();
        for array in all_arrays() {
            let found = array_uuid(&array, context.executor);
            if found.is_some_and(|found| same_uuid(&found, &self.uuid))
                || is_unfinished(&array, node, &self.uuid, &self.members, context)?
            {
                running.push(array);
            }
        }
        Ok(running)
    }
}

impl Teardown for StopArray {
    /// Stops the array with this UUID and makes its members forget it.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let link = self.link();
        // Before the array goes, and the number is free for another.
        let node = fs::read_link(&link).ok();
        let mut done = false;
        for running in self.running(node.as_deref(), context)? {
            stop(&running, context)?;
            done = true;
        }
        if !udev::is_running() {
            done |= remove_nodes(&link, node.as_deref());
        }
        for member in &self.members {
            done |= forget(&self.uuid, member, context)?;
        }
        Ok(done)
    }

    /// What is not ours on the array. One that does not run is started, read-only, as
    /// nothing else shows what is in it.
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let mut found = other_members(self, context)?;
        let node = fs::read_link(self.link()).ok();
        let running = self.running(node.as_deref(), context)?;
        if running.is_empty() {
            found.extend(in_stopped(self, marks, context)?);
        }
        for running in running {
            found.extend(inspect::device(&Path::new("/dev").join(running), marks, context)?);
        }
        Ok(found)
    }

    fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        let node = fs::read_link(self.link()).ok();
        let running = self.running(node.as_deref(), context)?;
        running.iter().try_for_each(|array| stop(array, context))
    }

    fn marks(&self) -> Vec<String> {
        vec![self.name.clone(), self.uuid.clone()]
    }

    fn paths(&self) -> Vec<&Path> {
        self.members.iter().map(PathBuf::as_path).collect()
    }

    fn contains(&self, others: &[&Path]) -> bool {
        any_is_built_on(others, &self.paths())
    }
}

impl fmt::Display for StopArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the md array on {}", list(&self.members))
    }
}

/// Members that the run did not add, if one that it added still is a member.
fn other_members(
    array: &StopArray,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    let (mut is_there, mut most) = (false, 0);
    for member in array.members.iter().filter(|member| udev::is_block_device(member)) {
        if let Some(devices) = member_of(&array.uuid, member, context)? {
            (is_there, most) = (true, devices.max(most));
        }
    }
    if !is_there {
        return Ok(Vec::new());
    }
    let mut found = inspect::carriers(&array.uuid, &array.members, context)?;
    if found.is_empty() && array.has_one_more(most) {
        found.push(Obstacle::Member("a device that is not here".to_owned()));
    }
    Ok(found)
}

fn in_stopped(
    array: &StopArray,
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    let mut members = Vec::new();
    for member in array.members.iter().filter(|member| udev::is_block_device(member)) {
        if is_member(&array.uuid, member, context)? {
            members.push(member);
        }
    }
    let Some(first) = members.first() else { return Ok(Vec::new()) };
    let link = array.link();
    let assemble = Invocation::new("mdadm")
        .arg("--assemble")
        .arg(&link)
        .args(["--readonly", "--run", "--config", "none", "--uuid", &array.uuid])
        .args(members.iter().copied())
        .uninterruptible();
    // It fails if too few members were written before the run was killed.
    let _ = context.executor.run(&assemble).map_err(failed)?;
    let node = fs::read_link(&link).ok();
    let running = array.running(node.as_deref(), context)?;
    let mut found = Vec::new();
    for running in &running {
        found.extend(inspect::device(&Path::new("/dev").join(running), marks, context)?);
        stop(running, context)?;
    }
    if !udev::is_running() {
        remove_nodes(&link, node.as_deref());
    }
    let is_missing = array.members.iter().any(|member| !udev::is_block_device(member));
    if running.is_empty() && (context.rebooted || is_missing) {
        let content = UnseenContent::StoppedArray;
        found.push(Obstacle::Unseen { on: (*first).clone(), content });
    }
    Ok(found)
}

/// Whether this is our array, left half made by an mdadm that was killed: the
/// kernel learns the UUID only when the array starts.
fn is_unfinished(
    array: &str,
    node: Option<&Path>,
    uuid: &str,
    members: &[PathBuf],
    context: &TeardownContext<'_>,
) -> Result<bool, StackError> {
    let directory = Path::new("/sys/block").join(array);
    let state = fs::read_to_string(directory.join("md/array_state")).unwrap_or_default();
    if !matches!(state.trim(), "clear" | "inactive") {
        return Ok(false);
    }
    let slaves: Vec<_> = fs::read_dir(directory.join("slaves"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    if slaves.is_empty() {
        // Then only the link, which has our name, says whose it is.
        return Ok(node.and_then(Path::file_name).is_some_and(|name| name == array));
    }
    for slave in &slaves {
        let member = members.iter().find(|m| udev::kernel_name(m).as_deref() == Some(slave));
        match member {
            Some(member) if is_member(uuid, member, context)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn stop(array: &str, context: &TeardownContext<'_>) -> Result<(), StackError> {
    let node = Path::new("/dev").join(array);
    let directory = Path::new("/sys/block").join(array);
    let stop = Invocation::new("mdadm").arg("--stop").arg(&node).uninterruptible();
    let began = Instant::now();
    loop {
        let failure = context.executor.check(&stop).err();
        // The kernel removes it a moment later. To ask mdadm again at once would
        // open the node and so bring up an empty array of the same number.
        for _ in 0..40 {
            if !directory.exists() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        if began.elapsed() > PATIENCE {
            return Err(failure.map_or_else(|| StackError::ArrayRuns(node.to_owned()), failed));
        }
    }
}

/// Removes what mdadm made in `/dev` where there is no udev: the link, and the
/// node that it leads to. Left behind, the node would bring up an empty array as
/// soon as somebody opens it.
fn remove_nodes(link: &Path, node: Option<&Path>) -> bool {
    let Some(array) = node.and_then(Path::file_name) else { return false };
    // By now the number may be somebody else's.
    if Path::new("/sys/block").join(array).exists() {
        return false;
    }
    let node = Path::new("/dev").join(array);
    if fs::symlink_metadata(&node).is_ok_and(|m| rustix::fs::major(m.rdev()) == MD_MAJOR) {
        let _ = fs::remove_file(&node);
    }
    let removed = fs::remove_file(link).is_ok();
    // Only if nothing else is in it.
    let _ = fs::remove_dir("/dev/md");
    removed
}

/// Overwrites the superblock of `member`, if it is of this array.
fn forget(
    uuid: &str,
    member: &Path,
    context: &mut TeardownContext<'_>,
) -> Result<bool, StackError> {
    if !udev::is_block_device(member) || !is_member(uuid, member, context)? {
        return Ok(false);
    }
    let zero = Invocation::new("mdadm").arg("--zero-superblock").arg(member).uninterruptible();
    context.executor.check(&zero).map_err(failed)?;
    Ok(true)
}

/// Whether the superblock on `member` is of this array.
fn is_member(uuid: &str, member: &Path, context: &TeardownContext<'_>) -> Result<bool, StackError> {
    Ok(member_of(uuid, member, context)?.is_some())
}

/// The number of devices of the array, without spares, if the superblock on `member` is of it.
fn member_of(
    uuid: &str,
    member: &Path,
    context: &TeardownContext<'_>,
) -> Result<Option<usize>, StackError> {
    let examine =
        Invocation::new("mdadm").args(["--examine", "--export"]).arg(member).uninterruptible();
    // It fails where there is no superblock.
    let text = context.executor.run(&examine).map_err(failed)?.text();
    let devices = text.lines().find_map(|line| line.strip_prefix("MD_DEVICES=")?.parse().ok());
    let is_of = exported_uuid(&text).is_some_and(|found| same_uuid(&found, uuid));
    Ok(is_of.then(|| devices.unwrap_or_default()))
}

fn failed(source: ExecError) -> StackError {
    StackError::Program { layer: "md".to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_the_run_did_not_add_is_counted() {
        let members = ["/dev/a", "/dev/b", "/dev/journal"].map(PathBuf::from).to_vec();
        let array = StopArray { name: "md".into(), uuid: "u".into(), members, others: 1 };
        assert!(!array.has_one_more(1) && !array.has_one_more(2) && array.has_one_more(3));
    }
}
