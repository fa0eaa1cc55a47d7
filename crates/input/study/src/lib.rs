//! The study format: what is compared with what, on which drives, by which work.
//!
//! Pure: a text comes in, a [`Study`] goes out, or a [`SourceError`](disklab_source::SourceError) that names
//! the file, the line and what was expected.

mod drive_pass;
mod drive_request;
mod drive_spec;
mod expand;
mod faults;
mod id;
mod kept_files;
mod lab;
mod layout;
mod limits;
mod load;
mod machine;
mod model_sizes;
mod parameters;
mod pattern;
mod plan;
mod quick;
mod shipped;
mod study;

pub use drive_pass::{InvalidRebuild, InvalidScrub, RebuildRequest, ScrubRequest};
pub use drive_request::{DriveRequest, DriveRequestError, DriveRequests};
pub use drive_spec::DriveSpec;
pub use faults::{FAULT_AXIS, NO_FAULT, StudyFault};
pub use lab::{BusError, SCSI_TIMEOUT, SCSI_TIMEOUTS, SLOWEST_BUS, bus, scsi_timeout};
pub use limits::{DRIVE_SIZES, MOST_CELLS, MOST_DRIVES, TooManyCells, check_run_size};
pub use load::{SPREADS, load};
pub use machine::{MACHINES, MachineProfile, MachineSetting};
pub use model_sizes::{model_size, nearest_models};
pub use pattern::{matches, selects};
pub use plan::{LeftOut, PlannedStack};
pub use shipped::{SHIPPED_WORKLOADS, ShippedWorkload, read_shipped};
pub use study::{
    ChartKind, Measure, Part, Percentile, Question, StackSpec, Study, StudyGoal, WorkloadSpec,
};
