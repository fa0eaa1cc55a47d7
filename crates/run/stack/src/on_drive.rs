//! What a stack has on a drive.

use std::path::{Path, PathBuf};

use disklab_measure::{BlockDevice, SystemRoot};

/// The device that a stack has on a drive for the layer that joins several drives: its only partition,
/// and what is mapped on that.
pub(crate) fn top_of(drive: &Path) -> Option<PathBuf> {
    let mut top = BlockDevice::at(&SystemRoot::here(), drive)?;
    // No stack is so high.
    for _ in 0..16 {
        let above = [top.partitions(), top.holders()].concat();
        let [only] = &above[..] else { break };
        top = only.clone();
    }
    Some(top.node())
}
