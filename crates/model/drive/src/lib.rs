//! Models of drives in virtual time.
//!
//! Pure: no clock, no files, no threads. A [`Drive`] is given requests and the
//! time, and says when they complete. The same calls give the same answers, on
//! every machine.
//!
//! A drive is described by a file ([`load`]); those of the studies are
//! [`SHIPPED`]. The kinds of drives are a table in [`Kind`].

mod by_name;
mod drive;
mod durability;
mod fault;
mod faults;
mod file;
pub mod hdd;
mod queue_limits;
mod resumed_drive;
mod sectors;
mod shipped;
pub mod smr;
pub mod ssd;
mod statistics;
#[cfg(test)]
mod testing;
mod transport;
mod values;

pub use by_name::{by_name, shipped};
pub use drive::{Completion, Drive, Nanos, Operation, Request, Status};
pub use durability::{DurabilityLog, Durable, UnsettledWrites};
pub use fault::Fault;
pub use faults::{
    DrawFrom, DrawRequest, DriveFault, DriveFaults, FAULT_CLAUSES, FAULTS, FaultDraw, FaultKind,
    FaultRecord, InvalidFault, Start, WrittenTo,
};
pub use file::{Class, DriveFile, Kind, Plausible, SettingChange, SizeError, load, load_with};
pub use queue_limits::{IoScheduler, QueueLimits, scheduler_requests};
pub use resumed_drive::ResumedDrive;
pub use shipped::SHIPPED;
pub use statistics::{HostStatistics, ShingledStatistics, Statistics};
pub use transport::Transport;
pub use values::SATA_LINKS;
