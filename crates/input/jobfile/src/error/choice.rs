//! Values that are one of a few, and values that an option does not take.

use disklab_source::{did_you_mean, one_of};

/// Why an option does not take a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChoiceError {
    /// None of the words that the option knows.
    #[error(
        "expected {}, found '{found}'{}",
        one_of(known),
        did_you_mean(&found.to_ascii_lowercase(), known.iter().copied())
    )]
    Word { known: Vec<&'static str>, found: String },
    /// More values than reads, writes and trims.
    #[error("'{found}' has more values than there are directions (reads, writes, trims)")]
    TooManyDirections { found: String },
    /// Nothing but commas.
    #[error("expected a value")]
    NoValue,
    /// Not two sizes.
    #[error("expected a range such as '4k-64k', found '{found}'")]
    Range { found: String },
    /// Blocks without bytes.
    #[error("a block of 0 bytes")]
    EmptyBlock,
    /// Files without bytes.
    #[error("files of 0 bytes")]
    EmptyFiles,
    /// A range of file sizes whose first is larger.
    #[error("'{found}' counts backwards, and fio would take it for a file without end")]
    SizesBackwards { found: String },
    /// `rw` with trims.
    #[error("discarding needs a block device, and disklab's jobs work on files")]
    Discard,
    /// What follows `rw=randread:`.
    #[error("expected how many I/Os follow one place behind the ':', found '{found}'")]
    Run { found: String },
    /// A percentile that is none.
    #[error("percentiles are from 0 to 100")]
    Percentile,
    /// More percentiles than fio takes.
    #[error("more than the {most} percentiles that fio takes")]
    TooManyPercentiles { most: usize },
    /// Longer than the steady state may have to last.
    #[error("expected at most a day")]
    MoreThanADay,
    /// An I/O engine that only fio has.
    #[error("the native engine has no '{found}'; {other_way}")]
    NativeEngine { found: String, other_way: &'static str },
    /// `ioengine=null` in a study.
    #[error("'null' touches no file, so a study would measure nothing")]
    NullEngine,
    /// An I/O engine that works on no files.
    #[error(
        "fio's I/O engine '{found}' is not supported: {why}, and disklab's jobs read and write files"
    )]
    UnsupportedEngine { found: String, why: &'static str },
}
