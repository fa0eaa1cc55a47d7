//! Why it cannot be found out what is on a device.

use std::io;
use std::path::PathBuf;

use disklab_exec::ExecError;

/// Why a drive could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum InspectionError {
    /// A program failed.
    #[error(transparent)]
    Program(#[from] ExecError),
    /// What wipefs printed is no JSON.
    #[error("the output of wipefs is not JSON: {0}; update util-linux")]
    Json(#[from] serde_json::Error),
    /// What wipefs printed is something else.
    #[error("the output of wipefs has no list of signatures; update util-linux")]
    NoSignatures,
    /// An exit code of blkid that its manual page does not have.
    #[error("blkid ended with exit code {0}; update util-linux")]
    Blkid(i32),
    /// It was to be read, and is not open.
    #[error("{} is not open", .0.display())]
    NotOpen(PathBuf),
    /// Only root may open it.
    #[error("{} cannot be opened: that takes root", .0.display())]
    NotRoot(PathBuf),
    /// The system's reason.
    #[error("{} cannot be {what}: {source}", node.display())]
    Io {
        /// What was tried: 'opened'.
        what: &'static str,
        /// The path in /dev that was used.
        node: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The node leads to another device.
    #[error("{} is not the node of {device}", node.display())]
    OtherNode {
        /// The path in /dev that was opened.
        node: PathBuf,
        /// The kernel's name of the device that was expected behind it.
        device: String,
    },
    /// The kernel shows no mounts.
    #[error("/proc/self/mountinfo cannot be read; mount /proc")]
    NoMounts,
}
