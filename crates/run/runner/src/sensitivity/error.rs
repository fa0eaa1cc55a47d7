//! Why there is no sensitivity analysis.

use std::path::PathBuf;

use disklab_bench::DrivesError;

/// Why there is no analysis.
#[derive(Debug, thiserror::Error)]
pub enum SensitivityError {
    /// Real drives have no parameters that could be moved.
    #[error("only the lab has models of drives whose parameters can be moved; leave --on out")]
    NotTheLab,
    /// No drive of the study has this model.
    #[error("--drive {name}: the study has no drive of this model; it has {known}")]
    UnknownDrive {
        /// The model.
        name: String,
        /// Those that it has, in a list.
        known: String,
    },
    /// Nothing is uncertain, or all of it was left out.
    #[error(
        "no parameter is left to move: the drives {drives} give no range in a table [plausible], \
         or --drive, --field and --only leave none"
    )]
    NothingToMove {
        /// The study's drives, in a list.
        drives: String,
    },
    /// Every claim lost its cells.
    #[error(
        "none of the published claims can be measured here: --only and --without leave no claim's \
         cells"
    )]
    NoClaimLeft,
    /// There is nothing to claim.
    #[error(
        "nothing was published about '{study}', and no workload is left that two stacks run: \
         there is nothing to compare"
    )]
    NothingToCompare {
        /// Id of the study.
        study: String,
    },
    /// Ends of ranges exclude each other.
    #[error(
        "no drive was found in {tries} draws that is possible with all parameters at ends of \
         their ranges: {source}; choose fewer with --field"
    )]
    NoPossibleDrive {
        /// How many were drawn.
        tries: usize,
        /// What is wrong with the last of them.
        source: Box<DrivesError>,
    },
    /// The directory has one.
    #[error(
        "{} already contains an analysis; use another --out, or continue it with --resume",
        .0.display()
    )]
    Occupied(PathBuf),
    /// The directory has none that can be resumed.
    #[error("{} contains no analysis to resume: {}: {source}", directory.display(), file.display())]
    NotThere {
        /// Where it was looked for.
        directory: PathBuf,
        /// The file that remembers it.
        file: PathBuf,
        /// What is wrong with it.
        source: PlanFileError,
    },
    /// Parts of a run of it are not among those that are merged.
    #[error(
        "no part of the run '{0}' is among these; carry all parts out (disklab run --part), and merge \
         them together"
    )]
    NoPartOf(String),
    /// A part belongs to no run of it.
    #[error("{} is not a part of the same analysis as the others", .0.display())]
    OtherPart(PathBuf),
    /// It was planned, and nothing was run.
    #[error("nothing was run in {} yet; start again with another --out", .0.display())]
    NothingRun(PathBuf),
    /// It cannot be remembered.
    #[error("cannot write {}: {source}", file.display())]
    NotSaved {
        /// The file that remembers it.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The table of what was published is wrong.
    #[error(transparent)]
    Catalogue(#[from] disklab_source::SourceError),
}

/// What is wrong with the file that remembers an analysis.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It is not what disklab writes.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
