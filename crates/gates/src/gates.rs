//! The table of gates.

use disklab_drive::DriveFile;

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

/// Puts a drive through all gates that concern it.
pub fn check(file: &DriveFile) -> Vec<Checked> {
    GATES
        .iter()
        .filter_map(|gate| {
            let outcome = (gate.run)(file)?;
            Some(Checked { id: gate.id, title: gate.title, about: gate.about, outcome })
        })
        .collect()
}
