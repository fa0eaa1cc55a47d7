//! RAID volumes in use: a device fails, is rebuilt, all is compared.
//!
//! LVM has no command that declares a device failed. Its table is loaded without the device, which is what LVM
//! does at an activation without it (kernel: `Documentation/admin-guide/device-mapper/dm-raid.rst`).

use std::path::{Path, PathBuf};

use disklab_cell::Care;
use disklab_exec::Invocation;
use disklab_measure::{BlockDevice, SystemRoot};
use disklab_units::Bytes;

use crate::differ_words::differ_words;
use crate::lvm_tools::{filter, lvm};
use crate::udev::dmsetup;
use crate::windowed_pass::kib;
use crate::{LayerInUse, LayerOutput, RebuildProgress, StackError};

/// A RAID volume, and what it is made of.
struct Volume<'a> {
    node: &'a Path,
    /// The volumes below it that hold data, or what dm-raid knows of them.
    parts: Vec<BlockDevice>,
    physical: Vec<BlockDevice>,
}

impl<'a> Volume<'a> {
    fn of(at: &'a LayerInUse<'_>, care: Care) -> Result<Self, StackError> {
        let LayerOutput::Devices(devices) = at.output else { return Err(at.cannot(care)) };
        let [node] = &devices[..] else { return Err(at.cannot(care)) };
        let device = BlockDevice::at(&SystemRoot::here(), node).ok_or_else(|| at.cannot(care))?;
        let parts = device.slaves();
        let mut physical: Vec<BlockDevice> = Vec::new();
        for below in parts.iter().flat_map(BlockDevice::slaves) {
            if !physical.iter().any(|known| known.name() == below.name()) {
                physical.push(below);
            }
        }
        Ok(Self { node, parts, physical })
    }

    fn lvm(&self, command: &str) -> Invocation {
        let nodes: Vec<PathBuf> = self.physical.iter().map(BlockDevice::node).collect();
        lvm(command, &filter(&nodes))
    }

    fn dmsetup(&self, what: &str) -> Invocation {
        dmsetup(what).arg(self.node)
    }

    fn status(&self, at: &LayerInUse<'_>) -> Result<RaidStatus, StackError> {
        Ok(RaidStatus::parse(&at.run(&self.dmsetup("status"))?.text()))
    }
}

/// What `dmsetup status` prints of a RAID volume.
#[derive(Debug, Default, PartialEq)]
struct RaidStatus {
    /// As dm-raid has it, such as `raid5_ls`.
    level: String,
    /// A letter for each device: `A` if it has all data.
    health: String,
    /// How far the action is, and how far it goes, in sectors of a device.
    sectors: (u64, u64),
    /// `idle`, `recover`, `check` and others.
    action: String,
    differ: String,
}

impl RaidStatus {
    /// Of `0 7782400 raid raid5_ls 3 AaA 243208/3891200 recover 0 0 -`.
    fn parse(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let number = |text: &str| text.parse::<u64>().ok();
        let sectors = word(6).split_once('/').and_then(|(done, all)| number(done).zip(number(all)));
        let [level, health, action, differ] = [3, 5, 7, 8].map(|at| word(at).to_owned());
        Self { level, health, sectors: sectors.unwrap_or_default(), action, differ }
    }

    /// What share of the action is done.
    fn share(&self) -> f64 {
        let (done, all) = self.sectors;
        (done as f64 / all.max(1) as f64).min(1.0)
    }

    fn progress(&self) -> RebuildProgress {
        let is_whole = !self.health.is_empty() && self.health.chars().all(|device| device == 'A');
        match self.action.as_str() {
            "recover" | "resync" => RebuildProgress::Rebuilding(self.share()),
            _ if is_whole => RebuildProgress::Redundant,
            _ => RebuildProgress::Degraded,
        }
    }
}

/// A table without these devices: `… 3 252:0 252:1 252:2 252:3 …` names two for each of three.
fn table_without(table: &str, gone: &[String]) -> String {
    let keep =
        |word: &str| if gone.iter().any(|gone| gone == word) { "-" } else { word }.to_owned();
    table.split_whitespace().map(keep).collect::<Vec<_>>().join(" ")
}

/// Loads the volume's table without its devices on this drive.
pub(super) fn fail(at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
    let volume = Volume::of(at, Care::Fail)?;
    let on_drive = volume.parts.iter().filter(|part| part.is_on(drive));
    let number =
        |part: &BlockDevice| part.number().map(|(major, minor)| format!("{major}:{minor}"));
    let gone: Vec<String> = on_drive.filter_map(number).collect();
    if gone.is_empty() {
        return Err(at.not_on(drive));
    }
    let table = at.run(&volume.dmsetup("table"))?.text();
    let load = volume.dmsetup("load").arg("--table").arg(table_without(&table, &gone));
    at.run(&load)?;
    at.run(&volume.dmsetup("suspend").uninterruptible())?;
    at.run(&volume.dmsetup("resume").uninterruptible()).map(drop)
}

/// `lvchange --rebuild`, which takes the device as one that never was part of the volume.
pub(super) fn replace(at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
    let volume = Volume::of(at, Care::Replace)?;
    // A part that the table lacks is not below the volume, but LVM knows where it is.
    let listed = lvm("pvs", "\"a|.*|\"").args(["--noheadings", "--options", "pv_name"]);
    let root = SystemRoot::here();
    let listed = at.run(&listed)?.text();
    let is_own =
        |name: &&str| BlockDevice::at(&root, Path::new(name)).is_some_and(|d| d.is_on(drive));
    let own = listed.split_whitespace().find(is_own).ok_or_else(|| at.not_on(drive))?;
    let mut nodes: Vec<PathBuf> = volume.physical.iter().map(BlockDevice::node).collect();
    nodes.push(PathBuf::from(own));
    let name = volume.node.file_name().map(Path::new).unwrap_or(volume.node);
    let rebuild = lvm("lvchange", &filter(&nodes)).args(["--yes", "--rebuild", own]);
    at.run(&rebuild.arg(Path::new("/dev/mapper").join(name))).map(drop)
}

/// The rate that the volume's rebuild is held to: its own, or that of all arrays.
pub(super) fn limit(at: &LayerInUse<'_>) -> Result<Option<Bytes>, StackError> {
    let table = at.run(&Volume::of(at, Care::Rebuild)?.dmsetup("table"))?.text();
    let of_all = || std::fs::read_to_string("/proc/sys/dev/raid/speed_limit_max").ok();
    Ok(own_limit(&table).or_else(|| kib(&of_all()?)))
}

/// From `… raid raid1 5 0 region_size 4096 max_recovery_rate 51200 …`.
fn own_limit(table: &str) -> Option<Bytes> {
    let mut words = table.split_whitespace().skip_while(|word| *word != "max_recovery_rate");
    words.nth(1).and_then(kib)
}

pub(super) fn progress(at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
    Ok(Volume::of(at, Care::Rebuild)?.status(at)?.progress())
}

/// `lvchange --syncaction check`, and waits for it.
pub(super) fn scrub(at: &LayerInUse<'_>) -> Result<String, StackError> {
    let volume = Volume::of(at, Care::Scrub)?;
    at.run(&volume.lvm("lvchange").args(["--syncaction", "check"]).arg(volume.node))?;
    loop {
        at.sleep()?;
        let status = volume.status(at)?;
        if status.action != "check" {
            return Ok(format!("{}: {}", at.layer, differ_words(&status.differ, &status.level)));
        }
    }
}

/// How far that is, of each device.
pub(super) fn scrubbed(at: &LayerInUse<'_>) -> Result<Option<(Bytes, Bytes)>, StackError> {
    let status = Volume::of(at, Care::Scrub)?.status(at)?;
    let (done, all) = status.sectors;
    let bytes = |sectors: u64| Bytes(sectors.saturating_mul(512));
    Ok((status.action == "check").then(|| (bytes(done), bytes(all))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_dmsetup_prints_is_parsed() {
        let progress = |line: &str| RaidStatus::parse(line).progress();
        let line = "0 7782400 raid raid5_ls 3 AaA 972800/3891200 recover 0 0 -";
        assert_eq!(progress(line), RebuildProgress::Rebuilding(0.25));
        let whole = line.replace("AaA", "AAA").replace("recover", "idle");
        assert_eq!(progress(&whole), RebuildProgress::Redundant);
        for degraded in ["aaa", "ADA", "A-A"] {
            let line = line.replace("AaA", degraded).replace("recover", "idle");
            assert_eq!(progress(&line), RebuildProgress::Degraded, "{degraded}");
        }
        assert_eq!(progress(""), RebuildProgress::Degraded);
    }

    #[test]
    fn a_table_lacks_what_is_gone() {
        let table =
            "0 77 raid raid5_ls 3 128 region_size 4096 3 252:0 252:1 252:2 252:12 252:4 252:5\n";
        let gone = ["252:2", "252:1"].map(str::to_owned);
        assert_eq!(
            table_without(table, &gone),
            "0 77 raid raid5_ls 3 128 region_size 4096 3 252:0 - - 252:12 252:4 252:5"
        );
    }

    #[test]
    fn the_own_limit_comes_first() {
        let table = "0 77 raid raid1 5 0 region_size 4096 max_recovery_rate 51200 2 252:0 -";
        assert_eq!(own_limit(table), Some(Bytes::mib(50)));
        for table in ["0 77 raid raid1 3 0 region_size 4096 2 252:0 -", "max_recovery_rate", ""] {
            assert_eq!(own_limit(table), None, "{table}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}", words in "[ 0-9A-z/]{0,60}") {
            let _ = (RaidStatus::parse(&text).progress(), RaidStatus::parse(&words).progress());
        }
    }
}
