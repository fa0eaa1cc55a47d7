//! Plans a study's run, carries it out, records it and resumes it.
//!
//! A [`Plan`] says what would be run, on what and in which order; an [`RunEstimate`] what that
//! costs. Both are pure. A run goes through stages, each of which consumes the one before:
//! [`PlannedRun`] has a bench and touched nothing, [`CheckedRun`] has looked at the devices,
//! [`OpenRun`] has the user's consent, a directory and a bench that is ready.
//!
//! It knows no command line and no exit code: a caller passes [`RunOptions`], watches through
//! an [`Observer`], and gets a [`RunnerError`].

mod adaptive;
mod drives;
mod error;
mod estimate;
mod faults;
mod leftovers;
mod leftovers_error;
mod observer;
mod one_cell;
mod options;
mod parts;
mod pilot;
mod pilot_error;
mod pilot_run;
mod places;
mod plan;
mod plan_problem;
mod recorder;
mod reference;
mod run;
mod selection;
pub mod sensitivity;
mod setup;
mod stop_options;
mod studies;
mod too_little;
mod version;

pub use adaptive::{LookRule, StopRule};
pub use disklab_options::{BenchKind, Bus, MovedParameters, RunPart, RunSettings, UnknownBench};
pub use disklab_study::{RebuildRequest, ScrubRequest, StudyGoal};
pub use error::{DirectoryProblem, RunnerError};
pub use estimate::{Prediction, RunEstimate};
pub use leftovers::{decide_leftover, leftover_lines, tear_down_leftovers};
pub use leftovers_error::LeftoversError;
pub use observer::{CampaignProgress, CellForecast, NextLook, Observer, UpcomingCells};
pub use one_cell::{CarriedOut, CellOptions, carry_out_cell, check_cell};
pub use options::{OptionsError, RunOptions};
pub use parts::{
    CarriedOutPart, NextParts, PartHead, PartOptions, PartPlan, PartProblem, WrittenPart,
    after_look, carry_out_part, check_divisible, part_file, parts_in, write_parts, written_parts,
};
pub use pilot::Pilot;
pub use pilot_error::PilotError;
pub use places::{check_outputs, check_vacant, claim_outputs, new_run_directory, state_directory};
pub use plan::{Plan, PlanError};
pub use plan_problem::PlanProblem;
pub use run::{OpenRun, ResumeRequest, Resumed, RunRequest, resume, run_until_done, session};
pub use selection::SelectionError;
pub use setup::{
    Caller, CheckedRun, DataDirectory, KernelBuilder, PlannedRun, check_zfs, kernel_parts,
    usable_memory,
};
pub use stop_options::{StopOptions, parse_precision};
pub use studies::{FoundStudy, SHIPPED_STUDIES, StudyError, find_study, is_shipped, is_study};
pub use version::VERSION;
