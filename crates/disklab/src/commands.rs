//! The commands, one file each.

mod archive;
mod caller;
mod cell;
mod compare;
mod doctor;
pub mod drive;
mod drive_pass;
mod ending;
mod filebench;
mod fio;
mod generate;
mod import;
pub mod lab;
mod list;
mod merge;
mod outputs;
mod parts;
mod plan;
mod report;
mod risk;
mod run;
mod run_at;
mod sensitivity;
mod shipped;
pub mod submit;

use crate::cli::{Cli, CliCommand};
use crate::exit::Failure;

/// Carries out the command and returns the exit code.
pub fn dispatch(cli: Cli) -> Result<u8, Failure> {
    let json = cli.json;
    match cli.command {
        CliCommand::Run(args) => run::run(args, json),
        CliCommand::Plan(args) => plan::plan(&args, json),
        CliCommand::Cell(args) => cell::cell(&args, json),
        CliCommand::Report(args) => report::report(&args),
        CliCommand::Shipped(args) => shipped::shipped(&args, json),
        CliCommand::Compare(args) => compare::compare(&args, json),
        CliCommand::Merge(args) => merge::merge(&args, json),
        CliCommand::Archive(command) => archive::archive(&command, json),
        CliCommand::Import(args) => import::import(args, json),
        CliCommand::Rebuild(args) => drive_pass::rebuild(args, json),
        CliCommand::Scrub(args) => drive_pass::scrub(args, json),
        CliCommand::Sensitivity(args) => sensitivity::sensitivity_command(&args, json),
        CliCommand::Risk(args) => risk::risk(&args, json),
        CliCommand::List { what } => list::list(what, json),
        CliCommand::Doctor(args) => doctor::doctor(&args, json),
        CliCommand::Drive(args) => drive::drive(&args, json),
        CliCommand::Fio(args) => fio::fio(&args, json),
        CliCommand::Filebench(args) => filebench::filebench(&args, json),
        CliCommand::Lab(command) => lab::dispatch(&command, json),
        CliCommand::Completions { shell } => generate::completions(&shell),
        CliCommand::Man { directory } => generate::man_pages(&directory),
    }
}
