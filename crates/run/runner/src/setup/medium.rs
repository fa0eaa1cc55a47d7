//! What a directory lies on.

use std::path::Path;

use disklab_measure::{NamedDevice, SystemRoot, devices_under, mounts};
use disklab_prediction::Medium;

/// The block devices below a directory, and what they are like.
pub(crate) fn medium_below(directory: &Path) -> (Medium, Vec<NamedDevice>) {
    let root = SystemRoot::here();
    let devices = devices_under(&root, &mounts(&root), directory).unwrap_or_default();
    let medium = devices.first().map_or(Medium::SOLID_STATE, |device| {
        let whole = device.whole();
        let rotational = whole.attribute("queue/rotational");
        Medium::of(whole.name(), rotational.map(|text| text.trim() == "1"))
    });
    let watched = devices
        .iter()
        .map(|d| NamedDevice { name: d.name().to_owned(), device: d.node() })
        .collect();
    (medium, watched)
}
