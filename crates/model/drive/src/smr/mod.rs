//! Drive-managed shingled drives.
//!
//! Tracks overlap like shingles, so that only whole bands of them can be written.
//! What is not written in a long sequential run goes to a log at the outer edge first,
//! the persistent cache, and is merged into its band later: when the drive is idle, or
//! when the log is full, while the host waits. What is known of it is from A. Aghayev
//! and P. Desnoyers, 'Skylight: A Window on Shingled Disk Operation' (FAST 2015), and
//! from published measurements of the drive.
//!
//! The mechanics, the memory, the queue and the link are those of [`crate::hdd`].

mod bands;
mod cache;
mod parameters;
mod read;
mod shingles;
mod streams;
mod transaction;

pub(crate) use bands::{Band, Stretch};
pub use parameters::{CommitPoint, Parameters};
pub(crate) use read::read;
pub(crate) use shingles::{Cleaning, ShingleStep, Shingles};
