//! The command line of `disklab import`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use disklab_import::{FORMATS, ImportFormat, ImportedDrives, Mapping, find_format};

const EXAMPLES: &str = "Examples:
  disklab import ext4-*.json btrfs-*.json --to run     the stacks are ext4 and btrfs
  disklab import a/*.json b/*.json --to run            the stacks are the directories a and b
  disklab import dd.txt --as raid5/ext4 --to run
  disklab import *.txt --map 'r5*=raid5/ext4:dd-write' --to run
  disklab import composite.xml --drives hdd:4 --to run judged by what four disks can do
  disklab import --published qiita-2014 --to run       what was published, as a run

docs/guide/import.md says what is read of each format.";

/// Make a run of what other programs measured.
///
/// The outputs of fio, dd, hdparm and others are read; several files of one stack and
/// workload are its repeats. The run's report, audits and comparisons are those of any
/// run. What an output does not tell, such as what the drives really read and wrote, is
/// absent, and the report says so.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// The files, in the order of their repeats.
    #[arg(required_unless_present = "published", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The run's directory.
    // `run` and `report` call theirs `--out`.
    #[arg(long, alias = "out", required = true, value_name = "DIR")]
    pub to: PathBuf,
    /// The stack that the files belong to, such as raid5/ext4. [default: from the output, or
    /// from the names of the files or their directories]
    #[arg(long = "as", value_name = "STACK")]
    pub stack: Option<String>,
    /// Stack and workload of the files that match: PATTERN=STACK, PATTERN=STACK:WORKLOAD,
    /// PATTERN=:WORKLOAD. Repeatable. A table import.toml next to the
    /// files does the same.
    #[arg(long = "map", value_name = "PATTERN=STACK[:WORKLOAD]", value_parser = Mapping::parse)]
    pub map: Vec<Mapping>,
    /// The files' format. [default: recognised from each file]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<&'static ImportFormat>,
    /// The drives that the figures are of; figures too fast for them are reported. hdd, ssd
    /// or a model (see `disklab list drives`), with their number. `drives` in a table
    /// import.toml does the same.
    #[arg(long, value_name = "KIND[:N],…", value_parser = ImportedDrives::parse)]
    pub drives: Option<ImportedDrives>,
    /// The study that the figures become part of: a shipped one or a file, which must
    /// have their stacks and workloads; or the id of a new one. [default: imported]
    #[arg(long, value_name = "STUDY")]
    pub study: Option<String>,
    /// Import what was published about this study, instead of files.
    #[arg(long, value_name = "STUDY", conflicts_with_all = ["files", "stack", "map", "format", "drives", "study"])]
    pub published: Option<String>,
}

/// The names of the formats.
fn formats() -> impl TypedValueParser<Value = &'static ImportFormat> {
    let names = FORMATS.iter().map(|f| PossibleValue::new(f.name).help(f.about));
    PossibleValuesParser::new(names.collect::<Vec<_>>())
        .try_map(|name| find_format(&name).ok_or("unknown format"))
}
