//! The command line: one definition for the parser, the help, the man pages and
//! the shell completions.

mod archive;
mod bench;
mod cell;
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
mod option_value_error;
mod parts;
#[cfg(test)]
mod reference;
mod risk;
mod sensitivity;
mod shipped;
mod study;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;
use disklab_runner::{FoundStudy, PartOptions, find_study};

use crate::exit::Failure;
pub use archive::{
    ArchiveAddArgs, ArchiveCommand, ArchiveFormat, ArchiveListArgs, ArchiveQueryArgs,
};
pub use bench::all_drives;
pub use cell::CellArgs;
pub use compare::CompareArgs;
pub use doctor::DoctorArgs;
pub use drive::{CheckArgs, DriveArgs, DriveCommand, ProbeArgs};
pub use filebench::FilebenchArgs;
pub use fio::{FioArgs, FioFormat, FioOwnArgs};
pub use how_long::HowLongArgs;
pub use import::ImportArgs;
pub use lab::{BenchArgs, BuildArgs, LabCommand, ShellArgs};
pub use merge::MergeArgs;
pub use parts::{DivisionArgs, PartArgs};
pub use risk::RiskArgs;
pub use sensitivity::SensitivityArgs;
pub use shipped::ShippedArgs;
pub use study::StudyArgs;

const EXIT_CODES: &str = "Exit codes:
  0    done
  1    a cell failed, or a finding is severe (the report says which)
  2    usage error or bad input, before anything was touched
  130  interrupted; continue with --resume

Environment:
  NO_COLOR        no colours
  DISKLAB_LOG     what to log: a level, such as 'debug', or 'disklab_lab=trace,…'
                  [default: warnings]
  XDG_STATE_HOME  where disklab remembers what it has created and must tear down";

/// Which file system, which RAID type, which options, on these disks, for this
/// work? disklab measures it: a study is run on modelled drives in virtual time, on
/// loop files, in a directory or on real disks, and ends in a report with intervals.
#[derive(Debug, Parser)]
#[command(name = "disklab", version = disklab_runner::VERSION, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: CliCommand,
    /// Answer in JSON, for programs.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Run a study and write a report.
    Run(RunArgs),
    /// Print what a run would do and what it would cost. Touches nothing but what --cells
    /// names.
    Plan(PlanArgs),
    Cell(CellArgs),
    /// Write the report of a run.
    Report(ReportArgs),
    Shipped(ShippedArgs),
    Compare(CompareArgs),
    Merge(MergeArgs),
    #[command(subcommand)]
    Archive(ArchiveCommand),
    Import(ImportArgs),
    Rebuild(RebuildArgs),
    Scrub(ScrubArgs),
    Sensitivity(SensitivityArgs),
    Risk(RiskArgs),
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
    /// Write man pages into a directory.
    #[command(hide = true)]
    Man {
        /// An existing directory.
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("continued").args(["resume", "part"]).multiple(true))]
pub struct RunArgs {
    /// A shipped study's id (see `disklab list studies`) or a file. May be left
    /// out with --resume.
    #[arg(add = ArgValueCompleter::new(complete::study))]
    pub study: Option<String>,
    #[command(flatten)]
    pub campaign: StudyArgs,
    #[command(flatten)]
    pub how_long: HowLongArgs,
    /// Do not ask before erasing.
    #[arg(long, conflicts_with = "divided", help_heading = "Disks")]
    pub yes: bool,
    /// The run's directory, new or empty. [default: named after the study and the time]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Resume the run in --out.
    #[arg(long, requires = "out", conflicts_with = "divided", help_heading = "Output")]
    pub resume: bool,
    /// With --resume or --part: run the failed cells again.
    #[arg(long, requires = "continued", help_heading = "Output")]
    pub retry_failed: bool,
    #[command(flatten)]
    pub parts: PartArgs,
}

impl RunArgs {
    /// For this study, with no other option.
    pub fn of(study: String, campaign: StudyArgs) -> Self {
        Self {
            study: Some(study),
            campaign,
            how_long: HowLongArgs::default(),
            yes: false,
            out: None,
            resume: false,
            retry_failed: false,
            parts: PartArgs::default(),
        }
    }

    /// The study that is named; it may also be a file.
    ///
    /// # Errors
    /// [`Failure`] if none is, or it cannot be read.
    pub fn named_study(&self) -> Result<FoundStudy, Failure> {
        let name = self.study.as_deref().ok_or_else(|| {
            Failure::usage_error("which study? `disklab list studies` shows those that are shipped")
        })?;
        Ok(find_study(name)?)
    }

    /// How a part is carried out.
    pub fn part_options(&self) -> PartOptions {
        PartOptions {
            scratch: self.campaign.scratch.clone(),
            kernel: self.campaign.lab.kernel.clone(),
            at_once: self.campaign.lab.at_once,
            retry_failed: self.retry_failed,
        }
    }
}

/// Measure how long a stack lacks redundancy when a drive fails.
///
/// Each stack of a study that survives it loses a drive, which is replaced by a blank one. Reports
/// how long it takes until the stack is redundant again, for the whole drive and with an interval,
/// and what bounds that. The rebuild is measured at places all over the drive, other ones in each
/// repeat. With --load, other work runs before, without the drive, and while it is rebuilt, and is
/// compared. Btrfs and ZFS, which rebuild what is used, are filled by half, on drives of 64 GB with all
/// zones of the study's (in the lab). Continue with `disklab run
/// --resume`.
#[derive(Debug, Args)]
pub struct RebuildArgs {
    /// The number of the drive that fails, counted from 1 in each stack. [default: drawn for each
    /// repeat]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096),
          help_heading = "What")]
    pub fail: Option<u32>,
    /// Give each stack a drive more, onto which it is rebuilt at once: md by itself, ZFS as its daemon does.
    #[arg(long, help_heading = "What")]
    pub hot_spare: bool,
    #[command(flatten)]
    pub pass: PassArgs,
}

/// Measure how long a scrub of whole drives takes.
///
/// Each stack of a study that can be scrubbed is, on all of its drives. Reports how long that takes for the
/// whole drives, with an interval, and what bounds it. md's scrub is measured at places all over the drives,
/// other ones in each repeat; below Btrfs, it is what is measured. With --load, other work runs before and
/// meanwhile, and is compared. LVM's RAID, Btrfs and ZFS are filled by half and scrubbed whole, on drives of
/// 64 GB with all zones of the study's (in the lab). Continue with `disklab run --resume`.
#[derive(Debug, Args)]
pub struct ScrubArgs {
    #[command(flatten)]
    pub pass: PassArgs,
}

/// What `rebuild` and `scrub` have in common.
#[derive(Debug, Args)]
pub struct PassArgs {
    /// A shipped study's id (see `disklab list studies`) or a file.
    #[arg(add = ArgValueCompleter::new(complete::study))]
    pub study: String,
    /// Compare those that are held to these speeds. md and LVM's RAID have such a limit.
    #[arg(long, value_name = "SPEED,…", value_delimiter = ',', help_heading = "What")]
    pub speed: Vec<String>,
    /// Work of the study that runs meanwhile, one of its fio jobs. With its step, if it has several.
    #[arg(long, value_name = "WORKLOAD[:STEP]", help_heading = "What")]
    pub load: Option<String>,
    #[command(flatten)]
    pub campaign: StudyArgs,
    /// Do not ask before erasing.
    #[arg(long, conflicts_with = "divided", help_heading = "Disks")]
    pub yes: bool,
    /// The run's directory, new or empty. [default: named after the study and the time]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub division: DivisionArgs,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// A shipped study's id or a file.
    #[arg(add = ArgValueCompleter::new(complete::study))]
    pub study: String,
    #[command(flatten)]
    pub campaign: StudyArgs,
    #[command(flatten)]
    pub how_long: HowLongArgs,
    /// Predict from what the cells of this run took, begun or finished, of the same study
    /// at the same scale on the same bench: after a first block, time and bytes are known.
    #[arg(long, value_name = "RUN", help_heading = "Output")]
    pub from: Option<PathBuf>,
    /// Show every cell in its order.
    #[arg(long, help_heading = "Output")]
    pub order: bool,
    /// Write a plan for each cell into this new directory: `disklab cell` carries it out.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub cells: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run's directory. Of a study with axes, RUN@memory=8GiB is about another level than the
    /// first.
    pub run: PathBuf,
    /// What to write. [default: html; with --versus: text]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Two stacks next to each other, such as 'raid5 btrfs' 'raid10 btrfs': what does the
    /// first cost against the second? As text, html, md or json.
    #[arg(long, num_args = 2, value_names = ["STACK", "STACK"])]
    pub versus: Vec<String>,
    /// File to write; '-' is standard output. [default: in the run's directory]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// With `--format text`: the sentences with their intervals, too.
    #[arg(long, short)]
    pub verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
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
    /// The layers that stacks are made of.
    Stacks,
    /// The kinds of workloads.
    Workloads,
    /// What can go wrong with the lab's drives.
    Faults,
    /// The drives that the lab models, and the block devices of this machine.
    Drives,
    /// The processor models that the lab can charge CPU time for.
    Processors,
    /// What makes samples or comparisons suspect, and how each is found.
    Audits,
    /// What a study can cross its stacks and workloads with.
    Axes,
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

/// Checks that all words of the command line are UTF-8: names become part of a run's texts, of
/// JSON and of other programs' command lines.
///
/// # Errors
/// A usage error with the first word that is not.
pub fn check_words(mut words: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    let Some(word) = words.find(|word| word.to_str().is_none()) else { return Ok(()) };
    Err(Failure::usage_error(format!(
        "the argument '{}' is not UTF-8; give files and directories names in UTF-8",
        word.display()
    )))
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
    fn run_help_is_grouped() {
        let mut command = command();
        let run = command.find_subcommand_mut("run").expect("run");
        let help = run.render_long_help().to_string();
        let headings: Vec<&str> = help
            .lines()
            .filter_map(|line| line.strip_suffix(':'))
            .filter(|line| !line.starts_with(' '))
            .collect();
        let expected = [
            "Arguments",
            "Options",
            "What",
            "Where",
            "How often",
            "Lab",
            "Loop devices",
            "Disks",
            "Output",
            "Parts",
        ];
        assert_eq!(headings, expected, "{help}");
        // An option belongs to a group; only those of every command do not.
        for argument in run.get_arguments().filter(|argument| !argument.is_positional()) {
            let name = argument.get_id().as_str();
            let is_common = ["json", "help"].contains(&name);
            assert_eq!(argument.get_help_heading().is_none(), is_common, "--{name}");
        }
    }

    #[test]
    fn words_that_are_not_utf_8_are_refused() {
        use std::os::unix::ffi::OsStringExt;
        let check = |word: &[u8]| {
            check_words([OsString::from("disklab"), OsString::from_vec(word.to_vec())].into_iter())
        };
        assert!(check("plän".as_bytes()).is_ok());
        let failure = check(b"pl\xe4n").expect_err("Latin-1");
        assert_eq!(failure.code, crate::exit::USAGE_ERROR);
        assert!(failure.to_string().contains("'pl\u{fffd}n' is not UTF-8"), "{failure}");
    }
}
