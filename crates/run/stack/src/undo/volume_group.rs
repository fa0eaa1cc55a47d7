//! Removing LVM volume groups.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Marks, Obstacle, Teardown, TeardownContext, any_is_built_on, inspect};
use crate::StackError;
use crate::lvm_tools::{filter, lvm};
use crate::udev;

/// The name of the one logical volume of a group.
pub(crate) const LOGICAL_VOLUME: &str = "data";

/// How long a logical volume may stay busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// Remove an LVM volume group and its physical volumes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoveVolumeGroup {
    /// As vgs(8) lists it.
    pub name: String,
    /// The tag that marks it as disklab's.
    pub mark: String,
    /// The devices it was made of, and their UUIDs as physical volumes.
    pub volumes: Vec<(PathBuf, String)>,
}

/// Has a volume that was suspended when a run was killed answer again: whoever reads it waits. One
/// that answers is left as it is.
fn resume(node: &Path, context: &TeardownContext<'_>) {
    // What does not answer after it fails where it is read.
    let _ = context.executor.run(&udev::dmsetup("resume").arg(node).uninterruptible());
}

impl Teardown for RemoveVolumeGroup {
    /// Removes the volume group of this name that has this mark as a tag, and the
    /// physical volumes with these UUIDs.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let Self { name, mark, volumes } = self;
        let program = |source| StackError::Program { layer: "lvm".to_owned(), source };
        let devices: Vec<PathBuf> =
            volumes.iter().map(|(d, _)| d.clone()).filter(|d| udev::is_block_device(d)).collect();
        if devices.is_empty() {
            return Ok(false);
        }
        let filter = filter(&devices);
        let own = format!("vg_name={name} && vg_tags={mark}");
        let list = lvm("vgs", &filter)
            .args(["--noheadings", "--options", "vg_name", "--select", &own])
            .uninterruptible();
        let exists = |context: &TeardownContext<'_>| {
            context
                .executor
                .check(&list)
                .map(|found| !found.text().trim().is_empty())
                .map_err(program)
        };
        let mut done = false;
        let began = Instant::now();
        while exists(context)? {
            done = true;
            let remove = lvm("vgremove", &filter)
                .args(["--yes", "--force", "--select", &own])
                .uninterruptible();
            let failure = context.executor.check(&remove).err();
            if let Some(source) = failure {
                if began.elapsed() > PATIENCE {
                    return Err(program(source));
                }
                std::thread::sleep(Duration::from_millis(200));
            }
        }
        for (_, uuid) in volumes {
            // Not ours any more, or in a group that is not ours: left alone.
            let own = format!("pv_uuid={uuid} && vg_name=\"\"");
            let list = lvm("pvs", &filter)
                .args(["--noheadings", "--options", "pv_name", "--select", &own])
                .uninterruptible();
            let found = context.executor.check(&list).map_err(program)?.text();
            if found.trim().is_empty() {
                continue;
            }
            let remove = lvm("pvremove", &filter).arg("--yes").arg(found.trim()).uninterruptible();
            context.executor.check(&remove).map_err(program)?;
            done = true;
        }
        Ok(done)
    }

    /// What is not ours in the volume group, if it has this mark: volumes, what is on them, and devices.
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let Self { name, mark, volumes } = self;
        let program = |source| StackError::Program { layer: "lvm".to_owned(), source };
        let devices: Vec<PathBuf> =
            volumes.iter().map(|(d, _)| d.clone()).filter(|d| udev::is_block_device(d)).collect();
        if devices.is_empty() {
            return Ok(Vec::new());
        }
        let own = format!("vg_name={name} && vg_tags={mark}");
        let list = lvm("lvs", &filter(&devices))
            .args(["--noheadings", "--options", "lv_name,lv_dm_path,lv_tags", "--select", &own])
            .uninterruptible();
        let text = context.executor.check(&list).map_err(program)?.text();
        // Also those that are out of sight: the group's metadata names them.
        let members = lvm("vgs", &filter(&devices))
            .args(["--noheadings", "--options", "pv_uuid", "--select", &own])
            .uninterruptible();
        let members = context.executor.check(&members).map_err(program)?.text();
        let is_other = |uuid: &&str| !volumes.iter().any(|(_, own)| own == uuid);
        let others = members.split_whitespace().filter(is_other);
        let mut found: Vec<_> =
            others.map(|uuid| Obstacle::Member(format!("the physical volume {uuid}"))).collect();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(volume), Some(node)) = (words.next(), words.next()) else { continue };
            // The pool below a thin volume.
            if words.next().is_some_and(|tags| tags.split(',').any(|tag| tag == mark)) {
                continue;
            }
            if volume != LOGICAL_VOLUME {
                found.push(Obstacle::Volume(format!("{name}/{volume}")));
                continue;
            }
            let node = Path::new(node);
            if !udev::is_block_device(node) {
                let activate = lvm("lvchange", &filter(&devices))
                    .args(["--activate", "y"])
                    .arg(format!("{name}/{volume}"));
                // It fails while only some of the group was made.
                let _ = context.executor.run(&activate.uninterruptible());
            }
            if udev::is_block_device(node) {
                resume(node, context);
                found.extend(inspect::device(node, marks, context)?);
            }
        }
        Ok(found)
    }

    fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        let volumes = self.volumes.iter().map(|(device, _)| device.clone());
        let devices: Vec<PathBuf> = volumes.filter(|d| udev::is_block_device(d)).collect();
        let own = format!("vg_name={} && vg_tags={}", self.name, self.mark);
        let stop = lvm("vgchange", &filter(&devices)).args(["--activate", "n", "--select", &own]);
        let done = context.executor.check(&stop.uninterruptible());
        let failed = |source| StackError::Program { layer: "lvm".to_owned(), source };
        done.map(|_| ()).map_err(failed)
    }

    fn marks(&self) -> Vec<String> {
        let uuids = self.volumes.iter().map(|(_, uuid)| uuid.clone());
        [self.name.clone(), self.mark.clone()].into_iter().chain(uuids).collect()
    }

    fn paths(&self) -> Vec<&Path> {
        self.volumes.iter().map(|(device, _)| device.as_path()).collect()
    }

    fn contains(&self, others: &[&Path]) -> bool {
        any_is_built_on(others, &self.paths())
    }
}

impl fmt::Display for RemoveVolumeGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the volume group {}", self.name)
    }
}
