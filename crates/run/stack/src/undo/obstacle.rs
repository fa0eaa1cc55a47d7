//! What is found on a leftover that the run did not make.

use std::fmt;
use std::path::PathBuf;

/// A reason to leave a leftover alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// A file system, table or member on a device or in an image file.
    Signature {
        /// The device or file.
        on: PathBuf,
        /// Its type, as blkid calls it.
        kind: String,
        /// Its UUID.
        uuid: Option<String>,
        /// Its label.
        label: Option<String>,
    },
    /// A mount.
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
        /// Its holder.
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
        /// What it uses.
        uses: PathBuf,
        /// Its number and name.
        process: String,
    },
    /// A logical volume or ZFS dataset that the run did not make.
    Volume(String),
    /// It could not be removed after something on it was left alone.
    Failed(String),
    /// Something whose content cannot be inspected.
    Unseen {
        /// What it is on.
        on: PathBuf,
        /// What is there, and why it cannot be inspected.
        why: String,
    },
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
            Self::Failed(why) => f.write_str(why),
            Self::Unseen { on, why } => write!(f, "{}: {why}", on.display()),
        }
    }
}
