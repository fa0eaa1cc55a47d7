//! The command line of `disklab fio`, which is fio's as far as it goes.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};

/// Run fio jobs with disklab's own engine.
///
/// Takes job files, or options as fio does: disklab fio --name=x --rw=randread
/// --bs=4k --size=1g --direct=1 --ioengine=io_uring --iodepth=32
#[derive(Debug, Args)]
pub struct FioArgs {
    #[command(flatten)]
    pub own: FioOwnArgs,
    /// Job files, and fio's options: those after --name=NAME are of a job of that name, those
    /// before it hold for all such jobs and for the first file. As in fio, one dash is enough.
    /// disklab's own options may stand among them. A job writes to a block device only if that
    /// is a free drive, named by its link in /dev/disk/by-id, and blank or named by --erase.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "JOB", value_hint = ValueHint::FilePath)]
    pub words: Vec<String>,
}

/// Options that are disklab's, not a job's.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args)]
pub struct FioOwnArgs {
    /// Directory for files. [default: the working directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
    /// Seed of everything random.
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// File for the report. [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Format of the report; several are separated by commas.
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub output_format: Vec<FioFormat>,
    /// Directory for logs of throughput, I/Os and latency over time, as fio's write_bw_log writes
    /// them.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub logs: Option<PathBuf>,
    /// Run only this section's jobs. Repeatable.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub section: Vec<String>,
    /// Write to the drive with this serial number although it carries data. Repeatable.
    #[arg(long, value_name = "SERIAL", value_parser = NonEmptyStringValueParser::new())]
    pub erase: Vec<String>,
    /// Do not ask before drives are written to.
    #[arg(long)]
    pub yes: bool,
    /// Run only jobs that write nothing and whose files exist.
    #[arg(long)]
    pub readonly: bool,
    /// Parse the jobs and exit.
    #[arg(long)]
    pub parse_only: bool,
    /// List the options of jobs.
    #[arg(long)]
    pub list_options: bool,
}

/// The form of a report of fio jobs, in the order in which several are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum FioFormat {
    /// fio's JSON.
    Json,
    /// The same with all bins of the histograms.
    #[value(name = "json+")]
    JsonPlus,
    /// For people.
    Normal,
    /// Accepted as fio does; writes normal.
    #[value(alias = "minimal")]
    Terse,
}

impl FioOwnArgs {
    /// These, and what was given after them.
    pub fn and(self, later: Self) -> Self {
        Self {
            dir: later.dir.or(self.dir),
            seed: later.seed.or(self.seed),
            output: later.output.or(self.output),
            output_format: match later.output_format.is_empty() {
                true => self.output_format,
                false => later.output_format,
            },
            logs: later.logs.or(self.logs),
            section: [self.section, later.section].concat(),
            erase: [self.erase, later.erase].concat(),
            yes: self.yes || later.yes,
            readonly: self.readonly || later.readonly,
            parse_only: self.parse_only || later.parse_only,
            list_options: self.list_options || later.list_options,
        }
    }
}
