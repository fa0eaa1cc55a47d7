//! disklab: which file system, which RAID type, which options, on these disks,
//! for this work?

#[macro_use]
mod said;

mod adaptive;
mod cli;
mod commands;
mod exit;
mod guest;
mod on;
mod places;
mod progress;
mod recorder;
mod setup;
mod signals;
mod studies;
mod words;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    guest::be_guest();
    match cli::complete::answer_shell() {
        Ok(false) => {}
        Ok(true) => return ExitCode::from(exit::DONE),
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(exit::WRONG_USE);
        }
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::WRONG_USE } else { exit::DONE });
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("DISKLAB_LOG"))
        .with_writer(std::io::stderr)
        .init();
    match commands::dispatch(cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("disklab: {failure}");
            ExitCode::from(failure.code)
        }
    }
}
