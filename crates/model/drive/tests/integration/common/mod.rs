//! What the tests share; loads and formulas are those of the checks.

pub mod script;

use disklab_drive::hdd::Parameters;
use disklab_drive::{SHIPPED, shipped};
pub use disklab_validation::load::{carry_out, next_completion, random_iops, request};
pub use disklab_validation::theory::rate;

/// The platters and arms of the shipped drives that have some, as drives with
/// conventional recording, and with the write cache on, however they are delivered; all of which
/// a loss of power empties. One of each family: its other drives differ in a few numbers, and pass their checks in
/// `disklab-validation`.
pub fn drives() -> Vec<(&'static str, Parameters)> {
    SHIPPED
        .iter()
        .filter_map(|(id, _)| {
            let file = shipped(id).expect("all shipped drives load");
            let mechanics = file.mechanics().filter(|_| file.like.is_none())?;
            Some((*id, Parameters { write_cache: true, persistent: 0, ..mechanics.clone() }))
        })
        .collect()
}
