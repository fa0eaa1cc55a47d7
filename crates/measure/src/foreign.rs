//! The bytes that others moved while a step ran: an estimate.

use std::collections::{BTreeMap, BTreeSet};

use crate::SystemRoot;
use crate::block::BlockDevice;
use crate::counters::{Counters, parse_diskstats};
use crate::mounts::mounts;

/// Counters of all devices at the start, and what explains them.
#[derive(Debug)]
pub(crate) struct Foreign {
    before: BTreeMap<String, Counters>,
    physical: BTreeSet<String>,
    /// Devices whose own traffic is the study's, each with the whole drive that
    /// it is on.
    direct: BTreeMap<String, String>,
    /// Watched loop devices (or what stands on them), each with the whole drives
    /// under the backing file.
    through_files: BTreeMap<String, Vec<String>>,
}

/// Bytes read and written.
type Moved = (u64, u64);

impl Foreign {
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

/// Whether the device is a loop device or stands on one.
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
