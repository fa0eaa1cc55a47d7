//! Programs of the guest that answer for modelled drives what the programs of the same name
//! would ask the drives themselves: a virtio disk passes no ATA or SCSI command on.
//!
//! Each is one line in [`TOOLS`]; a script in the guest's `PATH` stands before the real one.

mod hdparm;
mod real;
mod smartctl;
mod udevadm;

use std::path::Path;

use disklab_lab_guest::LAB_DIRECTORY;

use super::drives::DriveFacts;
use super::shell::session::ShellSession;

/// The first argument by which this program knows that it is to be one of them.
const WORD: &str = "guest-tool";

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
pub fn run_if_tool() {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != WORD) {
        return;
    }
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let (Some(name), Ok(session)) = (words.next(), ShellSession::read(Path::new(LAB_DIRECTORY)))
    else {
        return;
    };
    if let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) {
        let words: Vec<String> = words.collect();
        std::process::exit((tool.answer)(&words, &session.drives).into());
    }
}
