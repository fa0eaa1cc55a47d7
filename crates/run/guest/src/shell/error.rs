//! Why a session in the guest ends before its shell.

use std::io;
use std::path::PathBuf;

use disklab_bench::NotCharged;
use disklab_lab_guest::FrameError;

/// Why a session in the guest ends before its shell.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// What the host left could not be read.
    #[error("cannot read '{}': {source}", path.display())]
    Read {
        /// The session's file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What the host left is not a session.
    #[error("'{}': {source}", path.display())]
    Json {
        /// The session's file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A session could not be left for the guest.
    #[error("cannot write '{}': {source}", path.display())]
    Write {
        /// The session's file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The guest's console line could not be opened.
    #[error("cannot open the line to the host: {0}")]
    Line(#[source] io::Error),
    /// The host did not take what was said.
    #[error("cannot write to the host: {0}")]
    Say(#[source] io::Error),
    /// Nothing can be heard of the host.
    #[error("cannot read from the host: {0}")]
    Receive(#[source] io::Error),
    /// The host said what is not a frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// poll(2) failed.
    #[error("cannot wait for programs: {0}")]
    Wait(#[source] io::Error),
    /// There is no terminal for the shell.
    #[error("cannot make a terminal: {0}")]
    Terminal(#[source] io::Error),
    /// There is no pipe for the shell.
    #[error("cannot make a pipe: {0}")]
    Pipe(#[source] io::Error),
    /// A descriptor could not be duplicated.
    #[error(transparent)]
    Descriptor(io::Error),
    /// The shell did not start.
    #[error("cannot start a shell: {0}")]
    Start(#[source] io::Error),
    /// The shell has no process id that the system calls take.
    #[error("a shell without id")]
    NoProcessId,
    /// The kernel does not charge for CPU time as the session asks.
    #[error(transparent)]
    Charges(#[from] NotCharged),
}
