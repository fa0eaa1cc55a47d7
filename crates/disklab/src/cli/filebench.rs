//! `disklab filebench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::option_value_error::OptionValueError;

#[derive(Debug, Args)]
pub struct FilebenchArgs {
    /// A script in Filebench's language WML, or the name of a shipped personality,
    /// such as 'fileserver' (--list names them).
    #[arg(required_unless_present = "list")]
    pub file: Option<PathBuf>,
    /// Give a variable a value, as if the script had set it. Repeatable.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The directory in which the files are made, whatever the script says.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Seconds per run. [default: from the script]
    #[arg(long, value_name = "SECONDS", value_parser = run_seconds)]
    pub run: Option<Duration>,
    /// Run for so many seconds before each measurement.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub warm_up: Option<Duration>,
    /// Keep those flaws of Filebench 1.5 that change figures.
    #[arg(long)]
    pub strict: bool,
    /// What is written: 'pool' (pages that do not compress, some of them alike),
    /// 'random' or 'zeros', which Filebench writes.
    #[arg(long, value_name = "KIND", default_value = "pool", value_parser = ["pool", "random", "zeros"])]
    pub content: String,
    /// Seed of everything random.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// Leave the files where they are.
    #[arg(long)]
    pub keep: bool,
    /// List the shipped personalities.
    #[arg(long)]
    pub list: bool,
}

/// A run of no time measures nothing.
fn run_seconds(text: &str) -> Result<Duration, OptionValueError> {
    let time = seconds(text)?;
    if time.is_zero() { Err(OptionValueError::NoTime) } else { Ok(time) }
}

fn seconds(text: &str) -> Result<Duration, OptionValueError> {
    let seconds: f64 = text.parse().map_err(|_| OptionValueError::Seconds)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| OptionValueError::Seconds)
}
