//! Names of files, directories and jobs.

use disklab_source::FileNameError;

/// Why a name is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    /// The name of a file.
    #[error("'{name}' is not allowed here: {fault}")]
    File {
        name: String,
        /// What is wrong with it.
        #[source]
        fault: NameFault,
    },
    /// A directory with characters that mean something to fio.
    #[error("'{found}' is not allowed here: give one directory, without ':', '\\' and '$'")]
    Directory { found: String },
    /// A directory that could lead out of the measured one.
    #[error(
        "'{found}' is not allowed here: {source}; a study's jobs stay below the directory that is \
         measured"
    )]
    Outside { found: String, source: FileNameError },
    /// A directory whose path is too long.
    #[error("it is longer than 1024 bytes")]
    LongDirectory,
    /// Nothing.
    #[error("expected a directory's name")]
    NoDirectory,
    /// Nothing.
    #[error("expected a file's name")]
    NoName,
    /// More names than are read.
    #[error("more than {most} names")]
    TooMany { most: usize },
    /// One file twice.
    #[error("'{name}' is given twice")]
    Repeated { name: String },
    /// A `$…` in `filename_format` that fio fills in with something else.
    #[error("only $jobname, $jobnum and $filenum are known")]
    Keyword,
    /// A ':' in `filename_format`.
    #[error("fio takes ':' for the end of a name")]
    Colon,
    /// A job whose name cannot be a file's.
    #[error(
        "file names are made from a job's name: it cannot be empty, '.', '..' or longer than 200 \
         bytes, nor have control characters; in a study, nor '/', '\\' and '$'"
    )]
    Job,
    /// The beginning of a log's name.
    #[error("expected the beginning of a file's name")]
    Log,
}

/// What is wrong with the name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameFault {
    /// It is that of a device, in a study.
    #[error("it names a device, and a study's jobs work on files of the stack that is measured")]
    Device,
    /// It has a '\'.
    #[error("fio takes '\\' for an escape; give plain names")]
    Escape,
    /// `-`, which is standard input to fio.
    #[error("not a file name")]
    Dash,
    /// Its last part cannot be a file's name.
    #[error(transparent)]
    Invalid(FileNameError),
    /// It is longer than a path.
    #[error("it is longer than any path can be")]
    TooLong,
}
