//! Stacks: layers that turn drives into a directory, bottom-up.
//!
//! Each kind of layer is one file in `layers/` and one line in [`LAYERS`]. What
//! a layer makes it first enters in the [`Ledger`], so that it is torn down
//! whatever happens: on an error, on Ctrl-C, and at the next start after a
//! `kill -9`.

mod array_scrub;
mod blkid;
mod care;
#[cfg(test)]
mod characterization_tests;
mod differ_words;
mod error;
mod find;
mod format_writes;
mod graph;
mod inputs;
mod kept_writes;
mod layer;
mod layers;
mod ledger;
mod loops;
mod lvm_tools;
mod machine;
mod md_arrays;
mod member_rebuild;
mod mounts;
mod need;
mod on_drive;
mod reading;
mod redundancy;
mod remount;
mod seeded;
mod shape;
mod shape_error;
mod stack;
#[cfg(test)]
mod test_support;
mod udev;
pub mod undo;
mod wait;
mod windowed_pass;

pub use care::{care_for, passes, rebuild_limit, scrubbed};
pub use error::{LedgerElsewhere, LeftAlone, LineProblem, QueueProblem, StackError, Undecidable};
pub use format_writes::{DeviceState, FirstPass, FormatWrites, PassKind};
pub use inputs::{InputKind, Inputs};
pub use kept_writes::KeptWrites;
pub use layer::{
    Layer, LayerContext, LayerInUse, LayerKind, LayerOutput, MadePool, RebuildProgress,
};
pub use layers::{LAYERS, find_layer};
pub use ledger::{
    Distrust, InvalidLedgerId, Ledger, LedgerId, Leftover, LeftoverDecision, Recovery, decide,
    recover,
};
pub use machine::{Machine, known_needs};
pub use mounts::mounts;
pub use need::{Need, needs_words};
pub use remount::Remount;
pub use shape::{Redundancy, Shape, SmallWrite, Volume};
pub use shape_error::{Below, ShapeError};
pub use stack::{Made, Stack};
pub use undo::{DeviceMapping, FileIdentity, Obstacle, QueueSetting, Undo, UnseenContent};
pub use windowed_pass::WindowedPass;
