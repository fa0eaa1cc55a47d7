//! Settings of a block device's queue: setting them, and setting them back.

use std::fmt;
use std::path::{Path, PathBuf};

use disklab_measure::{BlockDevice, SystemRoot};
use serde::{Deserialize, Serialize};

use super::{QueueSetting, Teardown, TeardownContext};
use crate::StackError;

impl QueueSetting {
    /// Sets it.
    ///
    /// # Errors
    /// [`StackError::Io`] if the kernel does not take the value.
    pub(crate) fn write(self, device: &BlockDevice, value: &str) -> Result<(), StackError> {
        let path = device.attribute_path(self.file());
        let what = format!("the kernel did not take `{self}` {value}: cannot write");
        std::fs::write(&path, value).map_err(|e| StackError::io(&what, &path, e))
    }
}

/// What tells a device from another one of its name: the kernel's number of this start
/// (proc(5), `boot_id`), with which all settings go, and that of the disk in it
/// (`diskseq`, since Linux 5.15), which is another one when a loop device has another
/// file. Nothing where the kernel tells neither number.
pub(crate) fn instance(device: &BlockDevice) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let number = device.attribute("diskseq")?;
    Some(format!("{} {}", boot.trim(), number.trim()))
}

/// Set a setting of a device's queue back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreQueue {
    /// Its device node.
    pub device: PathBuf,
    /// What tells the device from another one of its name.
    pub instance: String,
    /// What was set.
    pub setting: QueueSetting,
    /// What it was before, as sysfs has it.
    pub value: String,
}

impl RestoreQueue {
    fn set_back_on(&self, device: &BlockDevice) -> Result<bool, StackError> {
        let Self { instance: of, setting, value, .. } = self;
        if instance(device).as_ref() != Some(of) || setting.of(device).as_ref() == Some(value) {
            return Ok(false);
        }
        setting.write(device, value).map(|()| true)
    }
}

impl Teardown for RestoreQueue {
    /// Sets it back, if the device is still that one.
    fn tear_down(&self, _: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let device = BlockDevice::at(&SystemRoot::here(), &self.device).map(|d| d.whole());
        device.map_or(Ok(false), |device| self.set_back_on(&device))
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.device]
    }

    fn ends_with_boot(&self) -> bool {
        true
    }
}

impl fmt::Display for RestoreQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the setting `{}` of the queue of {}", self.setting, self.device.display())
    }
}

#[cfg(test)]
mod tests {
    use disklab_exec::Executor;
    use disklab_measure::fabricated::Fabricated;

    use super::*;

    fn of_another_start(device: PathBuf) -> RestoreQueue {
        RestoreQueue {
            device,
            instance: "another start 7".to_owned(),
            setting: QueueSetting::ReadAhead,
            value: "128".to_owned(),
        }
    }

    #[test]
    fn settings_are_read_as_the_kernel_shows_them() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").set("sda", "queue/scheduler", "none [mq-deadline] bfq\n");
        tree.set("sda", "queue/read_ahead_kb", "128\n");
        tree.drive("dm-0", (253, 0), "").set("dm-0", "queue/scheduler", "none\n");
        let root = tree.root();
        let device = |name: &str| BlockDevice::named(&root, name).expect("in the tree");
        let sda = device("sda");
        assert_eq!(QueueSetting::Scheduler.of(&sda).as_deref(), Some("mq-deadline"));
        assert_eq!(QueueSetting::ReadAhead.of(&sda).as_deref(), Some("128"));
        assert_eq!(QueueSetting::Requests.of(&sda), None);
        assert_eq!(QueueSetting::Scheduler.of(&device("dm-0")), None);
        QueueSetting::ReadAhead.write(&sda, "4096").expect("written");
        assert_eq!(QueueSetting::ReadAhead.of(&sda).as_deref(), Some("4096"));
    }

    #[test]
    fn a_setting_is_set_back_once_and_on_no_other_device() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").set("sda", "queue/read_ahead_kb", "4096\n");
        tree.set("sda", "diskseq", "7\n");
        let device = BlockDevice::named(&tree.root(), "sda").expect("in the tree");
        let mut undo = of_another_start(device.node());
        assert!(!undo.set_back_on(&device).expect("left alone"));
        undo.instance = instance(&device).expect("this start, and the disk");
        assert!(undo.instance.ends_with(" 7"), "{}", undo.instance);
        assert!(undo.set_back_on(&device).expect("set back"));
        assert_eq!(QueueSetting::ReadAhead.of(&device).as_deref(), Some("128"));
        assert!(!undo.set_back_on(&device).expect("nothing to do"));
    }

    #[test]
    fn another_device_of_that_name_is_left_alone() {
        for device in ["/dev/loop0", "/dev/no-such-disk"] {
            let undo = of_another_start(device.into());
            let executor = Executor::default();
            let done = undo.tear_down(&mut TeardownContext::by_force(&executor));
            assert!(matches!(done, Ok(false)), "{device}");
        }
    }
}
