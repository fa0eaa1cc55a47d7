//! Where a study runs.
//!
//! A [`Bench`] checks a campaign (what can run here, what cannot and why); through its stages
//! it becomes a [`CellExecutor`], which carries out the plans of cells. `loop`, `dir` and `disks` do it on this machine; the lab boots
//! guests in which the same code does it.

mod axes;
mod bench;
mod caretaker;
mod cell;
mod compile;
mod consent;
mod device_bench;
mod dir_bench;
mod disk_drives;
mod drives;
mod error;
mod executor;
mod job_devices;
mod lab;
mod loaded_study;
mod loop_drives;
mod making;
mod own_directory;
mod preflight;
mod remount;
pub mod safety;

pub use axes::{AXES, KnownAxis, SPEED_AXIS, WrongAxis, check_axes, set_ordinary};
pub use bench::{Bench, BenchProfile, CheckedBench, ConfirmedBench, PreparedBench};
pub use caretaker::check_speed;
pub use cell::{check_events, check_plan};
pub use consent::confirm_erasing;
pub use device_bench::DeviceBench;
pub use dir_bench::{DirBench, free_space};
pub use disk_drives::DiskDrives;
pub use drives::{Drives, Ready};
pub use error::{BenchError, CellError, Objection, WriteCacheProblem};
pub use executor::{CellExecutor, CellOutcome, CellProgress, CellWatcher, EndedCell, Phase};
pub use job_devices::JobDevices;
pub use lab::{
    CELL_JOB, DrivesError, FaultProblem, GuestError, KernelSource, LabBench, LabKernel,
    LabSettings, ModelError, ModelledDrives, MountError, NotCharged, ReportedFailure,
    SerialNumbers, UnavailableSize, carry_out_in_guest, check_charges, check_faults, drive_faults,
    find_model, find_processor, processor_of, study_processor,
};
pub use loaded_study::{BenchNeeds, LoadedStudy};
pub use loop_drives::LoopDrives;
pub use preflight::Preflight;
