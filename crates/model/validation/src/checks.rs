//! The table of checks.

use disklab_drive::{DriveFile, shipped};

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

/// What a table of drives' ids says of a shipped drive, and of none that was made from its file.
pub(crate) fn of_shipped<'a, T>(file: &DriveFile, table: &'a [(&str, T)]) -> Option<&'a T> {
    let (_, entry) = table.iter().find(|(id, _)| *id == file.id)?;
    let model = shipped(&file.id)?.without_spread();
    (model.kind == file.clone().without_spread().kind).then_some(entry)
}
