//! The command line of `disklab archive`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use disklab_study::Measure;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::option_value_error::OptionValueError;

const EXAMPLES: &str = "Examples:
  disklab archive add ~/runs/2026-*
  disklab archive query 'single/ext4:write-*' --since 2026-03-01
  disklab archive query --changed --measure latency-p99 --format csv

Environment:
  DISKLAB_ARCHIVE  the archive if --archive is not given: a file or postgres://…, whose password is
                   seen by nobody there
  XDG_DATA_HOME    where disklab/archive.sqlite is otherwise";

/// Keep the figures of many runs in one database, and ask what became of them.
///
/// A run is read, never changed, and its figures are kept with their intervals, stacks, drives,
/// kernels and times: in a SQLite file, or on a PostgreSQL server, which several machines may fill. `query`
/// shows a figure over time, and where it changed. docs/generated/archive.md has the tables.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum ArchiveCommand {
    /// Add runs: all of them, or none. They may be of earlier versions, or cut off. A run that is there
    /// already, wherever it lies, is added again only if it has other cells by now.
    Add(ArchiveAddArgs),
    /// List the runs, the oldest first.
    List(ArchiveListArgs),
    /// Show figures over time, one series for each stack, workload and setting, and where they changed.
    ///
    /// Figures are one series if they agree in study, stack, workload, levels, step and direction, and their
    /// runs in bench, scale and the options on which figures depend, of real machines in processor and memory.
    /// Kernels, versions and the study's text may differ: what of them changed where the figure did is said. Runs
    /// are in the order in which they began, by the clocks of their machines.
    ///
    /// A change is a change point by PELT, the method that finds a step's steady part, with a penalty of 8 ln n
    /// for independent values: of series without a change at most one in fifty claims any, and one of four
    /// deviations in the middle of thirty runs is found. It needs two runs on each side, and a series eight.
    Query(ArchiveQueryArgs),
}

/// Which archive.
#[derive(Debug, Clone, Args)]
pub struct ArchiveArgs {
    /// The archive: a file, or postgres://USER@HOST/DATABASE (without TLS: by a local socket or a
    /// tunnel). [default: that of DISKLAB_ARCHIVE, or archive.sqlite in the user's data directory]
    #[arg(long, value_name = "PATH|URL")]
    pub archive: Option<String>,
}

impl ArchiveArgs {
    /// The archive that is meant.
    pub fn name(&self) -> String {
        let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let absolute =
            |name: &str| given(name).map(PathBuf::from).filter(|path| path.is_absolute());
        self.archive.clone().or_else(|| given("DISKLAB_ARCHIVE")).unwrap_or_else(|| {
            let data = absolute("XDG_DATA_HOME")
                .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
                .unwrap_or_else(|| PathBuf::from("/var/lib"));
            data.join("disklab/archive.sqlite").to_string_lossy().into_owned()
        })
    }
}

#[derive(Debug, Args)]
pub struct ArchiveAddArgs {
    /// Directories of runs, which are not changed.
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub archive: ArchiveArgs,
}

#[derive(Debug, Args)]
pub struct ArchiveListArgs {
    /// As what to print it.
    #[arg(long, value_enum, default_value = "text")]
    pub format: ArchiveFormat,
    #[command(flatten)]
    pub archive: ArchiveArgs,
}

#[derive(Debug, Args)]
pub struct ArchiveQueryArgs {
    /// Figures whose STACK:WORKLOAD matches, such as 'raid5/*:write-*'; without a ':', whose stack
    /// or workload matches. [default: all]
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Only of this study, by its id or a pattern.
    #[arg(long, value_name = "STUDY")]
    pub study: Option<String>,
    /// What was measured: throughput, iops, latency-p50, latency-p99, latency-p999, elapsed or missed.
    #[arg(long, value_name = "MEASURE", value_parser = parse_measure, default_value = "throughput")]
    pub measure: Measure,
    /// Only runs that began then or later: a date (at 0:00 UTC), or a time such as 2026-03-01T02:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub since: Option<Timestamp>,
    /// Only runs that began before.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub until: Option<Timestamp>,
    /// Only figures that changed.
    #[arg(long)]
    pub changed: bool,
    /// As what to print them.
    #[arg(long, value_enum, default_value = "text")]
    pub format: ArchiveFormat,
    #[command(flatten)]
    pub archive: ArchiveArgs,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArchiveFormat {
    /// For people.
    Text,
    /// One line for each run, or for each run of each figure.
    Csv,
    /// Everything, for programs.
    Json,
}

fn parse_measure(text: &str) -> Result<Measure, OptionValueError> {
    let known = Measure::WORDS.iter().find(|(word, _)| *word == text);
    known.map(|(_, measure)| *measure).ok_or(OptionValueError::Measure)
}

fn parse_time(text: &str) -> Result<Timestamp, OptionValueError> {
    let midnight = || {
        // A `Date` is also read from a time of a day, which would be lost.
        let date = (text.len() == "2026-03-01".len()).then(|| text.parse::<Date>().ok())??;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    text.parse().ok().or_else(midnight).ok_or(OptionValueError::Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_or_moments() {
        let midnight = parse_time("2026-03-01").expect("a date");
        assert_eq!(midnight.to_string(), "2026-03-01T00:00:00Z");
        assert_eq!(parse_time("2026-03-01T01:00+01:00"), Ok(midnight));
        for text in ["", "March", "2026-02-30", "2026-03-01T01:00", "1"] {
            assert_eq!(parse_time(text), Err(OptionValueError::Time), "{text}");
        }
    }
}
