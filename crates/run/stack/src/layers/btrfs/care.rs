//! A Btrfs in use: a device is missing, is replaced, all is scrubbed.

use std::path::{Path, PathBuf};

use disklab_cell::Care;
use disklab_exec::Invocation;
use disklab_measure::{BlockDevice, SystemRoot};
use disklab_units::Bytes;

use crate::on_drive::top_of;
use crate::{LayerInUse, LayerOutput, RebuildProgress, StackError};

/// Its exit code if there are errors that it could not fix (btrfs-scrub(8)).
const UNCORRECTABLE: i32 = 3;

/// Of what it prints, with the words of a sentence.
const COUNTED: [(&str, &str); 4] = [
    ("read_errors", "read errors"),
    ("csum_errors", "checksum errors"),
    ("corrected_errors", "corrected"),
    ("uncorrectable_errors", "not correctable"),
];

/// What an operator does about a device that is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ReplacedBy {
    /// `btrfs replace`, which writes to the new device what was on the old one.
    #[default]
    Replace,
    /// `btrfs device add` and `device remove missing`, which allocates anew all chunks that were on it.
    Remove,
}

impl ReplacedBy {
    pub const WORDS: [(&str, Self); 2] = [("replace", Self::Replace), ("remove", Self::Remove)];
}

/// Of that, the bytes that it read.
const SCRUBBED: [&str; 2] = ["data_bytes_scrubbed", "tree_bytes_scrubbed"];

/// A file system's devices that are there, and its UUID, as `btrfs filesystem show` prints them.
#[derive(Debug, Default, PartialEq, Eq)]
struct DevicesShown {
    uuid: String,
    /// How many it has, with those that are missing.
    total: usize,
    devices: Vec<PathBuf>,
}

fn shown(text: &str) -> DevicesShown {
    let mut all = DevicesShown::default();
    for line in text.lines() {
        if let Some((_, uuid)) = line.split_once("uuid: ") {
            all.uuid = uuid.trim().to_owned();
        }
        let total =
            line.trim().strip_prefix("Total devices ").and_then(|rest| rest.split(' ').next());
        all.total = total.and_then(|total| total.parse().ok()).unwrap_or(all.total);
        let path =
            line.trim_start().strip_prefix("devid").and_then(|line| line.split_once(" path "));
        all.devices.extend(
            path.map(|(_, path)| path.trim())
                .filter(|path| path.starts_with('/'))
                .map(PathBuf::from),
        );
    }
    all
}

fn directory<'a>(at: &'a LayerInUse<'_>, care: Care) -> Result<&'a Path, StackError> {
    let LayerOutput::Directory(directory) = at.output else { return Err(at.cannot(care)) };
    Ok(directory)
}

fn show(at: &LayerInUse<'_>, directory: &Path) -> Result<DevicesShown, StackError> {
    let show = Invocation::new("btrfs").args(["filesystem", "show"]).arg(directory);
    Ok(shown(&at.run(&show)?.text()))
}

fn on_drive(devices: &[PathBuf], drive: &Path) -> Option<PathBuf> {
    let root = SystemRoot::here();
    let is_own = |path: &&PathBuf| BlockDevice::at(&root, path).is_some_and(|d| d.is_on(drive));
    devices.iter().find(is_own).cloned()
}

/// Mounts it without the device on this drive, as after a boot at which the drive was not found: Btrfs
/// has no command that declares a device failed. What says that the device is one of its own is erased, as the
/// next mount would take it back, with what it held when it was lost.
pub(super) fn fail(
    at: &LayerInUse<'_>,
    drive: &Path,
    options: &[String],
) -> Result<(), StackError> {
    let directory = directory(at, Care::Fail)?;
    let DevicesShown { devices, .. } = show(at, directory)?;
    let own = on_drive(&devices, drive).ok_or_else(|| at.not_on(drive))?;
    let others: Vec<&PathBuf> = devices.iter().filter(|device| **device != own).collect();
    let [first, ..] = &others[..] else { return Err(at.cannot(Care::Fail)) };
    at.run(&Invocation::new("umount").arg(directory))?;
    at.run(&Invocation::new("btrfs").args(["device", "scan", "--forget"]))?;
    at.run(&Invocation::new("btrfs").args(["device", "scan"]).args(&others))?;
    at.run(&mount(options, first, directory))?;
    at.run(&wipe(&own)).map(drop)
}

fn wipe(device: &Path) -> Invocation {
    Invocation::new("wipefs").args(["--all", "--quiet"]).arg(device)
}

/// The command that mounts it without a device, by one that is there.
pub(super) fn mount(options: &[String], device: &Path, directory: &Path) -> Invocation {
    let with: Vec<&str> = options.iter().map(String::as_str).chain(["degraded"]).collect();
    let mount = Invocation::new("mount").args(["-t", "btrfs", "-o", &with.join(",")]);
    mount.arg(device).arg(directory)
}

/// Has the same device of a blank drive take the place of what it lacks.
pub(super) fn replace(
    at: &LayerInUse<'_>,
    drive: &Path,
    options: &[String],
    by: ReplacedBy,
) -> Result<(), StackError> {
    let directory = directory(at, Care::Replace)?;
    let DevicesShown { uuid, devices, .. } = show(at, directory)?;
    if on_drive(&devices, drive).is_some() {
        fail(at, drive, options)?;
    }
    let own = top_of(drive).ok_or_else(|| at.not_on(drive))?;
    let lacks = missing(&uuid).into_iter().next().ok_or_else(|| at.not_on(drive))?;
    at.run(&wipe(&own))?;
    let btrfs = |words: &[&str]| Invocation::new("btrfs").args(words);
    if by == ReplacedBy::Replace {
        let replace = btrfs(&["replace", "start", "-B", "-f", &lacks]);
        return at.run(&replace.arg(own).arg(directory)).map(drop);
    }
    at.run(&btrfs(&["device", "add", "-f"]).arg(own).arg(directory))?;
    at.run(&btrfs(&["device", "remove", "missing"]).arg(directory)).map(drop)
}

/// The numbers of devices that it lacks.
fn missing(uuid: &str) -> Vec<String> {
    let directory = Path::new("/sys/fs/btrfs").join(uuid).join("devinfo");
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let lacks =
        |path: &Path| std::fs::read_to_string(path.join("missing")).is_ok_and(|t| t.trim() == "1");
    let lacking = entries.filter(|entry| lacks(&entry.path()));
    lacking.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

pub(super) fn progress(at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
    // What was removed while it was missing stays in sysfs (Linux 6.12).
    let DevicesShown { total, devices, .. } = show(at, directory(at, Care::Rebuild)?)?;
    Ok(if devices.len() >= total { RebuildProgress::Redundant } else { RebuildProgress::Degraded })
}

/// Scrubs the file system, and waits for it.
pub(super) fn scrub(at: &LayerInUse<'_>) -> Result<String, StackError> {
    let directory = directory(at, Care::Scrub)?;
    let scrub = Invocation::new("btrfs").args(["scrub", "start", "-B", "-R"]).arg(directory);
    let done = at.executor.run(&scrub);
    let done = done.map_err(|source| StackError::Program { layer: at.layer.to_owned(), source })?;
    let text = done.text();
    if done.code != UNCORRECTABLE {
        let failed = |source| StackError::Program { layer: at.layer.to_owned(), source };
        done.success().map_err(failed)?;
    }
    Ok(format!("{}: {}", at.layer, counted(&text)))
}

/// The bytes of all devices that are, which are all if that is over: how many there are it does not know before.
pub(super) fn scrubbed(at: &LayerInUse<'_>) -> Result<Option<(Bytes, Bytes)>, StackError> {
    let status = Invocation::new("btrfs").args(["scrub", "status", "-R"]);
    let text = at.run(&status.arg(directory(at, Care::Scrub)?))?.text();
    let bytes = Bytes(SCRUBBED.map(|name| count(&text, name)).iter().sum());
    Ok((bytes > Bytes::ZERO).then_some((bytes, bytes)))
}

/// The counts of all devices, in words.
fn counted(text: &str) -> String {
    let counts = COUNTED.map(|(name, words)| format!("{} {words}", count(text, name)));
    counts.join(", ")
}

/// The sum of a count of all devices.
fn count(text: &str, name: &str) -> u64 {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(name));
    let counts = lines.filter_map(|rest| rest.strip_prefix(':')?.trim().parse::<u64>().ok());
    counts.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_btrfs_shows_is_parsed() {
        let text = "Label: 'disklab-1'  uuid: 1d4e-aa\n\tTotal devices 3 FS bytes used 1\n\
                    \tdevid    1 size 10 used 5 path /dev/vda1\n\
                    \tdevid    2 size 0 used 0 path  MISSING\n\
                    \tdevid    3 size 10 used 5 path /dev/vdc1\n\n";
        let devices = ["/dev/vda1", "/dev/vdc1"].map(PathBuf::from).to_vec();
        assert_eq!(shown(text), DevicesShown { uuid: "1d4e-aa".to_owned(), total: 3, devices });
        assert_eq!(shown(""), DevicesShown::default());
    }

    #[test]
    fn counts_are_summed() {
        let text = "\tread_errors: 0\n\tcsum_errors: 3\n\tcorrected_errors: 3\n\tcsum_errors: 2\n";
        let expected = "0 read errors, 5 checksum errors, 3 corrected, 0 not correctable";
        assert_eq!(counted(text), expected);
    }
}
