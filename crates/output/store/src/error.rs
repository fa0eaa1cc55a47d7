//! What can go wrong with a run's directory.

use std::path::{Path, PathBuf};

use disklab_cell::AxisError;
use disklab_exec::NamedPathError;

use crate::schema::DATABASE;
use crate::{Difference, RunAspect};

/// Why a run could not be made, opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite's complaint.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// The complaint.
        source: rusqlite::Error,
    },
    /// A file could not be used.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: String,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The database holds something else than a run's tables.
    #[error(
        "{} is not read: it {what}, so it is not a run as disklab writes it, and reading it could \
         do something else; restore it from a copy, or undo with a client of SQLite what you \
         changed yourself",
        path.display()
    )]
    UnknownSchema {
        /// The database.
        path: PathBuf,
        /// What it has, or lacks.
        what: String,
    },
    /// The database's journal would have SQLite read and remove another file.
    #[error(
        "{} is not used: it names another file, which SQLite would remove; disklab writes no such \
         journal. Remove it if you trust the run next to it",
        path.display()
    )]
    UnknownJournal {
        /// The journal.
        path: PathBuf,
    },
    /// There are more rows than a run has.
    #[error(
        "{} is not read: it has more than {most} {rows}, and a run has at most as many",
        path.display()
    )]
    TooManyRows {
        /// The database.
        path: PathBuf,
        /// What there are too many of.
        rows: &'static str,
        /// So many are read at most.
        most: u64,
    },
    /// A link on the way to a directory is another user's, or others could put one there while
    /// root writes.
    #[error(transparent)]
    OthersPath(NamedPathError),
    /// A directory contains what disklab did not put there.
    #[error(
        "{} contains '{found}', which disklab did not put there; choose a new or empty directory",
        path.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// One thing in it.
        found: String,
    },
    /// Something in a run's directory is not what disklab would have made.
    #[error(
        "{} is not a {expected}: disklab did not make it and leaves it alone; move it away",
        path.display()
    )]
    Unexpected {
        /// The thing.
        path: PathBuf,
        /// What a run has there.
        expected: &'static str,
    },
    /// A directory without a run.
    #[error(
        "{}: not a run directory (no {DATABASE}); `disklab run` prints a run's directory when it \
         starts", .0.display()
    )]
    NoRun(PathBuf),
    /// A run where another one was to be made.
    #[error(
        "{} already contains a run, which is left as it is; choose another directory",
        .0.display()
    )]
    HoldsRun(PathBuf),
    /// The directory's name does not lead to it any more.
    #[error(
        "{} was deleted or moved, or something else was put in its place, while disklab worked \
         in it; nothing more is written",
        .0.display()
    )]
    Moved(PathBuf),
    /// Another process writes the run.
    #[error("{} is being written by another disklab; wait for it, or stop it", .0.display())]
    BeingWritten(PathBuf),
    /// It was to be written, and is open for reading.
    #[error("{} is open for reading only", .0.display())]
    ReadOnly(PathBuf),
    /// The database has nothing in it.
    #[error(
        "{} is empty: the run was cut off before it began, or its file was lost. Nothing can be \
         read from it; remove it, and start the run anew", .0.display()
    )]
    Empty(PathBuf),
    /// Another program's database.
    #[error("{} is the database of another program, not a run of disklab", .0.display())]
    OtherProgram(PathBuf),
    /// Tables of an earlier version, which are read and not written.
    #[error(
        "the run in {} was begun by an earlier disklab, in a format that this one only reads; \
         resume it with the disklab that began it, or start a new run", .0.display()
    )]
    ReadOnlyFormat(PathBuf),
    /// Tables of another version.
    #[error(
        "{} has format {format}, and this disklab reads format {known}; take the disklab that \
         made it", path.display()
    )]
    OtherFormat {
        /// The database.
        path: PathBuf,
        /// The number that it has; this version reads another.
        format: i64,
        /// The one that this version reads.
        known: i64,
    },
    /// What the run is cannot be read.
    #[error(
        "{} cannot be read: {source}; take the disklab that made it, or restore the run from a copy",
        path.display()
    )]
    OtherVersion {
        /// The run's directory.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A cell whose row has a value that disklab does not write.
    #[error(
        "{}: cell {cell}: invalid {column} {value:?}; restore the run from a copy",
        path.display()
    )]
    BadCell {
        /// The run's directory.
        path: PathBuf,
        /// The cell's number.
        cell: u32,
        /// Name of the column in the table of cells.
        column: &'static str,
        /// What it has, as far as a line shows it.
        value: String,
    },
    /// A start of the program that cannot be read.
    #[error("{}: start {number} of disklab on this run: {source}", path.display())]
    BadSession {
        /// The run's directory.
        path: PathBuf,
        /// Counted from 1.
        number: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A cell that is done, without a sample.
    #[error(
        "{}: cell {cell}: its sample is missing; restore the run from a copy", path.display()
    )]
    NoSample {
        /// The run's directory.
        path: PathBuf,
        /// The cell's number.
        cell: u32,
    },
    /// A sample that cannot be read.
    #[error(
        "{}: cell {cell}: its sample cannot be read: {source}; take the disklab that made it, or \
         restore the run from a copy", path.display()
    )]
    BadSample {
        /// The run's directory.
        path: PathBuf,
        /// The cell's number.
        cell: u32,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The result of a cell that cannot be read.
    #[error("{}: {source}", path.display())]
    BadResult {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A sample that cannot be written.
    #[error("cell {cell}: {source}")]
    SampleJson {
        /// The cell's number.
        cell: u32,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A merge of nothing.
    #[error("there is no part to merge")]
    NoParts,
    /// A run of several machines was to be resumed.
    #[error(
        "'{}' is of several machines: what waits, waits on its machine; finish its run there, and merge \
         them again", .0.display()
    )]
    OfMachines(PathBuf),
    /// Machines that have no names, or the same.
    #[error("the names of the machines: {0}; name each, as in nas1=RUN")]
    MachineNames(AxisError),
    /// A run that cannot be part of another.
    #[error("{} cannot be merged: {why}", path.display())]
    NoPart {
        /// The run's directory.
        path: PathBuf,
        /// What forbids it.
        why: NoPart,
    },
    /// Runs that are no parts of one.
    #[error(
        "{} and {} are not parts of one run: {}", one.display(), other.display(),
        in_words(differences)
    )]
    NotOneRun {
        /// The first part's directory.
        one: PathBuf,
        /// The other's.
        other: PathBuf,
        /// In what they differ.
        differences: Vec<Difference>,
    },
    /// Parts of a divided run are missing, or have cells that wait.
    #[error(
        "{} of {of} parts missing, or not done: {}; carry them out (disklab run --part), and merge again",
        missing.len(),
        ranges(missing)
    )]
    PartsMissing {
        /// How many there are.
        of: u32,
        /// The numbers of those that are missing, sorted.
        missing: Vec<u32>,
    },
    /// Two parts have a sample of the same cell.
    #[error(
        "{stack} · {workload} was measured in {} and in {}; leave one of them out",
        one.display(), other.display()
    )]
    MeasuredTwice {
        /// The cell's stack.
        stack: String,
        /// Its id.
        workload: String,
        /// The one part's directory.
        one: PathBuf,
        /// The other's.
        other: PathBuf,
    },
}

/// Why a run cannot be part of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoPart {
    /// It was measured on a machine.
    #[error(
        "only what was run in the lab can; on a machine, the order of the cells spreads what \
         changes with time over all stacks alike, which parts of other hours do not. (Whole runs of \
         several machines: merge --machines)"
    )]
    NotInTheLab,
    /// It decided as it went.
    #[error("its samples decided which cells it has")]
    Adaptive,
    /// The machine does not matter to it.
    #[error("it was run in the lab, where figures do not depend on the machine; parts: merge RUN…")]
    InTheLab,
    /// It was measured elsewhere.
    #[error("it is an import; `disklab compare` compares it with another run")]
    Imported,
    /// It is such a merge already.
    #[error("it is of several machines already; merge the runs that it was made of")]
    OfMachines,
}

/// 'the seed is 1 in the first and 2 in the second; …', and what to do.
fn in_words(differences: &[Difference]) -> String {
    let one = |d: &Difference| match d.what {
        RunAspect::StudyText => "the study's text is not the same in both".to_owned(),
        _ => format!("{} is '{}' in the first and '{}' in the second", d.what, d.one, d.other),
    };
    let mut words: Vec<String> = differences.iter().map(one).collect();
    if differences.iter().any(|difference| difference.what == RunAspect::LabKernel) {
        words.push("run all parts with one kernel (run --kernel PATH)".to_owned());
    }
    words.join("; ")
}

/// '3, 17-20, 64'.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let words = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run.iter().map(ToString::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(", ")
}

impl StoreError {
    pub(crate) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Sqlite { path: path.clone(), source }
    }

    pub(crate) fn io(what: &str, path: &Path) -> impl Fn(std::io::Error) -> Self + use<> {
        let (what, path) = (what.to_owned(), path.to_owned());
        move |source| Self::Io { what: what.clone(), path: path.clone(), source }
    }
}
