//! What the answers have in common: the real programs, the drives, and why there is no answer.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::drives::DriveFacts;
use crate::shell::replaced::real_program;

/// Why a program of the lab cannot answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum ToolError {
    /// There is no real program.
    #[error("{0} is not installed on this machine")]
    NotInstalled(&'static str),
    /// The real program does not start.
    #[error("cannot start {name}: {source}")]
    Start {
        /// The program.
        name: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The drive's cache stays as it is.
    #[error("cannot switch the cache: {0}")]
    Cache(#[source] std::io::Error),
    /// The drive's cache keeps what is in it.
    #[error("cannot flush the cache: {0}")]
    Flush(#[source] std::io::Error),
    /// The drive takes no ATA commands.
    #[error(
        "hdparm asks by ATA, and /dev/{node} is a {bus} drive: `smartctl -i /dev/{node}` tells what \
         it is, and `echo write through > {switch}` switches its write cache off"
    )]
    NoAta {
        /// The kernel's name of it.
        node: String,
        /// What it is attached by.
        bus: &'static str,
        /// Where its write cache is switched.
        switch: String,
    },
}

/// Has the real program read `text` from its standard input.
pub(super) fn feed_real(
    name: &'static str,
    words: &[&str],
    text: &str,
) -> Result<ExitStatus, ToolError> {
    let program = real_program(name).ok_or(ToolError::NotInstalled(name))?;
    let _ = std::io::stdout().flush();
    let failed = |source| ToolError::Start { name, source };
    let mut child =
        Command::new(program).args(words).stdin(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // It ends without reading where its options are wrong, and says so.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().map_err(failed)
}

/// Becomes the real program.
pub(super) fn become_real(name: &'static str, words: &[String]) -> u8 {
    let Some(program) = real_program(name) else {
        eprintln!("disklab: {}", ToolError::NotInstalled(name));
        return 127;
    };
    let error = Command::new(&program).args(words).exec();
    eprintln!("disklab: cannot start '{}': {error}", program.display());
    126
}

/// The modelled drive that a path leads to: its node, one of its partitions', or a link.
pub(super) fn drive_of<'a>(path: &str, drives: &'a [DriveFacts]) -> Option<&'a DriveFacts> {
    let path = std::fs::canonicalize(path).ok()?;
    let name = path.strip_prefix("/dev").ok()?.to_str()?;
    drives.iter().find(|drive| {
        let rest = name.strip_prefix(drive.node.as_str());
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Switches a drive's write cache, what is in it being written first, as hdparm and smartctl have
/// it.
pub(super) fn set_write_cache(drive: &DriveFacts, on: bool) -> std::io::Result<()> {
    std::fs::File::open(Path::new("/dev").join(&drive.node))?.sync_all()?;
    std::fs::write(drive.cache_switch(), if on { "write back" } else { "write through" })
}
