//! Switching a drive's write cache back.

use std::path::Path;

use disklab_exec::Invocation;
use disklab_measure::{BlockDevice, SystemRoot, identity};

use super::TeardownContext;
use crate::StackError;

/// Switches it back, if the device is still the drive with that serial number:
/// after a restart `/dev/sdb` may be another one.
pub(super) fn restore(
    device: &Path,
    serial: &str,
    on: bool,
    context: &TeardownContext<'_>,
) -> Result<bool, StackError> {
    let root = SystemRoot::here();
    let now = BlockDevice::at(&root, device).and_then(|d| identity(&d.whole()).serial);
    if now.as_deref() != Some(serial) {
        return Ok(false);
    }
    let setting = if on { "-W1" } else { "-W0" };
    let hdparm = Invocation::new("hdparm").arg(setting).arg(device).uninterruptible();
    context
        .executor
        .check(&hdparm)
        .map(|_| true)
        .map_err(|source| StackError::Program { layer: "write cache".to_owned(), source })
}

#[cfg(test)]
mod tests {
    use disklab_exec::Executor;

    use super::*;

    #[test]
    fn another_drive_of_that_name_is_left_alone() {
        let executor = Executor::default();
        let context = TeardownContext::by_force(&executor);
        let done = restore(Path::new("/dev/no-such-disk"), "S123", true, &context);
        assert!(matches!(done, Ok(false)));
        assert!(executor.trace.entries().is_empty());
    }
}
