//! Settings of a block device's queue, and what they are called.

use std::fmt;

use disklab_measure::BlockDevice;
use serde::{Deserialize, Serialize};

/// One setting of a queue (Documentation/ABI/stable/sysfs-block in the kernel).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSetting {
    /// The I/O scheduler, by its name.
    Scheduler,
    /// How many requests wait in the scheduler.
    Requests,
    /// The largest request, in KiB.
    MaxRequest,
    /// How far is read ahead, in KiB.
    ReadAhead,
}

impl QueueSetting {
    /// Its file below the device's directory in sysfs.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Scheduler => "queue/scheduler",
            Self::Requests => "queue/nr_requests",
            Self::MaxRequest => "queue/max_sectors_kb",
            Self::ReadAhead => "queue/read_ahead_kb",
        }
    }

    /// What a device has it set to; nothing where it has no such setting.
    pub(crate) fn of(self, device: &BlockDevice) -> Option<String> {
        let text = device.attribute(self.file())?;
        if self != Self::Scheduler {
            return Some(text.trim().to_owned());
        }
        // `none [mq-deadline] bfq`, or `none` where there is no choice.
        match (text.find('['), text.find(']')) {
            (Some(open), Some(close)) => text.get(open + 1..close).map(str::to_owned),
            _ => None,
        }
    }
}

impl fmt::Display for QueueSetting {
    /// As the option of the layer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheduler => "scheduler",
            Self::Requests => "requests",
            Self::MaxRequest => "max-request",
            Self::ReadAhead => "read-ahead",
        })
    }
}
