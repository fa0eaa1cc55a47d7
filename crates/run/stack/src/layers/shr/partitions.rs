//! A GPT partition for each slice of each drive.

use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::Invocation;
use disklab_units::Bytes;

use super::{FRONT, Slice};
use crate::layers::partition::not_shown;
use crate::udev::{kernel_name, nap, wait_for_node};
use crate::{LayerContext, Need, StackError, seeded, undo};

pub(super) const SFDISK: Need = Need::Program { name: "sfdisk", package: "fdisk" };

/// Cuts `drives` into `slices` and returns the partitions, slice by slice.
pub(super) fn cut(
    layer: &str,
    drives: &[PathBuf],
    slices: &[Slice],
    context: &mut LayerContext<'_>,
) -> Result<Vec<Vec<PathBuf>>, StackError> {
    let mut cut = vec![Vec::new(); slices.len()];
    for (index, drive) in drives.iter().enumerate() {
        let mine: Vec<usize> =
            (0..slices.len()).filter(|s| slices[*s].drives.contains(&index)).collect();
        if mine.is_empty() {
            continue;
        }
        let guid = seeded::uuid(context, &format!("gpt {} {index}", context.ledger.mark()));
        let parts: Vec<&Slice> = mine.iter().map(|s| &slices[*s]).collect();
        let count = parts.len();
        let undo = undo::RemovePartitions { device: drive.clone(), guid: guid.clone(), count };
        context.ledger.enter(undo)?;
        let sfdisk = Invocation::new("sfdisk")
            // The kernel is told by partx, which works on loop devices, too.
            .args(["--quiet", "--no-reread", "--no-tell-kernel"])
            .args(["--wipe", "always", "--wipe-partitions", "always"])
            .arg(drive)
            .stdin(script(&guid, &parts));
        context.run(layer, &sfdisk)?;
        context.run(layer, &Invocation::new("partx").arg("--update").arg(drive))?;
        for (number, slice) in mine.iter().enumerate() {
            cut[*slice].push(node(layer, drive, number + 1, context)?);
        }
    }
    Ok(cut)
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
    let folder = Path::new("/sys/class/block").join(kernel_name(drive)?);
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
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
