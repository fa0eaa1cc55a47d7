//! A cell: one measurement.
//!
//! Pure. [`Levels`] say which it is, [`order()`] lays the cells of a run out in randomised
//! complete blocks, and a [`CellPlan`] has everything that one needs.

mod axes;
mod care;
mod drive;
mod fault;
mod layers;
mod levels;
mod loss;
mod machine;
mod notation;
mod order;
mod plan;
mod workload;

pub use axes::{Axes, AxesError, AxisError, StudyAxis};
pub use care::Care;
pub use drive::{DriveKind, DriveModelPlan, DrivePlan};
pub use fault::{FaultPlan, FaultTextError, MOST_FAULTS};
pub use layers::{
    DATA, DriveRange, InputSpec, LayerSpec, PlannedInput, PlannedLayer, SPARE, SPARES,
};
pub use levels::{Cell, Levels, level_words};
pub use loss::LossTree;
pub use machine::{HostPlan, LabPlan, MachinePlan};
pub use notation::{LONGEST_LAYERS, parse_layers, parse_options};
pub use order::{SeedSharing, cell_seed, making_seed, order};
pub use plan::{CellEstimate, CellPlan, CellPlanError, MakingPlan, Needs};
pub use workload::{Caches, WorkloadPlan};
