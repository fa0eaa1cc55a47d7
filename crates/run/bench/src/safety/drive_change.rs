//! What can be different about a drive since the plan was made, or since it was claimed.

use std::path::PathBuf;

use disklab_units::Bytes;

/// What is different about a drive since the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriveChange {
    /// No device of its name is there, or one without size.
    #[error("it is gone: unplugged, or failed")]
    Gone,
    /// Another model.
    #[error("the model was {} and is {}", or_none(then), or_none(now))]
    Model {
        /// What the plan was made for.
        then: Option<String>,
        /// What the drive says at present.
        now: Option<String>,
    },
    /// Another serial number.
    #[error("the serial number was {} and is {}", or_none(then), or_none(now))]
    Serial {
        /// What the plan was made for.
        then: Option<String>,
        /// What the drive says at present.
        now: Option<String>,
    },
    /// Another world-wide name.
    #[error("the world-wide name was {} and is {}", or_none(then), or_none(now))]
    Wwid {
        /// What the plan was made for.
        then: Option<String>,
        /// What the drive says at present.
        now: Option<String>,
    },
    /// Another size.
    #[error("the size was {} and is {}", size(*then), size(*now))]
    Size {
        /// What the plan was made for, in bytes.
        then: u64,
        /// What the drive has at present, in bytes.
        now: u64,
    },
    /// The kernel counted another appearance of a drive.
    #[error("it was unplugged or attached anew")]
    Reattached,
    /// The stable name leads to another device, of this kernel name.
    #[error("its name leads to {0} now")]
    NameLeadsTo(String),
    /// The stable name leads to no device.
    #[error("its name leads nowhere now")]
    NameLeadsNowhere,
    /// The kernel's name has another number than the device that is held.
    #[error("{} is another device now", .0.display())]
    OtherDevice(PathBuf),
}

/// What a run lost of a drive while it was measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriveLoss {
    /// The drive itself.
    #[error("{}: {change}", drive.display())]
    Drive {
        /// The name that the user gave.
        drive: PathBuf,
        /// What happened to it.
        change: DriveChange,
    },
    /// A member of an array that is built on it.
    #[error("{}: the array {array} on it lost a member", drive.display())]
    Member {
        /// The name that the user gave.
        drive: PathBuf,
        /// The array's name.
        array: String,
    },
}

fn or_none(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("none")
}

fn size(bytes: u64) -> String {
    format!("{bytes} bytes ({})", Bytes(bytes).si())
}
