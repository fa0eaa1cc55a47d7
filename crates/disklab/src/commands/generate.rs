//! Shell completions and man pages, from the same definitions as the parser.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::{Cli, complete};
use crate::exit::{DONE, Failure};

/// Writes the script that a shell loads to standard output.
pub fn completions(shell: &str) -> Result<u8, Failure> {
    super::print(&complete::script(shell)?)?;
    Ok(DONE)
}

/// Writes a man page for disklab and one for each command into `folder`.
pub fn man_pages(folder: &Path) -> Result<u8, Failure> {
    clap_mangen::generate_to(Cli::command(), folder).map_err(|e| {
        Failure::wrong_use(format!("cannot write man pages into {}: {e}", folder.display()))
    })?;
    Ok(DONE)
}
