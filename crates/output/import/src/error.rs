//! Why something could not be imported.

use std::path::{Path, PathBuf};

use disklab_source::{SourceError, did_you_mean, one_of};
use disklab_store::StoreError;

/// Why something could not be imported; in words for the user.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A text is not what it ought to be; shows the line and the column.
    #[error(transparent)]
    Text(#[from] SourceError),
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: FileFault,
    },
    /// No file was named.
    #[error("which files? name at least one")]
    NoFiles,
    /// A file was named twice.
    #[error("{name} is named twice; name each file once")]
    NamedTwice {
        /// The file.
        name: String,
    },
    /// The files are too large to be read together.
    #[error(
        "with {name}, the files have more than {most} bytes together; import them in several runs"
    )]
    TooLarge {
        /// The file that is too much.
        name: String,
        /// As many bytes may be.
        most: u64,
    },
    /// More than one run compares.
    #[error(
        "the files have more than {most} {what}, which one run does not compare; import them in \
         several runs"
    )]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// As many may be.
        most: usize,
    },
    /// Two files with one content, which would count as repeats.
    #[error(
        "{known} and {name} hold the same output: a copy is not a repeat; leave one of them out"
    )]
    Copy {
        /// The first file.
        known: String,
        /// The second file.
        name: String,
    },
    /// A number of drives.
    #[error("'{part}': expected 1 to {most} drives after the colon")]
    DriveCount {
        /// What says how many.
        part: String,
        /// As many may be.
        most: usize,
    },
    /// Neither a kind of drive nor a model.
    #[error(
        "unknown kind of drive '{name}'{}; expected {} or a model (see `disklab list drives`), with \
         their number, such as 'hdd:4'",
        did_you_mean(name, kinds.iter().chain(models).copied()),
        one_of(kinds)
    )]
    DriveKind {
        /// What was named.
        name: String,
        /// The kinds that there are.
        kinds: Vec<&'static str>,
        /// The models that there are.
        models: Vec<&'static str>,
    },
    /// Not a mapping.
    #[error(
        "invalid mapping '{text}': expected PATTERN=STACK, PATTERN=STACK:WORKLOAD or \
         PATTERN=:WORKLOAD, such as 'ext4-*=single/ext4'"
    )]
    Mapping {
        /// What was given.
        text: String,
    },
    /// Nothing says to which stack the figures belong.
    #[error(
        "{}: which stack do these figures belong to? Neither the output nor the file's name says; \
         give it with --as STACK, with --map '{name}=STACK', or in a table {table} next to the file",
        path.display()
    )]
    NoStack {
        /// The file.
        path: PathBuf,
        /// As --map would match it.
        name: String,
        /// The table's name.
        table: &'static str,
    },
    /// The study has no such stack or workload.
    #[error(
        "{file}: the study '{study}' has no {what} '{id}'{}; it has {}. Say which with --map \
         'PATTERN=STACK:WORKLOAD'",
        did_you_mean(id, known.iter().map(String::as_str)),
        one_of(known.iter().take(12))
    )]
    NotInStudy {
        /// The file that was read, or a part of it.
        file: String,
        /// Id of the study that it was to be placed in.
        study: String,
        /// 'stack' or 'workload'.
        what: &'static str,
        /// The one that is missing.
        id: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// Two outputs of one workload that are not repeats of each other.
    #[error(
        "{first} and {second} both have a workload '{workload}', but did not do the same work: \
         {own} against {other}. Give one of them another name with --map \
         'PATTERN=STACK:WORKLOAD', or leave it out"
    )]
    DifferentWork {
        /// The first file.
        first: String,
        /// The second file.
        second: String,
        /// Its id in the study.
        workload: String,
        /// What only the first did.
        own: String,
        /// What only the second did.
        other: String,
    },
    /// Nothing was published about the study.
    #[error("nothing was published about '{study}'; something was about {}", one_of(known))]
    NothingPublished {
        /// Id of the study.
        study: String,
        /// Studies about which something was.
        known: Vec<String>,
    },
    /// Only comparisons were published.
    #[error(
        "of '{study}', only comparisons were published, and no figure: `disklab compare RUN \
         --published` compares a run with them"
    )]
    OnlyComparisons {
        /// Id of the study.
        study: String,
    },
    /// There is nothing to make a study of.
    #[error("there are no stacks")]
    NoStacks,
    /// A text could not be kept in the run.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The run could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ImportError {
    pub(crate) fn file(path: &Path, fault: impl Into<FileFault>) -> Self {
        Self::File { path: path.to_owned(), source: fault.into() }
    }
}

/// What is wrong with a file as a whole.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The system's reason.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// No output of a program is that long.
    #[error("results have at most {0} bytes, and it has more")]
    TooLarge(u64),
    /// It is disklab's own.
    #[error(
        "it is a disklab run, which needs no import: give its directory to `disklab report` or \
         `disklab compare`"
    )]
    OwnRun,
    /// It is in another encoding, or no text at all.
    #[error("not a text file")]
    NotText,
    /// It is of a program that is known, in a form that is not read.
    #[error("{0}")]
    OtherForm(&'static str),
    /// No format fits.
    #[error(
        "it looks like the output of no program that is known; known are {}; name one with --format \
         to see what is missing",
        one_of(known)
    )]
    Unrecognised {
        /// The formats that there are.
        known: Vec<&'static str>,
    },
}
