//! The command line of `disklab compare`.

use std::path::PathBuf;

use clap::Args;

/// Hold runs against what was published about their studies.
///
/// Each published figure or claim with ours beside it, their ratio, and whether it is
/// met; why not, where that is known. Missing a published figure is no error: the exit
/// code is 0.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The runs' folders.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Against what was published about the runs' studies.
    #[arg(long, required = true)]
    pub published: bool,
    /// The file to write, in Markdown; standard output if absent.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
