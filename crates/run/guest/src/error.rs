//! Why the guest's first program did not do its job.

use std::io;

use disklab_bench::GuestError;
use disklab_speed::GuestWorkError;

use super::shell::SessionError;

/// Why the guest's first program did not do its job. It is printed on the console, where the
/// host looks for it.
#[derive(Debug, thiserror::Error)]
pub enum FirstProgramError {
    /// The guest's own file systems could not be mounted.
    #[error(transparent)]
    Begin(io::Error),
    /// The kernel's command line names no job.
    #[error("which job?")]
    NoJob,
    /// It names one that this build does not have.
    #[error("an unknown job")]
    UnknownJob,
    /// A cell has no answer.
    #[error(transparent)]
    Cell(#[from] GuestError),
    /// Work whose speed is measured was not done.
    #[error(transparent)]
    Speed(#[from] GuestWorkError),
    /// A session ended before its shell.
    #[error(transparent)]
    Session(#[from] SessionError),
}
