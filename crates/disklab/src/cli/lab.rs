//! The command line of `disklab lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Build the lab's kernel, where it is not built yet, and say where it is.
    /// Takes some minutes, once; needs no root.
    Build(BuildArgs),
    /// Measure how fast the lab is on this machine.
    Bench(BenchArgs),
}

#[derive(Debug, Args)]
pub struct BuildArgs {
    /// An unpacked source of Linux 6.12 or later, which is only read; Debian's
    /// package linux-source-6.12 if absent.
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct BenchArgs {}
