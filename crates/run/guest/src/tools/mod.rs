//! Programs of the guest that answer for modelled drives what the programs of the same name
//! would ask the drives themselves: a virtio disk passes no ATA or SCSI command on.
//!
//! Each is one line in [`TOOLS`]; a script in the guest's `PATH` stands before the real one.

mod hdparm;
mod smartctl;
mod udevadm;

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use disklab_lab_guest::LAB_FOLDER;

use super::drives::DriveFacts;
use super::shell::replaced::real_program;
use super::shell::session::ShellSession;

/// The first argument by which this program knows that it is to be one of them.
const WORD: &str = "guest-tool";
/// Where the scripts are, before all other programs.
pub const PROGRAMS: &str = "/run/disklab/bin";

/// Answers with an exit code.
type Tool = fn(&[String], &[DriveFacts]) -> u8;

/// A program that is answered for.
struct GuestTool {
    name: &'static str,
    /// Whether it is there without the real one, too.
    stands_alone: bool,
    answer: Tool,
}

const TOOLS: [GuestTool; 3] = [
    GuestTool { name: "hdparm", stands_alone: false, answer: hdparm::hdparm },
    GuestTool { name: "smartctl", stands_alone: false, answer: smartctl::smartctl },
    GuestTool { name: "udevadm", stands_alone: true, answer: udevadm::udevadm },
];

/// The scripts by which they are called: this program, which is the guest's first, under another
/// name.
pub fn scripts() -> impl Iterator<Item = (&'static str, bool, String)> {
    TOOLS.iter().map(|GuestTool { name, stands_alone, .. }| {
        let script = format!(
            "#!/bin/sh\n# Answers for modelled drives; all else is the real {name}'s.\n\
             exec /proc/1/exe {WORD} {name} \"$@\"\n"
        );
        (*name, *stands_alone, script)
    })
}

/// Does the work of one of them and ends, where this process was called as one in a session's
/// guest; returns otherwise.
pub fn be_tool() {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != WORD) {
        return;
    }
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let (Some(name), Ok(session)) = (words.next(), ShellSession::read(Path::new(LAB_FOLDER)))
    else {
        return;
    };
    if let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) {
        let words: Vec<String> = words.collect();
        std::process::exit((tool.answer)(&words, &session.drives).into());
    }
}

/// Why a program of the lab cannot answer.
#[derive(Debug, thiserror::Error)]
enum ToolError {
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
         it is, and `echo write through > /sys/block/{node}/cache_type` switches its write cache \
         off"
    )]
    NoAta {
        /// The kernel's name of it.
        node: String,
        /// What it is attached by.
        bus: &'static str,
    },
}

/// Has the real program read `text` from its standard input.
fn feed_real(name: &'static str, words: &[&str], text: &str) -> Result<ExitStatus, ToolError> {
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
fn become_real(name: &'static str, words: &[String]) -> u8 {
    let Some(program) = real_program(name) else {
        eprintln!("disklab: {}", ToolError::NotInstalled(name));
        return 127;
    };
    let error = Command::new(&program).args(words).exec();
    eprintln!("disklab: cannot start '{}': {error}", program.display());
    126
}

/// The modelled drive that a path leads to: its node, one of its partitions', or a link.
fn drive_of<'a>(path: &str, drives: &'a [DriveFacts]) -> Option<&'a DriveFacts> {
    let path = std::fs::canonicalize(path).ok()?;
    let name = path.strip_prefix("/dev").ok()?.to_str()?;
    drives.iter().find(|drive| {
        let rest = name.strip_prefix(drive.node.as_str());
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Switches a drive's write cache, what is in it being written first, as hdparm and smartctl have
/// it.
fn set_write_cache(drive: &DriveFacts, on: bool) -> std::io::Result<()> {
    std::fs::File::open(Path::new("/dev").join(&drive.node))?.sync_all()?;
    std::fs::write(drive.cache_switch(), if on { "write back" } else { "write through" })
}
