//! The commands, one file each.

mod archive;
mod cell;
mod compare;
mod doctor;
pub mod drive;
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

use disklab_report::TextStyle;
use disklab_runner::{Caller, KernelBuilder, state_folder};
use disklab_source::{printable, printable_json};

use crate::cli::{Cli, CliCommand};
use crate::exit::Failure;
use crate::signals;

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
        CliCommand::Sensitivity(args) => sensitivity::sensitivity_command(&args, json),
        CliCommand::Risk(args) => risk::risk(&args, json),
        CliCommand::List { what } => list::list(what, json),
        CliCommand::Doctor(args) => doctor::doctor(&args, json),
        CliCommand::Drive(args) => drive::drive(&args, json),
        CliCommand::Fio(args) => fio::fio(&args, json),
        CliCommand::Filebench(args) => filebench::filebench(&args, json),
        CliCommand::Lab(command) => lab::dispatch(&command, json),
        CliCommand::Completions { shell } => generate::completions(&shell),
        CliCommand::Man { folder } => generate::man_pages(&folder),
    }
}

/// What this program gives to all runs.
fn caller() -> Result<Caller, Failure> {
    let kernels = KernelBuilder { plain: lab::build::ensure, zfs: lab::build::ensure_zfs };
    Ok(Caller { interrupt: signals::interrupt()?, state: state_folder(), kernels })
}

/// Prints to standard output, with what a terminal would obey made visible; a reader that
/// has gone away is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_styled(&printable(text))
}

/// Whether standard output may have colours (<https://no-color.org>).
pub fn has_colour() -> bool {
    use std::io::IsTerminal;
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// How a first screen on standard output may look. With `verbose` it is as long as it is.
pub fn style_of_output(verbose: bool) -> TextStyle {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    // Where a terminal does not know its size, it says 0.
    let rows = size.map(|size| size.ws_row).filter(|rows| *rows > 0 && !verbose);
    let columns = size.map(|size| size.ws_col).filter(|columns| *columns > 0);
    TextStyle { colour: has_colour(), verbose, rows, columns }
}

/// Prints a text whose styles are our own, and all else of which is printable.
pub fn print_styled(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let result = std::io::stdout().lock().write_all(text.as_bytes());
    match result {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)?;
    print(&format!("{}\n", printable_json(&text)))
}
