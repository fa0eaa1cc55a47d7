//! The table of gates.

use disklab_drive::{DriveFile, shipped};

use crate::{Checked, Gate, hdd, smr, ssd};

/// All gates, in the order of the pages.
pub const GATES: [&Gate; 11] = [
    &hdd::seek::GATE,
    &hdd::position::GATE,
    &hdd::depth::GATE,
    &hdd::span::GATE,
    &hdd::caches::GATE,
    &hdd::destage::GATE,
    &smr::cliff::GATE,
    &smr::sequential::GATE,
    &ssd::amplification::GATE,
    &ssd::depth::GATE,
    &ssd::writes::GATE,
];

/// Puts a drive through all gates that concern it: the model, not one of its specimens, which
/// theory knows nothing of.
pub fn check(file: &DriveFile) -> Vec<Checked> {
    let file = &file.clone().without_spread();
    GATES
        .iter()
        .filter_map(|gate| {
            let outcome = (gate.run)(file)?;
            Some(Checked { id: gate.id, title: gate.title, about: gate.about, outcome })
        })
        .collect()
}

/// What a table of drives' ids says of a shipped drive, and of none that was made from its file.
pub(crate) fn of_shipped<'a, T>(file: &DriveFile, table: &'a [(&str, T)]) -> Option<&'a T> {
    let (_, entry) = table.iter().find(|(id, _)| *id == file.id)?;
    let model = shipped(&file.id)?.without_spread();
    (model.kind == file.clone().without_spread().kind).then_some(entry)
}
