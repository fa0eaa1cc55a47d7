//! `disklab lab`: the kernel, a shell with modelled drives, the lab's speed.

mod against;
mod bench;
pub mod build;
mod build_progress;
mod shell;

use crate::cli::LabCommand;
use crate::exit::Failure;

/// Carries out one of the lab's commands and returns the exit code.
pub fn dispatch(command: &LabCommand, json: bool) -> Result<u8, Failure> {
    match command {
        LabCommand::Build(args) => build::build(args, json),
        LabCommand::Shell(args) => shell::shell(args),
        LabCommand::Bench(args) => bench::bench(args, json),
    }
}
