//! Switching a drive's write cache back.

use std::fmt;
use std::path::{Path, PathBuf};

use disklab_exec::Invocation;
use disklab_measure::{BlockDevice, SystemRoot, identity};
use serde::{Deserialize, Serialize};

use super::{Teardown, TeardownContext};
use crate::StackError;

/// Switch the write cache of the drive with this serial number back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreWriteCache {
    /// Its device node.
    pub device: PathBuf,
    /// Its serial number.
    pub serial: String,
    /// On, as it was, or off.
    pub on: bool,
}

impl Teardown for RestoreWriteCache {
    /// Switches it back, if the device is still the drive with that serial number:
    /// after a restart `/dev/sdb` may be another one.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let Self { device, serial, on } = self;
        let root = SystemRoot::here();
        let now = BlockDevice::at(&root, device).and_then(|d| identity(&d.whole()).serial);
        if now.as_ref() != Some(serial) {
            return Ok(false);
        }
        let setting = if *on { "-W1" } else { "-W0" };
        let hdparm = Invocation::new("hdparm").arg(setting).arg(device).uninterruptible();
        context
            .executor
            .check(&hdparm)
            .map(|_| true)
            .map_err(|source| StackError::Program { layer: "write cache".to_owned(), source })
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.device]
    }
}

impl fmt::Display for RestoreWriteCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.on { "on" } else { "off" };
        write!(f, "the write cache of {}, which was {state}", self.device.display())
    }
}

#[cfg(test)]
mod tests {
    use disklab_exec::Executor;

    use super::*;

    #[test]
    fn another_drive_of_that_name_is_left_alone() {
        let executor = Executor::default();
        let undo = RestoreWriteCache {
            device: "/dev/no-such-disk".into(),
            serial: "S123".to_owned(),
            on: true,
        };
        let done = undo.tear_down(&mut TeardownContext::by_force(&executor));
        assert!(matches!(done, Ok(false)));
        assert!(executor.trace.entries().is_empty());
    }
}
