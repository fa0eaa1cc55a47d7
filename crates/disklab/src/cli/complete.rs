//! What a shell may complete: the names of studies, drives and processors, and files.
//!
//! The scripts that shells load ask this program itself, so that they know what it knows.

use std::ffi::OsStr;

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{CompleteEnv, Shells};

use crate::exit::Failure;

/// The variable by which a shell's script asks.
const ASKED_BY: &str = "DISKLAB_COMPLETE";

/// Answers a shell's script, if it is one that asks, about this command line. Returns whether it did.
///
/// # Errors
/// As clap has it, such as for an unknown shell.
pub fn answer_shell(command: impl Fn() -> clap::Command) -> Result<bool, clap::Error> {
    let here = std::env::current_dir().ok();
    CompleteEnv::with_factory(command)
        .var(ASKED_BY)
        .try_complete(std::env::args_os(), here.as_deref())
}

/// The script that a shell loads.
///
/// # Errors
/// If the shell is not one that can be completed for.
pub fn script(shell: &str) -> Result<String, Failure> {
    let shells = Shells::builtins();
    let known = shells.completer(shell).ok_or_else(|| {
        let names: Vec<_> = shells.names().collect();
        Failure::usage_error(format!("unknown shell '{shell}'; known: {}", names.join(", ")))
    })?;
    let mut text = Vec::new();
    known
        .write_registration(ASKED_BY, "disklab", "disklab", "disklab", &mut text)
        .map_err(Failure::failed)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Shipped studies, and files.
pub fn study(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = disklab_runner::SHIPPED_STUDIES.iter().map(|(id, _)| (*id).to_owned());
    or_files(current, names)
}

/// Drive models, and files. What follows a ':' is the user's.
pub fn drive(current: &OsStr) -> Vec<CompletionCandidate> {
    let aliases = disklab_drive::SHIPPED.iter().filter_map(|(id, _)| disklab_drive::shipped(id));
    let names = aliases.flat_map(|drive| {
        drive
            .aliases
            .iter()
            .map(|name| (*name).to_owned())
            .chain([drive.id.clone()])
            .collect::<Vec<_>>()
    });
    or_files(current, names)
}

/// Processors, and files.
pub fn processor(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = disklab_processor::SHIPPED.iter().map(|(id, _)| (*id).to_owned());
    or_files(current, names.chain(["none".to_owned()]))
}

fn or_files(current: &OsStr, names: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    let begun = current.to_string_lossy();
    let names = names.filter(|name| name.starts_with(&*begun)).map(CompletionCandidate::new);
    names.chain(PathCompleter::any().complete(current)).collect()
}
