//! Shell completions and man pages, from the same definitions as the parser.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::{DONE, Failure};

/// Writes completions for `shell` to standard output.
pub fn completions(shell: Shell) -> Result<u8, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "disklab", &mut text);
    super::print(&String::from_utf8_lossy(&text))?;
    Ok(DONE)
}

/// Writes a man page for disklab and one for each command into `folder`.
pub fn man_pages(folder: &Path) -> Result<u8, Failure> {
    clap_mangen::generate_to(Cli::command(), folder).map_err(|e| {
        Failure::wrong_use(format!("cannot write man pages into {}: {e}", folder.display()))
    })?;
    Ok(DONE)
}
