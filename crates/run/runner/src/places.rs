//! Directories that disklab uses.

use std::path::{Path, PathBuf};

use disklab_store::{DirectoryClaim, now};
use jiff::tz::TimeZone;

use crate::RunnerError;

/// Where disklab remembers what it has made and must tear down.
pub fn state_directory() -> PathBuf {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(|| PathBuf::from("/var/lib"))
        .join("disklab")
}

/// Refuses a directory for outputs that disklab must not, or cannot, write to.
///
/// # Errors
/// [`RunnerError::Open`] with what is in it, or what the system says.
pub fn check_outputs(path: &Path) -> Result<(), RunnerError> {
    DirectoryClaim::check(path).map_err(RunnerError::Open)
}

/// Refuses a directory that holds a run, or one that a run must not or cannot be written to.
///
/// # Errors
/// [`RunnerError::Occupied`], or as [`check_outputs`].
pub fn check_vacant(path: &Path) -> Result<(), RunnerError> {
    if holds_run(path) {
        return Err(RunnerError::Occupied(path.to_owned()));
    }
    check_outputs(path)
}

/// Whether a directory holds a run.
pub(crate) fn holds_run(path: &Path) -> bool {
    path.join("run.sqlite").exists()
}

/// Claims a directory for outputs.
///
/// # Errors
/// As [`check_outputs`].
pub fn claim_outputs(path: &Path) -> Result<DirectoryClaim, RunnerError> {
    DirectoryClaim::make(path).map_err(RunnerError::Open)
}

/// Ledgers of things to tear down, in the directory for such state.
pub(crate) fn ledger_directory(state: &Path) -> PathBuf {
    state.join("ledger")
}

/// A run's directory where the user named none: `disklab-runs/nas-20261121-104933`.
pub fn new_run_directory(study: &str) -> PathBuf {
    let time = now().to_zoned(TimeZone::system()).strftime("%Y%m%d-%H%M%S").to_string();
    let base = Path::new("disklab-runs").join(format!("{study}-{time}"));
    (1..)
        .map(
            |n| {
                if n == 1 { base.clone() } else { PathBuf::from(format!("{}-{n}", base.display())) }
            },
        )
        .find(|path| !path.exists())
        .unwrap_or(base)
}
