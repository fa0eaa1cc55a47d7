//! Folders that disklab uses.

use std::path::{Path, PathBuf};

use disklab_store::DirectoryClaim;
use jiff::Zoned;

use crate::exit::Failure;

/// Where disklab remembers what it has made and must take down.
pub fn state_folder() -> PathBuf {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(|| PathBuf::from("/var/lib"))
        .join("disklab")
}

/// Refuses a directory for outputs that disklab must not, or cannot, write to.
pub fn check_outputs(path: &Path) -> Result<(), Failure> {
    DirectoryClaim::check(path).map_err(Failure::usage_error)
}

/// Claims a directory for outputs.
pub fn claim_outputs(path: &Path) -> Result<DirectoryClaim, Failure> {
    DirectoryClaim::make(path).map_err(Failure::usage_error)
}

/// A run's folder where the user named none: `disklab-runs/nas-20261121-104933`.
pub fn new_run_folder(study: &str) -> PathBuf {
    let time = Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
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
