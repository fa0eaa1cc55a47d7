//! The command line of `disklab rebuild`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCompleter;

use super::{StudyArgs, complete};

/// Measure how long a stack lacks redundancy when a drive fails.
///
/// Each stack of a study that survives it loses a drive, which is replaced by a blank one. Reports
/// how long it takes until the stack is redundant again, for the whole drive and with an interval,
/// and what bounds that. The rebuild is measured at places all over the drive, other ones in each
/// repeat. With --load, other work runs before, without the drive, and while it is rebuilt, and is
/// compared. Stacks whose rebuild cannot begin anywhere are left out. Continue with `disklab run
/// --resume`.
#[derive(Debug, Args)]
pub struct RebuildArgs {
    /// A shipped study's id (see `disklab list studies`) or a file.
    #[arg(add = ArgValueCompleter::new(complete::study))]
    pub study: String,
    /// The number of the drive that fails, counted from 1 in each stack. [default: drawn for each
    /// repeat]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096),
          help_heading = "What")]
    pub fail: Option<u32>,
    /// Work of the study that runs meanwhile, one of its fio jobs. With its step, if it has several.
    #[arg(long, value_name = "WORKLOAD[:STEP]", help_heading = "What")]
    pub load: Option<String>,
    #[command(flatten)]
    pub campaign: StudyArgs,
    /// Do not ask before erasing.
    #[arg(long, help_heading = "Disks")]
    pub yes: bool,
    /// The run's directory, new or empty. [default: named after the study and the time]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
}
