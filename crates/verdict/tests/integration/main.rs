//! Verdicts on runs whose truth is known.

#[path = "../../examples/calibration/bed.rs"]
mod bed;
mod calibration;
mod docs;
#[path = "../../examples/calibration/measures.rs"]
mod measures;
mod run;
mod two_runs;
#[path = "../../examples/calibration/worlds.rs"]
mod worlds;
