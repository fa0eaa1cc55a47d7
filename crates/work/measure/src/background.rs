//! The bytes that others moved while a step ran: an estimate.

use std::collections::{BTreeMap, BTreeSet};

use crate::SystemRoot;
use crate::block::BlockDevice;
use crate::counters::{Counters, parse_diskstats};
use crate::mounts::mounts;

/// Counters of all devices at the start, and what explains them.
#[derive(Debug)]
pub(crate) struct BackgroundIo {
    before: BTreeMap<String, Counters>,
    physical: BTreeSet<String>,
    /// Devices whose own traffic is the study's, each with the whole drive that
    /// it is on.
    direct: BTreeMap<String, String>,
    /// Watched loop devices (or what is built on them), each with the whole drives
    /// under the backing file.
    through_files: BTreeMap<String, Vec<String>>,
}

/// Bytes read and written.
type Moved = (u64, u64);

impl BackgroundIo {
    /// Reads the counters of all devices; `None` where there are none, or the
    /// drives under a watched device are out of sight.
    pub(crate) fn start(root: &SystemRoot, watched: &[BlockDevice]) -> Option<Self> {
        let mounts = mounts(root);
        let mut direct = BTreeMap::new();
        let mut through_files = BTreeMap::new();
        for device in watched {
            let bottom = device.bottom(&mounts)?;
            let whole = |d: &BlockDevice| d.whole().name().to_owned();
            if stands_on_loop(device) {
                let drives: BTreeSet<String> = bottom.iter().map(whole).collect();
                through_files.insert(device.name().to_owned(), drives.into_iter().collect());
            } else {
                direct.extend(bottom.iter().map(|d| (d.name().to_owned(), whole(d))));
            }
        }
        let before = parse_diskstats(&root.text("/proc/diskstats")?);
        Some(Self { before, physical: physical(root), direct, through_files })
    }

    /// Bytes read and written by others since the start.
    pub(crate) fn stop(mut self, root: &SystemRoot) -> Option<u64> {
        let after = parse_diskstats(&root.text("/proc/diskstats")?);
        // A drive that was plugged in meanwhile moved bytes too.
        self.physical.extend(physical(root));
        let moved: BTreeMap<&str, Moved> = after
            .iter()
            .map(|(name, counters)| {
                let before = self.before.get(name).copied().unwrap_or_default();
                let grown = counters.since(&before);
                (name.as_str(), (grown.read_bytes(), grown.write_bytes()))
            })
            .collect();
        Some(self.unexplained(&moved))
    }

    fn unexplained(&self, moved: &BTreeMap<&str, Moved>) -> u64 {
        let of = |name: &str| moved.get(name).copied().unwrap_or_default();
        let mut left: BTreeMap<&str, Moved> =
            self.physical.iter().map(|name| (name.as_str(), of(name))).collect();
        let mut explain = |drive: &str, bytes: Moved| -> Moved {
            let Some((read, write)) = left.get_mut(drive) else { return bytes };
            let taken = (bytes.0.min(*read), bytes.1.min(*write));
            *read -= taken.0;
            *write -= taken.1;
            (bytes.0 - taken.0, bytes.1 - taken.1)
        };
        for (device, drive) in &self.direct {
            explain(drive, of(device));
        }
        for (device, drives) in &self.through_files {
            let mut rest = of(device);
            for drive in drives {
                rest = explain(drive, rest);
            }
        }
        left.values()
            .fold(0, |sum: u64, (read, write)| sum.saturating_add(*read).saturating_add(*write))
    }
}

fn physical(root: &SystemRoot) -> BTreeSet<String> {
    let all = BlockDevice::all(root);
    all.iter().filter(|d| d.is_physical()).map(|d| d.name().to_owned()).collect()
}

/// Whether the device is a loop device or built on one.
fn stands_on_loop(device: &BlockDevice) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![device.whole()];
    while let Some(device) = open.pop() {
        if device.backing_file().is_some() {
            return true;
        }
        if seen.insert(device.name().to_owned()) {
            open.extend(device.slaves().iter().map(BlockDevice::whole));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;

    /// Sectors moved by: sda all in all, sdb, loop0; loop0's file is on sda1.
    fn background(watched: &[&str], sda: u64, sdb: u64, loop0: u64) -> Option<u64> {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1));
        tree.drive("sdb", (8, 16), "B").mount((8, 1), "/dev/sda1", "/data", "ext4");
        tree.looped("loop0", (7, 0), "/data/file");
        tree.counters(&[("sda", 0, 50), ("sda1", 0, 50), ("sdb", 0, 9), ("loop0", 0, 3)]);
        let root = tree.root();
        let watched: Vec<_> =
            watched.iter().filter_map(|name| BlockDevice::named(&root, name)).collect();
        let background = BackgroundIo::start(&root, &watched)?;
        tree.counters(&[
            ("sda", 0, 50 + sda),
            ("sda1", 0, 50 + sda),
            ("sdb", 0, 9 + sdb),
            ("loop0", 0, 3 + loop0),
        ]);
        background.stop(&root)
    }

    #[test]
    fn watched_drives_explain_their_own_traffic() {
        assert_eq!(background(&["sdb"], 0, 1000, 0), Some(0));
        assert_eq!(background(&["sdb"], 7, 1000, 0), Some(7 * 512));
        assert_eq!(background(&["sda1"], 40, 2, 0), Some(2 * 512));
    }

    #[test]
    fn loops_explain_the_disk_under_their_file_but_never_more() {
        assert_eq!(background(&["loop0"], 110, 0, 100), Some(10 * 512));
        assert_eq!(background(&["loop0"], 60, 0, 100), Some(0));
        assert_eq!(background(&["loop0"], 60, 5, 100), Some(5 * 512));
    }

    #[test]
    fn without_watched_drives_all_io_is_background() {
        assert_eq!(background(&[], 3, 4, 5), Some(7 * 512));
    }
}
