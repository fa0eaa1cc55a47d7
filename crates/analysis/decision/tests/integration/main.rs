//! Verdicts on runs whose truth is known.

mod calibration;
#[path = "../../examples/calibration/fixture.rs"]
mod fixture;
#[path = "../../examples/calibration/measures.rs"]
mod measures;
mod new_kind;
#[path = "../../examples/calibration/noise_models.rs"]
mod noise_models;
mod run;
mod two_runs;
