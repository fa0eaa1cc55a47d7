//! The record of a cell: what was measured, and the conditions in which it was.
//!
//! Data alone: nothing here asks a machine. What measures writes it, and everything
//! after that (store, verdict, report, import) reads it.

mod cell_result;
mod command_line;
mod conditions;
mod drive_pass;
mod drive_traffic;
mod environment;
mod figure;
mod kept;
mod lab_facts;
mod latency;
mod mount_state;
mod operation_kind;
mod reference;
mod sample;
mod step;
mod step_profile;
mod task;
mod trace_entry;
mod windows;

pub use cell_result::CellResult;
pub use command_line::command_line;
pub use conditions::{
    ArcActivity, ArrayState, Clock, Conditions, DriveConditions, FileData, Link, MemoryActivity,
    OTHER_LAZY_INIT, OWN_LAZY_INIT, Pool, Power, Space, UNKNOWN_LAZY_INIT,
};
pub use drive_pass::{DrivePass, PassWindow};
pub use drive_traffic::{DriveSeries, DriveTraffic, MemoryReads, Series};
pub use environment::{DriveState, Environment, LabKernelIdentity, Tool};
pub use figure::{Direction, Figure};
pub use kept::KeptData;
pub use lab_facts::{HostWork, KeptContent, LabFacts, ShingledWork, UnseenWork};
pub use latency::{Latency, LatencyHistogram};
pub use mount_state::{InvalidMount, MountState};
pub use operation_kind::OperationKind;
pub use reference::{
    LabOutcome, LabReference, NetworkLink, NetworkShare, Reference, ReferenceFigure,
};
pub use sample::{Note, Overhead, Sample};
pub use step::{Cpu, NotSteady, Steadiness, Step, StepEvent, Trend};
pub use step_profile::{
    ContentProfile, Durability, FileSet, Order, Requests, StepProfile, SyncCall, TimeIn,
};
pub use task::Task;
pub use trace_entry::TraceEntry;
pub use windows::{BINS, OpenWindow, Since, Windows, bin, middle};
