//! Which devices are built on which.

use std::path::Path;

use disklab_measure::{BlockDevice, SystemRoot};

/// Whether a device among `above` is one of `below`, or built on one.
pub(super) fn any_is_built_on(above: &[&Path], below: &[&Path]) -> bool {
    above.iter().any(|path| below.iter().any(|device| is_built_on(path, device)))
}

/// Whether `above` is the device `below`, or a partition of it, or built on it.
fn is_built_on(above: &Path, below: &Path) -> bool {
    let root = SystemRoot::here();
    let device = |path: &Path| BlockDevice::at(&root, path);
    let (Some(above), Some(below)) = (device(above), device(below)) else { return false };
    let mounts = disklab_measure::mounts(&root);
    let (mut open, mut seen) = (vec![above], Vec::new());
    while let Some(device) = open.pop() {
        if device == below {
            return true;
        }
        if !seen.contains(&device) {
            open.extend(device.slaves());
            open.extend(device.below_loop(&root, &mounts));
            open.extend(device.is_partition().then(|| device.whole()));
            seen.push(device);
        }
    }
    false
}
