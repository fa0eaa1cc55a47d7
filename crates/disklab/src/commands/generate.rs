//! Shell completions and man pages, from the same definitions as the parser.

use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use super::outputs::{OutputError, write_own};
use crate::cli::{Cli, complete};
use crate::exit::{DONE, Failure};

/// Writes the script that a shell loads to standard output.
pub fn completions(shell: &str) -> Result<u8, Failure> {
    crate::printing::print(&complete::script(shell)?)?;
    Ok(DONE)
}

/// Writes a man page for disklab and one for each command into `directory`.
pub fn man_pages(directory: &Path) -> Result<u8, Failure> {
    let mut pages = Vec::new();
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    render(&command, &mut pages).map_err(Failure::failed)?;
    for (name, text) in pages {
        // A page of the same title is one of disklab's.
        let title = title(&text).map(str::to_owned);
        write_own(directory, &name, &text, |head| {
            title.is_some() && self::title(head) == title.as_deref()
        })
        .map_err(OutputError::into_usage_error)?;
    }
    Ok(DONE)
}

/// The pages of a command and all below it, with their files' names.
fn render(command: &clap::Command, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        render(below, pages)?;
    }
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push((man.get_filename(), String::from_utf8_lossy(&text).into_owned()));
    Ok(())
}

/// What a man page is about, as its line `.TH disklab-run 1 …` has it.
fn title(page: &str) -> Option<&str> {
    page.lines().find_map(|line| line.strip_prefix(".TH "))?.split_whitespace().next()
}
