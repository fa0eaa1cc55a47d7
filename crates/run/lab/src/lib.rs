//! The lab: a real Linux kernel on modelled drives, in virtual time.
//!
//! The kernel is User-Mode Linux, an ordinary program. Its clock advances only
//! when this crate says so, and its disks are served from here: the kernel's own
//! file systems, md and device-mapper run, unchanged, on drives that are models.
//! An hour in which nothing happens takes no time.
//!
//! [`Lab::start`] boots a guest, [`Lab::run`] serves it until it is powered off.
//! `lab-kernel` builds the kernel; `lab-guest` is what runs inside.

mod block;
mod boot;
mod bus;
mod calendar;
mod confinement;
pub mod console;
mod content;
mod disk;
mod error;
mod event_loop;
mod guest_memory;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod hostile;

mod kept_disks;
mod kernel_answers;
mod lab;
mod leases;
mod lost_memory;
mod mappings;
mod open_files;
mod options;
mod options_check;
mod options_problem;
mod pinned;
mod place;
mod protocol_breach;
mod queue_words;
mod scsi;
mod shared_memory;
mod sockets;
mod steady;
mod vhost;

pub use bus::check_bus;
pub use confinement::ConfinementSupport;
pub use content::{ContentLimits, ContentSpace, DiskContent};
pub use disk::{DiskFaults, DiskOptions, ReadLog, ReadsFromMemory};
pub use error::LabError;
pub use event_loop::EventCounts;
pub use kept_disks::KeptDisks;
pub use kernel_answers::{printed_configuration, printed_release};
pub use lab::{DiskReport, Lab, LabReport};
pub use leases::{CpuLease, CpuLeases};
pub use mappings::MappingLimit;
pub use options::{Console, LabOptions};
pub use options_problem::{MOST_DISKS, OptionsProblem};
pub use pinned::{Pinned, processors};
pub use protocol_breach::ProtocolBreach;
pub use steady::Steady;

pub(crate) use sockets::Sockets;
