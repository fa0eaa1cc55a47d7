//! The command line of `disklab sensitivity`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCompleter;

use super::complete;
use super::parts::DivisionArgs;
use super::study::StudyArgs;

/// Find claims that depend on an uncertain drive parameter.
///
/// The claims are what was published about the study. If nothing was, they are what its run says
/// of each stack compared with its baseline. Runs their cells in the lab as shipped, and once
/// more with each uncertain parameter at each end of its plausible range (the table [plausible]
/// of the drive's file), one at a time. Then reports which figures change, and which claims
/// reverse or are no longer reproduced. With --drawn, all parameters are moved at once. An
/// interrupted analysis continues with --resume.
#[derive(Debug, Args)]
pub struct SensitivityArgs {
    /// A shipped study's id or a file. May be left out with --resume.
    #[arg(required_unless_present = "resume")]
    pub study: Option<String>,
    #[command(flatten)]
    pub campaign: StudyArgs,
    /// Only parameters of this drive model. Repeatable.
    #[arg(
        long,
        value_name = "MODEL",
        conflicts_with = "resume",
        help_heading = "What",
        add = ArgValueCompleter::new(complete::drive)
    )]
    pub drive: Vec<String>,
    /// Only parameters that match, such as 'seek.*'. Repeatable.
    #[arg(long, value_name = "PATTERN", conflicts_with = "resume", help_heading = "What")]
    pub field: Vec<String>,
    /// Instead of one parameter at a time: N other drives, each with all its parameters at
    /// randomly drawn ends of their ranges. Reports which claims hold whatever the values are,
    /// in a fraction of the time.
    #[arg(long, value_name = "N", conflicts_with = "resume", help_heading = "What",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub drawn: Option<u32>,
    /// Print which runs there would be and how long they would take, and stop.
    #[arg(long, conflicts_with_all = ["resume", "divided"], help_heading = "Output")]
    pub plan: bool,
    /// Directory for the runs and the page. [default: named after the study and the time]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Resume the analysis in --out.
    #[arg(long, requires = "out", conflicts_with = "divided", help_heading = "Output")]
    pub resume: bool,
    #[command(flatten)]
    pub division: DivisionArgs,
}
