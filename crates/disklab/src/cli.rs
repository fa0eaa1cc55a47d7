//! The command line: one definition for the parser, the help, the man pages and
//! the shell completions.

mod bus;
mod compare;
pub mod complete;
mod doctor;
mod drive;
mod filebench;
mod fio;
mod how_long;
mod import;
mod lab;
mod merge;
mod sensitivity;
mod shipped;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;
use disklab_store::RunInfo;
use disklab_units::Bytes;

use crate::exit::Failure;
use crate::on::On;

pub use bus::Bus;
pub use compare::CompareArgs;
pub use doctor::DoctorArgs;
pub use drive::DriveArgs;
pub use filebench::FilebenchArgs;
pub use fio::FioArgs;
pub use how_long::HowLongArgs;
pub use import::ImportArgs;
pub use lab::{BenchArgs, BuildArgs, LabCommand, ShellArgs};
pub use merge::MergeArgs;
pub use sensitivity::SensitivityArgs;
pub use shipped::ShippedArgs;

const EXIT_CODES: &str = "Exit codes:
  0    done
  1    a cell failed, or a finding is severe (the report says which)
  2    usage error or bad input, before anything was touched
  130  interrupted; go on with --resume

Environment:
  NO_COLOR        no colours
  DISKLAB_LOG     what to log: a level, such as 'debug', or 'disklab_lab=trace,…'
  XDG_STATE_HOME  where disklab remembers what it has made and must take down";

/// Which file system, which RAID type, which options, on these disks, for this
/// work? disklab measures it: a study is run on modelled drives in virtual time, on
/// loop files, in a directory or on real disks, and ends in a report with intervals.
#[derive(Debug, Parser)]
#[command(name = "disklab", version = crate::version::VERSION, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Answer in JSON, for programs.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Carry out a study, and write its report.
    Run(RunArgs),
    /// Say what a run would do and what it would cost. Touches nothing.
    Plan(PlanArgs),
    /// Write the report of a run.
    Report(ReportArgs),
    Shipped(ShippedArgs),
    Compare(CompareArgs),
    Merge(MergeArgs),
    Import(ImportArgs),
    Sensitivity(SensitivityArgs),
    /// List what disklab knows.
    List {
        /// What to list.
        what: Listed,
    },
    Doctor(DoctorArgs),
    Drive(DriveArgs),
    Fio(FioArgs),
    /// Run a Filebench personality in a directory, without Filebench.
    Filebench(FilebenchArgs),
    /// The lab: its kernel, a shell with modelled drives, its speed.
    #[command(subcommand)]
    Lab(LabCommand),
    /// Write shell completions to standard output.
    #[command(hide = true)]
    Completions {
        /// The shell: bash, zsh, fish, elvish or powershell.
        shell: String,
    },
    /// Write man pages into a folder.
    #[command(hide = true)]
    Man {
        /// The folder, which must exist.
        folder: PathBuf,
    },
}

/// What a campaign is, for `run`, `plan` and `sensitivity` alike.
#[derive(Debug, Clone, Args)]
pub struct CampaignArgs {
    /// Where to run: lab (modelled drives under a real kernel, in virtual time; no
    /// root), loop (files of this machine as disks), dir:PATH (a mounted directory;
    /// only files are made), disks:/dev/disk/by-id/…,… (real disks, erased).
    /// [default: lab]
    #[arg(long, value_name = "BENCH")]
    pub on: Option<On>,
    /// How often each cell runs; the study says if absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Seed of everything random, the order included; drawn if absent.
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Scale all file sizes by this: 1/16, 0.25, 2. [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = parse_scale, allow_hyphen_values = true)]
    pub scale: Option<f64>,
    /// Run only cells whose STACK:WORKLOAD matches, such as 'raid5/*:dd-*'; without a
    /// ':', whose stack or workload matches. Repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Skip cells that match, as for --only. Repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub without: Vec<String>,
    /// Size of a drive on the loop bench.
    #[arg(long, value_name = "SIZE")]
    pub drive_size: Option<Bytes>,
    /// In the lab: a guest's memory, the page cache included. [default: the study's, or
    /// 1 GiB]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// In the lab: charge for the processor's work as on this one: a shipped one, such
    /// as atom-d2700 (see `disklab list processors`), or a processor file; 'none' for
    /// free. [default: the study's, or none]
    #[arg(long, value_name = "PROCESSOR", add = ArgValueCompleter::new(complete::processor))]
    pub processor: Option<String>,
    /// In the lab: have all drives share a bus of this rate, such as '415 MB/s', as
    /// behind a port multiplier, a dock or a slow chipset; 'none' for one each.
    /// [default: the study's, or none]
    #[arg(long, value_name = "RATE")]
    pub bus: Option<Bus>,
    /// In the lab: give a field of a drive model another value than its file has, such
    /// as 'hgst-10tb:cache.dirty-limit=32 MiB'; may be given several times. The run and
    /// its report say so.
    #[arg(long, value_name = "MODEL:TABLE.FIELD=VALUE")]
    pub set_drive: Vec<String>,
    /// In the lab: a kernel to use instead of the one that `disklab lab build` makes; its
    /// digest is recorded. Goes before DISKLAB_LAB_KERNEL.
    #[arg(long, value_name = "PATH")]
    pub kernel: Option<PathBuf>,
    /// In the lab: how many cells run side by side; one on each processor if
    /// absent. Results do not depend on it.
    #[arg(long, value_name = "N")]
    pub at_once: Option<usize>,
    /// In the lab: virtual time after which a cell's guest is stopped, and the cell
    /// has failed. [default: 30 d]
    #[arg(long, value_name = "TIME", value_parser = disklab_units::parse_duration)]
    pub cell_limit: Option<Duration>,
    /// Directory below which the run creates one of its own, for large files and mount
    /// points. [default: the run's directory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// On disks: erase the drive with this serial number although it carries
    /// data; may be given several times.
    #[arg(long, value_name = "SERIAL")]
    pub erase: Vec<String>,
}

impl CampaignArgs {
    /// The same as when a run was begun: what is left out now is taken from
    /// then, and what is given must be the same.
    pub fn as_begun(&self, info: &RunInfo) -> Result<Self, Failure> {
        let differs = |flag: &str, now: &dyn std::fmt::Display, then: &dyn std::fmt::Display| {
            Failure::usage_error(format!(
                "{flag} is {now}, but this run was begun with {then}; leave {flag} out to go on \
                 with it, or start a new run"
            ))
        };
        let on: On = info.bench.parse().map_err(Failure::usage_error)?;
        if self.on.as_ref().is_some_and(|now| *now != on) {
            return Err(differs("--on", &self.on(), &on));
        }
        if self.scale.is_some_and(|now| now != info.scale) {
            return Err(differs("--scale", &self.scale(), &info.scale));
        }
        if let Some(now) = self.seed.filter(|now| *now != info.seed) {
            return Err(differs("--seed", &now, &info.seed));
        }
        if let Some(now) = self.repeats.filter(|now| *now != info.repeats) {
            return Err(differs("--repeats", &now, &info.repeats));
        }
        if !self.only.is_empty() || !self.without.is_empty() {
            return Err(Failure::usage_error(
                "--only and --without cannot be given with --resume: the cells were fixed when the run began",
            ));
        }
        let then = |name: &str| info.options.get(name);
        Ok(Self {
            on: Some(on),
            repeats: Some(info.repeats),
            seed: Some(info.seed),
            scale: Some(info.scale),
            only: Vec::new(),
            without: Vec::new(),
            drive_size: then("drive-size").and_then(|text| text.parse().ok()),
            memory: then("memory").and_then(|text| text.parse().ok()),
            // That it is the same is seen by the bench's description.
            processor: self.processor.clone().or_else(|| then("processor").cloned()),
            bus: match self.bus {
                Some(bus) => Some(bus),
                None => then("bus").and_then(|text| text.parse().ok()),
            },
            set_drive: if self.set_drive.is_empty() {
                let words = then("set-drive").map(|text| shell_words::split(text));
                words.transpose().map_err(Failure::usage_error)?.unwrap_or_default()
            } else {
                self.set_drive.clone()
            },
            // That it is the same is seen by its digest.
            kernel: self.kernel.clone().or_else(|| then(RunInfo::KERNEL).map(PathBuf::from)),
            at_once: self.at_once,
            cell_limit: self.cell_limit.or_else(|| {
                then(RunInfo::CELL_LIMIT).and_then(|text| disklab_units::parse_duration(text).ok())
            }),
            scratch: then("scratch").map(PathBuf::from),
            erase: self.erase.clone(),
        })
    }

    /// The bench.
    pub fn on(&self) -> On {
        self.on.clone().unwrap_or(On::Lab)
    }

    /// By how much sizes are scaled.
    pub fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// A shipped study's id (see `disklab list studies`) or a file. May be left
    /// out with --resume.
    #[arg(add = ArgValueCompleter::new(complete::study))]
    pub study: Option<String>,
    #[command(flatten)]
    pub campaign: CampaignArgs,
    #[command(flatten)]
    pub how_long: HowLongArgs,
    /// The run's directory, new or empty. [default: named after the study and the time]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with the run in the folder given by --out.
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// With --resume: run the failed cells again.
    #[arg(long, requires = "resume")]
    pub retry_failed: bool,
    /// On disks: do not ask before erasing.
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// A shipped study's id or a file.
    #[arg(add = ArgValueCompleter::new(complete::study))]
    pub study: String,
    #[command(flatten)]
    pub campaign: CampaignArgs,
    #[command(flatten)]
    pub how_long: HowLongArgs,
    /// Predict from what the cells of this run took, begun or finished, of the same study
    /// at the same scale on the same bench: after a first block, time and bytes are known.
    #[arg(long, value_name = "RUN")]
    pub from: Option<PathBuf>,
    /// Show every cell in its order.
    #[arg(long)]
    pub cells: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run's folder.
    pub run: PathBuf,
    /// What to write.
    #[arg(long, value_enum, default_value = "html")]
    pub format: Format,
    /// The file to write; standard output if '-'; in the run's folder if absent.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// One self-contained page.
    Html,
    /// Fit to post in a forum.
    Md,
    /// Everything, for programs.
    Json,
    /// One line per observation.
    Csv,
    /// The answers, as a run shows them when it ends; to standard output.
    Text,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Listed {
    /// The shipped studies.
    Studies,
    /// The layers of which stacks are made.
    Stacks,
    /// The kinds of workloads.
    Workloads,
    /// The drives that the lab models, and the block devices of this machine.
    Drives,
    /// The processors whose work the lab can charge for.
    Processors,
    /// What makes samples or comparisons doubtful, and how each is found.
    Audits,
}

/// The command line. A negative number where a value is expected is that value, so that the
/// error says what the option takes.
pub fn command() -> clap::Command {
    fn negative_numbers(command: clap::Command) -> clap::Command {
        command
            .mut_args(|arg| {
                let has_value = arg.get_action().takes_values() && !arg.is_positional();
                if has_value { arg.allow_negative_numbers(true) } else { arg }
            })
            .mut_subcommands(negative_numbers)
    }
    negative_numbers(<Cli as clap::CommandFactory>::command())
}

fn parse_scale(text: &str) -> Result<f64, String> {
    let value = match text.split_once('/') {
        Some((top, bottom)) => top
            .trim()
            .parse::<f64>()
            .ok()
            .zip(bottom.trim().parse::<f64>().ok())
            .map(|(top, bottom)| top / bottom),
        None => text.trim().parse().ok(),
    };
    value
        .filter(|v| v.is_finite() && *v > 0.0 && *v <= 1000.0)
        .ok_or_else(|| "expected a factor from above 0 to 1000, such as 1/16 or 0.25".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn scales() {
        assert_eq!(parse_scale("1/16"), Ok(0.0625));
        assert_eq!(parse_scale("2"), Ok(2.0));
        for text in ["0", "-1", "1/0", "x", "1/", "nan", "inf", "1e9"] {
            assert!(parse_scale(text).is_err(), "{text}");
        }
    }
}
