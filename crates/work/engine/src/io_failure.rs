//! What ends a job while it runs.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use disklab_content::SpecError;
use disklab_exec::SharedError;

use crate::error::{EngineError, words};
use crate::verify_error::{CheckerError, Mismatch};

/// What ends a job before it has done all.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum IoFailure {
    /// The system refused an I/O.
    #[error(
        "cannot {request} {} at offset {offset}: {}{}",
        path.display(),
        words(source),
        direct.map(|direct| format!("; {direct}")).unwrap_or_default()
    )]
    Io {
        /// What was asked for: `read`, `fsync`.
        request: &'static str,
        /// Of which file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// The system's reason.
        source: SharedError<io::Error>,
        /// What direct I/O takes there, if that may be the reason.
        direct: Option<DirectLimits>,
    },
    /// A file ended before an I/O.
    #[error("{} ends before offset {offset}, where it was to be {request}", path.display())]
    TooShort {
        /// The file.
        path: PathBuf,
        /// Where the I/O was to be.
        offset: u64,
        /// What was asked for.
        request: &'static str,
    },
    /// The kernel takes no I/O at all.
    #[error("cannot {action}: {}", words(source))]
    Kernel {
        /// What was tried: 'submit I/Os'.
        action: &'static str,
        /// The system's reason.
        source: SharedError<io::Error>,
    },
    /// All files are shorter than a block.
    #[error("no I/O of this job fits into its files: make them larger than a block")]
    NothingFits,
    /// Buffers of all I/Os in flight do not fit into an address space.
    #[error("iodepth and block size ask for too much memory: make one of them smaller")]
    TooMuchMemory,
    /// The content of its writes cannot be made.
    #[error(transparent)]
    Content(#[from] SpecError),
    /// Its checks cannot be made.
    #[error(transparent)]
    Check(#[from] CheckerError),
    /// What was read back is not what was written.
    #[error("verify: in {}, {mismatch}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        mismatch: Mismatch,
    },
    /// `latency_target` cannot be kept.
    #[error("latency_target: an I/O alone took longer than {0:?}")]
    LatencyTarget(Duration),
    /// `rate_min` or `rate_iops_min` was not reached.
    #[error("{option}: {requests} reached {reached:.0} per second, not {least}")]
    Slow {
        /// Which of the two options asked for it.
        option: &'static str,
        /// 'reads' or 'writes'.
        requests: &'static str,
        /// Per second.
        reached: f64,
        /// Per second.
        least: u64,
    },
    /// A file could not be opened, made or removed between I/Os.
    #[error(transparent)]
    Engine(SharedError<EngineError>),
    /// A defect of disklab.
    #[error("this is a bug of disklab: the thread of this clone panicked; report it")]
    Panicked,
}

impl IoFailure {
    /// fio's number for it.
    pub fn errno(&self) -> i32 {
        let system = |error: &io::Error| error.raw_os_error().unwrap_or(libc::EIO);
        match self {
            Self::Io { source, .. } | Self::Kernel { source, .. } => system(source),
            Self::Engine(error) => match &**error {
                EngineError::System { source, .. } => system(source),
                _ => libc::EIO,
            },
            Self::NothingFits | Self::TooMuchMemory | Self::Content(_) | Self::Check(_) => {
                libc::EINVAL
            }
            Self::Damaged { .. } => libc::EILSEQ,
            Self::LatencyTarget(_) => libc::ETIMEDOUT,
            Self::TooShort { .. } | Self::Slow { .. } | Self::Panicked => libc::EIO,
        }
    }

    /// What to call on the error of a system call.
    pub(crate) fn kernel(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Kernel { action, source: source.into() }
    }
}

impl From<EngineError> for IoFailure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error.into())
    }
}

/// What direct I/O takes of a file (statx(2), `STATX_DIOALIGN`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectLimits {
    /// This kernel does not say.
    Unknown,
    /// There is none.
    Unsupported,
    /// Offsets and lengths are multiples of so many bytes.
    Multiples(u32),
}

impl fmt::Display for DirectLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str(
                "with direct=1, offsets and block sizes have to be multiples of the file system's \
                 block",
            ),
            Self::Unsupported => {
                f.write_str("this file system has no direct I/O for this file: set direct=0")
            }
            Self::Multiples(bytes) => write!(
                f,
                "direct I/O on this file needs offsets and block sizes that are multiples of \
                 {bytes} bytes"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errno_is_that_of_the_system_or_of_fio() {
        let source = || io::Error::from_raw_os_error(libc::ENOSPC).into();
        let io = IoFailure::Io {
            request: "write",
            path: "/x".into(),
            offset: 4096,
            source: source(),
            direct: Some(DirectLimits::Multiples(512)),
        };
        let expected = "cannot write /x at offset 4096: No space left on device; direct I/O on \
                        this file needs offsets and block sizes that are multiples of 512 bytes";
        assert_eq!((io.errno(), io.to_string().as_str()), (libc::ENOSPC, expected));
        let action = "allocate";
        let denied = io::Error::from_raw_os_error(libc::ENOMEM);
        let engine = IoFailure::from(EngineError::System { action, source: denied });
        assert_eq!(engine.errno(), libc::ENOMEM);
        let other = io::Error::other("no errno");
        assert_eq!(IoFailure::kernel("submit I/Os")(other).errno(), libc::EIO);
        assert_eq!(IoFailure::NothingFits.errno(), libc::EINVAL);
    }
}
