//! Why a device is not written to.

use std::fmt;
use std::path::PathBuf;

use disklab_exec::SharedError;
use disklab_units::Bytes;

use super::{DriveChange, InspectionError, OpenError, Signature, Surface};

/// Why a device is not written to. Shown as a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The name that the user gave.
    pub name: PathBuf,
    /// Why.
    pub cause: Cause,
}

impl Refusal {
    pub(crate) fn new(name: impl Into<PathBuf>, cause: Cause) -> Self {
        Self { name: name.into(), cause }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not touched: {}", self.name.display(), self.cause)
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Unknown(error) => Some(error),
            _ => None,
        }
    }
}

/// The causes of a [`Refusal`]. Devices are given by their kernel names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The name is none below `/dev/disk/by-id`.
    NotStable {
        /// Stable names of the same device.
        offered: Vec<PathBuf>,
    },
    /// There is nothing of that name.
    Missing,
    /// This system has no such names at all.
    NoStableNames,
    /// The link points to nothing.
    Dangling {
        /// What it points to.
        target: PathBuf,
    },
    /// It leads to something that is no block device.
    NotBlock {
        /// What it leads to.
        target: PathBuf,
    },
    /// A part of a drive, and not all of it.
    Partition {
        /// The whole drive that should be named instead.
        drive: String,
        /// Stable names of the drive.
        offered: Vec<PathBuf>,
    },
    /// It is no drive: a loop, md, device-mapper or RAM device.
    NotDrive {
        /// What it is.
        device: String,
    },
    /// The same drive was named before.
    Duplicate {
        /// The other name.
        other: PathBuf,
    },
    /// The root file system is on it.
    RootDrive {
        /// The part of it that is mounted at `/`.
        part: String,
    },
    /// It, or what is built on it, is mounted.
    Mounted {
        /// The device that is mounted.
        part: String,
        /// Where.
        at: PathBuf,
    },
    /// It belongs to a mounted Btrfs.
    Btrfs {
        /// The part of it that belongs to it.
        part: String,
        /// The file system's UUID.
        uuid: String,
    },
    /// It holds swap space in use.
    Swap {
        /// The device or file.
        part: String,
    },
    /// Something is built on it.
    BuiltOn {
        /// The drive, or a partition of it.
        part: String,
        /// What is built on that.
        by: String,
    },
    /// A process has it open.
    Open {
        /// The drive, or a partition of it.
        part: String,
        /// The process, such as `qemu-system-x86 (1234)`.
        by: String,
    },
    /// Another path leads to the same drive, and that is in use.
    OtherPath {
        /// The device of the other path.
        device: String,
    },
    /// It cannot be written to.
    ReadOnly,
    /// Its size is 0.
    Empty,
    /// Something is on it that could be somebody's data.
    Signed {
        /// What was found.
        found: Vec<Signature>,
        /// The serial number to give to `--erase`; none where the drive tells
        /// none.
        serial: Option<String>,
    },
    /// No known signature is on it, and yet something is.
    NotBlank {
        /// What a sample of its surface showed.
        surface: Surface,
        /// As for [`Cause::Signed`].
        serial: Option<String>,
    },
    /// `--erase` gave its serial number, but other drives have the same one.
    SerialNotUnique {
        /// The serial number.
        serial: String,
        /// All devices that have it.
        devices: Vec<String>,
    },
    /// Whether it is free could not be found out.
    Unknown(SharedError<InspectionError>),
    /// The kernel has it open for something that is not shown.
    Busy,
    /// It is not the drive that the plan was made for.
    Changed {
        /// What differs.
        differences: Vec<DriveChange>,
    },
}

impl From<InspectionError> for Cause {
    fn from(error: InspectionError) -> Self {
        Self::Unknown(error.into())
    }
}

impl From<OpenError> for Cause {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Busy => Self::Busy,
            OpenError::Failed(error) => error.into(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStable { offered } => {
                f.write_str(
                    "its name may mean another drive after the next start; name a whole drive \
                     by a link in /dev/disk/by-id",
                )?;
                offer(f, offered)
            }
            Self::Missing => f.write_str(
                "there is no such name; `ls -l /dev/disk/by-id` shows the drives of this machine",
            ),
            Self::NoStableNames => f.write_str(
                "this system has no /dev/disk/by-id, whose names alone mean the same drive after the \
                 next start, so that disklab takes none of its disks; --on dir:PATH measures a file \
                 system that is on them, and leaves what is there alone",
            ),
            Self::Dangling { target } => write!(
                f,
                "it points to {}, which does not exist; was the drive unplugged?",
                target.display()
            ),
            Self::NotBlock { target } => {
                write!(f, "it leads to {}, which is not a block device", target.display())
            }
            Self::Partition { drive, offered } => {
                write!(f, "it is a partition of {drive}; disklab takes whole drives only")?;
                offer(f, offered)
            }
            Self::NotDrive { device } => {
                write!(
                    f,
                    "it is {device}, which is not a drive of its own; name the drives below it"
                )
            }
            Self::Duplicate { other } => {
                write!(f, "it is the same drive as {}; name each drive once", other.display())
            }
            Self::RootDrive { part } => {
                write!(f, "the root file system of this machine is on it ({part})")
            }
            Self::Mounted { part, at } => {
                write!(f, "{part} is mounted at {}; unmount it first", at.display())
            }
            Self::Btrfs { part, uuid } => {
                write!(f, "{part} belongs to the mounted Btrfs {uuid}; unmount that first")
            }
            Self::Swap { part } => {
                write!(f, "{part} is swap space in use; `swapoff` it first")
            }
            Self::BuiltOn { part, by } => {
                write!(f, "{part} is in use by {by}; stop that first")
            }
            Self::Open { part, by } => {
                write!(f, "process {by} has {part} open; end it first")
            }
            Self::OtherPath { device } => write!(
                f,
                "{device}, which is in use, has the same world-wide name and serial number: it \
                 is another path to the same drive"
            ),
            Self::ReadOnly => f.write_str("the kernel says that it is read-only"),
            Self::Empty => f.write_str("its size is 0: no medium, or a drive that failed"),
            Self::Signed { found, serial } => signed(f, found, serial.as_deref()),
            Self::NotBlank { surface, serial } => {
                write!(
                    f,
                    "it is not blank: {surface} (plain dm-crypt, a data base, a file system that \
                     lost its superblocks, or what an earlier run left)"
                )?;
                consent(f, serial.as_deref())
            }
            Self::SerialNotUnique { serial, devices } => write!(
                f,
                "--erase {serial} does not tell which drive is meant: {} have that serial number",
                devices.join(", ")
            ),
            Self::Unknown(error) => {
                write!(f, "whether it is free could not be found out: {error}")
            }
            Self::Busy => f.write_str(
                "the kernel has it in use: for another mount namespace, a ZFS pool, a program in \
                 another container, or a descriptor on its way through a socket",
            ),
            Self::Changed { differences } => {
                let all: Vec<_> = differences.iter().map(ToString::to_string).collect();
                write!(f, "the drive changed between plan and run: {}", all.join("; "))
            }
        }
    }
}

fn offer(f: &mut fmt::Formatter<'_>, offered: &[PathBuf]) -> fmt::Result {
    match offered.first() {
        Some(name) => write!(f, ": {}", name.display()),
        None => Ok(()),
    }
}

fn signed(f: &mut fmt::Formatter<'_>, found: &[Signature], serial: Option<&str>) -> fmt::Result {
    let words: Vec<String> = found.iter().map(ToString::to_string).collect();
    write!(f, "it is not empty: {}", words.join(", "))?;
    if found.iter().any(Signature::is_leftover) {
        f.write_str(" (looks like a leftover of disklab)")?;
    }
    if found.iter().any(|signature| signature.kind == "zfs_member") {
        f.write_str("; a ZFS pool may need the drive (`zpool import` lists pools)")?;
    }
    consent(f, serial)
}

/// How to allow that a drive is erased.
fn consent(f: &mut fmt::Formatter<'_>, serial: Option<&str>) -> fmt::Result {
    match serial {
        Some(serial) => {
            write!(f, "; if it is not needed, allow it to be erased with --erase {serial}")
        }
        None => f.write_str(
            "; the drive has no serial number that --erase could name, so wipe it yourself \
             if it is not needed",
        ),
    }
}

/// Notes on a device that may be used all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The kernel takes it for a removable medium.
    Removable,
    /// The link's name does not contain the drive's serial number.
    OtherName {
        /// The serial number.
        serial: String,
    },
    /// Nothing is on it, as far as a sample of its surface shows.
    Blank {
        /// How much was looked at.
        surface: Surface,
    },
    /// Erasing was allowed, and this will be lost.
    Erases {
        /// The signatures on it now.
        found: Vec<Signature>,
        /// Data without a signature, looked for where there is none.
        unsigned: Option<Surface>,
        /// Capacity of the drive.
        size: Bytes,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removable => f.write_str("the kernel takes it for a removable medium"),
            Self::OtherName { serial } => write!(
                f,
                "its name does not contain the drive's serial number {serial}: an adapter may \
                 tell another one, or the link is stale"
            ),
            Self::Blank { surface } => write!(f, "{surface}"),
            Self::Erases { found, unsigned, size } => {
                let words = found.iter().map(ToString::to_string);
                let words: Vec<_> = words.chain(unsigned.iter().map(ToString::to_string)).collect();
                write!(f, "all {} of it will be erased: {}", size.si(), words.join(", "))
            }
        }
    }
}
