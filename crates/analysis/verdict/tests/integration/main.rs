//! Verdicts on runs whose truth is known.

mod calibration;
mod docs;
#[path = "../../examples/calibration/fixture.rs"]
mod fixture;
#[path = "../../examples/calibration/measures.rs"]
mod measures;
mod new_kind;
mod run;
mod two_runs;
#[path = "../../examples/calibration/worlds.rs"]
mod worlds;
