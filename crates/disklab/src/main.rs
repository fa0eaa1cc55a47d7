//! disklab: which file system, which RAID type, which options, on these disks,
//! for this work?

// The doc comments of options are their help, where brackets are no links.
#![allow(rustdoc::broken_intra_doc_links)]

#[macro_use]
mod said;

mod cli;
mod commands;
mod exit;
mod log;
mod printing;
mod progress;
mod shipped;
mod signals;
mod watcher;
mod words;

use std::process::ExitCode;

use clap::FromArgMatches;

fn main() -> ExitCode {
    // Where there is no program for guests next to this one.
    disklab_guest::run_if_guest();
    match cli::complete::answer_shell(<cli::Cli as clap::CommandFactory>::command) {
        Ok(false) => {}
        Ok(true) => return ExitCode::from(exit::DONE),
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(exit::USAGE_ERROR);
        }
    }
    if let Err(failure) = cli::check_words(std::env::args_os()) {
        eprintln!("disklab: {failure}");
        return ExitCode::from(failure.code);
    }
    let mut command = cli::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let cli = matches.and_then(|matches| {
        cli::Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    });
    let cli = match cli {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USAGE_ERROR } else { exit::DONE });
        }
    };
    if let Err(error) = log::start() {
        eprintln!("disklab: {error}");
        return ExitCode::from(exit::USAGE_ERROR);
    }
    match commands::dispatch(cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("disklab: {failure}");
            ExitCode::from(failure.code)
        }
    }
}
