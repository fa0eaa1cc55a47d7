//! The command line of `disklab sensitivity`.

use std::path::PathBuf;

use super::complete;
use clap::Args;
use clap_complete::ArgValueCompleter;

use super::CampaignArgs;

/// Ask which claims about a study hang on a value of a drive model that is not certain.
///
/// The claims are what was published about the study; of a study about which nothing was, what
/// its run says of each stack beside its baseline. Runs their cells in the lab as shipped, and
/// once more with each uncertain parameter at each end of its plausible range (the table
/// [plausible] of the drive's file), one at a time; then writes which figures move, and which
/// claims turn or are met and are not any more. With --drawn, all of them are moved at once.
/// Broken off, it goes on with --resume.
#[derive(Debug, Args)]
pub struct SensitivityArgs {
    /// A shipped study's id or a file. May be left out with --resume.
    #[arg(required_unless_present = "resume")]
    pub study: Option<String>,
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// Only parameters of this drive model; may be given several times.
    #[arg(
        long,
        value_name = "MODEL",
        conflicts_with = "resume",
        help_heading = "What",
        add = ArgValueCompleter::new(complete::drive)
    )]
    pub drive: Vec<String>,
    /// Only parameters that match, such as 'seek.*'; may be given several times.
    #[arg(long, value_name = "PATTERN", conflicts_with = "resume", help_heading = "What")]
    pub field: Vec<String>,
    /// Instead of one parameter at a time: this many other drives, of which each parameter
    /// stands at one of the ends of its range, drawn, all at once. Says which claims hold
    /// whatever the values are, and at a fraction of the time.
    #[arg(long, value_name = "N", conflicts_with = "resume", help_heading = "What",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub drawn: Option<u32>,
    /// Say which runs there would be and how long they would take, and stop.
    #[arg(long, conflicts_with = "resume", help_heading = "Output")]
    pub plan: bool,
    /// The folder for the runs and the page; named after the study and the time if absent.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Go on in the folder given by --out.
    #[arg(long, requires = "out", help_heading = "Output")]
    pub resume: bool,
}
