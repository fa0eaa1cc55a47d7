//! The command line of `disklab lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Build the lab's kernel, where it is not built yet, and say where it is.
    /// Takes some minutes, once; needs no root.
    Build(BuildArgs),
    /// Measure how fast the lab is on this machine, in half a minute: what one
    /// simulated request costs, in round trips of 16 bytes between two processes
    /// (RT), and how fast data go. Wants two calm processors.
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
pub struct BenchArgs {
    /// The processor to measure on; the first that disklab may use if absent.
    #[arg(long, value_name = "N")]
    pub core: Option<usize>,
    /// How often everything is measured; medians are shown.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: u32,
}
