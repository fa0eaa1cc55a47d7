//! What is found on a leftover that the run did not make.

use std::fmt;
use std::path::PathBuf;

use disklab_exec::SharedError;

use crate::StackError;

/// A reason to leave a leftover alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// A file system, table or member on a device or in an image file.
    Signature {
        /// The device or file.
        on: PathBuf,
        /// Its type, as blkid calls it.
        kind: String,
        /// Of the content, if this type has one.
        uuid: Option<String>,
        /// Of the content, if it was given one.
        label: Option<String>,
    },
    /// A file system that something else mounted.
    Mount {
        /// What is mounted.
        source: PathBuf,
        /// Where.
        at: PathBuf,
    },
    /// A mapping, array or other device on top.
    Holder {
        /// The device below.
        device: PathBuf,
        /// The device above, which the run did not make.
        holder: PathBuf,
    },
    /// Something has a device or file open exclusively, or swaps to it.
    Busy(PathBuf),
    /// A file or directory that the run did not make.
    File(PathBuf),
    /// Another file or directory than the one that the run made.
    Replaced(PathBuf),
    /// A process that the run did not start.
    Process {
        /// The file, directory or device that it has open.
        uses: PathBuf,
        /// Its number and name.
        process: String,
    },
    /// A logical volume or ZFS dataset that the run did not make.
    Volume(String),
    /// A device that the run did not add to an array, pool, volume group or file system.
    Member(String),
    /// It cannot be inspected, or could not be removed after something on it was left alone.
    Failed(SharedError<StackError>),
    /// Something whose content cannot be inspected.
    Unseen {
        /// The device or file that was to be inspected.
        on: PathBuf,
        /// What is there.
        content: UnseenContent,
    },
}

/// What cannot be inspected, and so may be somebody's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnseenContent {
    /// A member of a RAID array that is not assembled.
    RaidMember,
    /// A physical volume of a volume group that is not active.
    PhysicalVolume,
    /// A drive of a ZFS pool that is not imported.
    PoolMember,
    /// A device of a Btrfs that has several.
    BtrfsMember,
    /// A member of an array that was assembled and does not start.
    StoppedArray,
    /// blkid finds signatures of several kinds.
    Ambivalent,
    /// A mounted file system.
    Mounted(SharedError<StackError>),
}

impl fmt::Display for UnseenContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, remedy) = match self {
            Self::RaidMember => ("a member of a RAID array", "assemble it (mdadm --assemble)"),
            Self::PhysicalVolume => ("a part of a volume group", "activate that (vgchange -ay)"),
            Self::PoolMember => ("a part of a ZFS pool", "import that (zpool import)"),
            Self::BtrfsMember => {
                ("a part of a Btrfs", "attach all of its devices (losetup --find --partscan)")
            }
            Self::StoppedArray => {
                return f.write_str(
                    "a member of a RAID array that does not start, so that its content cannot be \
                     inspected; look at it with `mdadm --examine`",
                );
            }
            Self::Ambivalent => {
                return f.write_str(
                    "blkid finds more than one content; `wipefs` without options lists them",
                );
            }
            Self::Mounted(error) => {
                return write!(f, "what is mounted there cannot be inspected: {error}");
            }
        };
        write!(f, "{what}, whose content cannot be inspected while it is not assembled; {remedy}")
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature { on, kind, uuid, label } => {
                write!(f, "{} holds {kind}", on.display())?;
                if let Some(uuid) = uuid {
                    write!(f, ", UUID {uuid}")?;
                }
                if let Some(label) = label {
                    write!(f, ", label '{label}'")?;
                }
                f.write_str(", which the run did not make")
            }
            Self::Mount { source, at } => {
                write!(f, "{} is mounted at {}", source.display(), at.display())
            }
            Self::Holder { device, holder } => {
                write!(f, "{} uses {}", holder.display(), device.display())
            }
            Self::Busy(path) => write!(f, "{} is in use", path.display()),
            Self::File(path) => write!(f, "the run did not make {}", path.display()),
            Self::Replaced(path) => {
                write!(f, "{} is no longer what the run made", path.display())
            }
            Self::Process { uses, process } => {
                write!(f, "{process} uses {}", uses.display())
            }
            Self::Volume(name) => write!(f, "the run did not make the volume {name}"),
            Self::Member(name) => {
                write!(f, "{name} is a part of it, and the run did not add it")
            }
            Self::Failed(error) => error.fmt(f),
            Self::Unseen { on, content } => write!(f, "{}: {content}", on.display()),
        }
    }
}
