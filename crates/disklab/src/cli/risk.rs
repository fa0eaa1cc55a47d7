//! The command line of `disklab risk`.

use std::time::Duration;

use clap::Args;
use clap_complete::ArgValueCompleter;
use disklab_study::DriveRequests;
use disklab_units::{ParseShareError, parse_duration, parse_share_within};

use super::complete;
use super::option_value_error::OptionValueError;

const EXAMPLES: &str = "Examples:
  disklab risk nas                                  four 10 TB drives, five years
  disklab risk nas --drives wd-red-pro-22tb:6 --spares 1
  disklab risk disklab-runs/nas-rebuild --years 3   with the rebuild times of a run";

/// Say how likely it is to lose data in some years, and what that depends on.
///
/// Of each stack: how long it lacks redundancy when a drive fails, and the chances to lose something
/// (all, or files whose sectors could not be read when nothing else had them) and to lose all. They
/// are simulated from published failure rates, from data sheets, and from the time of a rebuild,
/// which is a run's if it was measured there; next to them is what the usual formula says. Each
/// of these values can be given.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RiskArgs {
    /// A shipped study's id, a study's file, or the directory of a run.
    #[arg(value_name = "STUDY|RUN", add = ArgValueCompleter::new(complete::study))]
    pub of: String,
    /// For how many years.
    #[arg(long, value_name = "YEARS", default_value = "5", value_parser = parse_years)]
    pub years: f64,
    /// Drives in place of the study's, as `disklab run` takes them. Repeatable.
    #[arg(
        long,
        value_name = "MODEL[:COUNT[:SIZE]],…",
        add = ArgValueCompleter::new(complete::drive)
    )]
    pub drives: Vec<DriveRequests>,
    /// How many drives of a hundred fail in a year, such as 1.5%. [default: as published of the
    /// model, or of all]
    #[arg(long, value_name = "SHARE", value_parser = parse_failures)]
    pub failures: Option<f64>,
    /// Of how many bits that are read one cannot be, such as 1e14. [default: 1e15]
    #[arg(long, value_name = "BITS", value_parser = parse_bits)]
    pub unreadable: Option<f64>,
    /// How soon a failed drive is replaced, such as '12 h'. [default: 3 days]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub replaced_after: Option<Duration>,
    /// How long a rebuild takes. [default: as measured in the run; else one pass over the drive]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub rebuild: Option<Duration>,
    /// How many drives stand by, on which a rebuild begins at once.
    #[arg(long, value_name = "N", default_value = "0",
          value_parser = clap::value_parser!(u32).range(0..=100))]
    pub spares: u32,
    /// How full the stack is. ZFS and Btrfs rebuild no more than that.
    #[arg(long, value_name = "SHARE", default_value = "50%", value_parser = parse_used)]
    pub used: f64,
}

fn parse_years(text: &str) -> Result<f64, OptionValueError> {
    let years = text.trim().parse().ok();
    years.filter(|years| (0.01..=100.0).contains(years)).ok_or(OptionValueError::Years)
}

fn parse_failures(text: &str) -> Result<f64, ParseShareError> {
    parse_share_within(text, 1e-5..=1.0)
}

fn parse_used(text: &str) -> Result<f64, ParseShareError> {
    parse_share_within(text, 0.001..=1.0)
}

fn parse_bits(text: &str) -> Result<f64, OptionValueError> {
    let bits = text.trim().parse().ok();
    bits.filter(|bits| (1e9..=1e30).contains(bits)).ok_or(OptionValueError::Bits)
}
