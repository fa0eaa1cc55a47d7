//! A GPT partition for each slice of each drive.

use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::Invocation;
use disklab_units::Bytes;

use super::slices::Slice;
use crate::layers::partition::{not_shown, table};
use crate::udev::kernel_name;
use crate::wait::{nap, wait_for_node};
use crate::{LayerContext, Need, StackError, seeded, undo};

pub(super) const SFDISK: Need = Need::Program { name: "sfdisk", package: "fdisk" };

/// Before the first partition: its usual place (sfdisk(8), alignment).
pub(super) const FRONT: Bytes = Bytes::mib(1);

/// After the last: the second copy of a GPT takes 33 sectors (UEFI
/// specification, 5.3), here rounded up to keep the alignment.
pub(super) const BACK: Bytes = Bytes::mib(1);

/// The drives' partition tables.
#[derive(Debug)]
pub(super) struct Tables {
    layer: &'static str,
    pub drives: Vec<PathBuf>,
    /// The GUIDs of those that are there; nothing if they are to be written.
    found: Option<Vec<Option<String>>>,
}

impl Tables {
    /// Those that drives will have.
    pub(super) fn new(layer: &'static str, drives: Vec<PathBuf>) -> Self {
        Self { layer, drives, found: None }
    }

    /// Those that drives have, with the drives in the order in which they were cut. One that was
    /// too small to be cut takes a place that is left.
    ///
    /// # Errors
    /// If blkid cannot be started.
    pub(super) fn find(
        layer: &'static str,
        drives: &[PathBuf],
        context: &LayerContext<'_>,
    ) -> Result<Self, StackError> {
        let first = context.number();
        // How many drives before it were cut is known only with their order.
        let guids: Vec<(usize, String)> = (0..drives.len())
            .flat_map(|index| (0..=index).map(move |cut| (index, cut)))
            .map(|(index, cut)| (index, guid(first + cut, index, context)))
            .collect();
        let uuids: Vec<String> = guids.iter().map(|(_, guid)| guid.clone()).collect();
        let there = table(layer).each_if_there(drives, &uuids, context)?;
        let mut places: Vec<Option<(PathBuf, String)>> = vec![None; drives.len()];
        for ((index, guid), drive) in guids.into_iter().zip(&there) {
            places[index] = drive.clone().map(|drive| (drive, guid)).or(places[index].take());
        }
        let mut others = drives.iter().filter(|drive| !there.iter().flatten().any(|d| d == *drive));
        let place = |found: &Option<(PathBuf, String)>| match found {
            Some((drive, _)) => Some(drive.clone()),
            None => others.next().cloned(),
        };
        let drives = places.iter().filter_map(place).collect();
        let found = places.into_iter().map(|place| place.map(|(_, guid)| guid)).collect();
        Ok(Self { layer, drives, found: Some(found) })
    }

    /// The GUID of the table of the drive with this index.
    ///
    /// # Errors
    /// [`StackError::NotFound`] if it should be there, and is not.
    fn guid(&self, index: usize, context: &LayerContext<'_>) -> Result<String, StackError> {
        let drawn = || guid(context.number(), index, context);
        match &self.found {
            None => Ok(drawn()),
            Some(found) => found[index]
                .clone()
                .ok_or_else(|| table(self.layer).not_found(&self.drives, &drawn())),
        }
    }

    /// The partitions of `slices`, slice by slice. Tables that are to be written are.
    ///
    /// # Errors
    /// [`StackError::NotFound`] if a drive of a slice has no table, and those of the programs.
    pub(super) fn partitions(
        &self,
        slices: &[Slice],
        context: &mut LayerContext<'_>,
    ) -> Result<Vec<Vec<PathBuf>>, StackError> {
        let mut cut = vec![Vec::new(); slices.len()];
        for (index, drive) in self.drives.iter().enumerate() {
            let mine: Vec<usize> =
                (0..slices.len()).filter(|s| slices[*s].drives.contains(&index)).collect();
            if mine.is_empty() {
                continue;
            }
            let guid = self.guid(index, context)?;
            let undo = undo::RemovePartitions {
                device: drive.clone(),
                guid: guid.clone(),
                count: mine.len(),
            };
            context.enter(undo)?;
            if self.found.is_none() {
                let parts: Vec<&Slice> = mine.iter().map(|s| &slices[*s]).collect();
                let sfdisk = Invocation::new("sfdisk")
                    // The kernel is told by partx, which works on loop devices, too.
                    .args(["--quiet", "--no-reread", "--no-tell-kernel"])
                    .args(["--wipe", "always", "--wipe-partitions", "always"])
                    .arg(drive)
                    .stdin(script(&guid, &parts));
                context.run(self.layer, &sfdisk)?;
            }
            context.run(self.layer, &Invocation::new("partx").arg("--update").arg(drive))?;
            for (number, slice) in mine.iter().enumerate() {
                cut[*slice].push(node(self.layer, drive, number + 1, context)?);
            }
        }
        Ok(cut)
    }
}

/// The GUID that a drive's table has, by the number that is drawn for it.
fn guid(number: usize, index: usize, context: &LayerContext<'_>) -> String {
    seeded::uuid(context, &format!("gpt {number} {index}"))
}

/// What sfdisk reads. The type `raid` is that of Linux RAID members.
fn script(guid: &str, parts: &[&Slice]) -> String {
    let mut text = format!("label: gpt\nlabel-id: {guid}\n");
    for part in parts {
        let start = (FRONT + part.start).0 / Bytes::mib(1).0;
        let size = part.height.0 / Bytes::mib(1).0;
        text.push_str(&format!("start={start}MiB, size={size}MiB, type=raid\n"));
    }
    text
}

/// The node of partition `number`, as soon as there is one.
fn node(
    layer: &str,
    drive: &Path,
    number: usize,
    context: &LayerContext<'_>,
) -> Result<PathBuf, StackError> {
    for _ in 0..100 {
        if let Some(name) = partition(drive, number) {
            return wait_for_node(context, layer, &Path::new("/dev").join(name));
        }
        nap(context, layer)?;
    }
    Err(not_shown(layer, drive, number))
}

/// The kernel's name of a partition: by its number, because the rules for names
/// differ.
fn partition(drive: &Path, number: usize) -> Option<String> {
    let directory = Path::new("/sys/class/block").join(kernel_name(drive)?);
    fs::read_dir(directory).ok()?.flatten().find_map(|entry| {
        let text = fs::read_to_string(entry.path().join("partition")).ok()?;
        let is_it = text.trim().parse() == Ok(number);
        is_it.then(|| entry.file_name().into_string().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::md::Level;

    #[test]
    fn partitions_follow_each_other() {
        let slice = |start, height| Slice {
            start: Bytes::mib(start),
            height: Bytes::mib(height),
            drives: vec![0, 1],
            level: Level::Raid1,
        };
        assert_eq!(
            script("guid", &[&slice(0, 100), &slice(100, 20)]),
            "label: gpt\nlabel-id: guid\nstart=1MiB, size=100MiB, type=raid\n\
             start=101MiB, size=20MiB, type=raid\n"
        );
    }
}
