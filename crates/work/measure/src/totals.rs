//! What drives do over a long while, such as a whole cell.

use crate::block::BlockDevice;
use crate::counters::Counters;
use crate::{NamedDevice, SystemRoot};
use disklab_sample::DriveTraffic;

/// The drives' counters at a beginning. Nothing runs alongside it, unlike a [`crate::Meter`].
#[derive(Debug)]
pub struct Totals {
    drives: Vec<(String, BlockDevice, Counters)>,
}

impl Totals {
    /// Reads the counters. A drive that has none is left out.
    pub fn start(root: &SystemRoot, watched: &[NamedDevice]) -> Self {
        let drives = watched.iter().filter_map(|drive| {
            let device = BlockDevice::at(root, &drive.device)?;
            let counters = counters(&device)?;
            Some((drive.name.clone(), device, counters))
        });
        Self { drives: drives.collect() }
    }

    /// What each drive has done since. One that is gone is left out.
    pub fn so_far(&self) -> Vec<DriveTraffic> {
        let traffic = |(name, device, before): &(String, BlockDevice, Counters)| {
            Some(counters(device)?.since(before).traffic(name))
        };
        self.drives.iter().filter_map(traffic).collect()
    }
}

fn counters(device: &BlockDevice) -> Option<Counters> {
    Counters::parse(&device.attribute("stat")?)
}
