//! The table of checks.

use disklab_drive::DriveFile;

use crate::{Check, Checked, hdd, smr, ssd};

/// All checks, in the order of the pages.
pub const CHECKS: [&Check; 13] = [
    &hdd::seek::CHECK,
    &hdd::position::CHECK,
    &hdd::scan::CHECK,
    &hdd::depth::CHECK,
    &hdd::span::CHECK,
    &hdd::caches::CHECK,
    &hdd::destage::CHECK,
    &smr::cliff::CHECK,
    &smr::sequential::CHECK,
    &ssd::amplification::CHECK,
    &ssd::depth::CHECK,
    &ssd::reads::CHECK,
    &ssd::writes::CHECK,
];

/// Puts a drive through all checks that concern it: the model, not one of its units, which
/// theory knows nothing of.
pub fn check(file: &DriveFile) -> Vec<Checked> {
    let file = &file.clone().without_spread();
    CHECKS
        .iter()
        .filter_map(|check| {
            let outcome = (check.run)(file)?;
            Some(Checked { id: check.id, title: check.title, about: check.about, outcome })
        })
        .collect()
}
