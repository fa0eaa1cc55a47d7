//! The lab as a bench: each cell has a guest of its own, with new drives, in
//! virtual time. What one cell does to its kernel no other cell sees, and a cell
//! is the same whether it runs first, last, or again after an interruption.

mod bench;
mod drives;
mod drives_error;
mod fault_problem;
mod faults;
mod guest;
mod host;
mod job;
mod machine;
mod made_drives;
mod model;
mod model_error;
mod one_cell;
mod processor;
mod serial;
mod shared;
mod workers;

pub use bench::{KernelSource, LabBench};
pub use drives::ModelledDrives;
pub(crate) use drives::check_lab;
pub use drives_error::{DrivesError, UnavailableSize};
pub use fault_problem::FaultProblem;
pub use faults::{check_faults, drive_faults};
pub use guest::{GuestError, MountError, carry_out_in_guest};
pub(crate) use host::host_of;
pub use job::ReportedFailure;
pub use model::find_model;
pub use model_error::ModelError;
pub use processor::{NotCharged, check_charges, find_processor, processor_of, study_processor};
pub use serial::SerialNumbers;
pub use shared::{LabKernel, LabSettings};

/// The job by which the guest's first program knows that it is to carry out a
/// cell: the word behind [`disklab_lab_guest::GUEST`].
pub const CELL_JOB: &str = "cell";
