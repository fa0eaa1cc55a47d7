//! Hard disks with conventional recording.
//!
//! What each part is taken from: geometry and rates, the data sheets' outer and
//! inner rates on zones of constant density; seeks, Lee's curve; the caches,
//! Ruemmler and Wilkes, 'An Introduction to Disk Drive Modeling' (1994), and what
//! drives have been seen to do since.

mod arm;
mod check;
mod command;
mod disk;
mod events;
mod geometry;
mod link;
mod parameters;
mod queue;
mod ranges;
mod read;
mod read_cache;
mod rotation;
mod seek;
mod service;
mod shingled;
mod write_cache;
mod zones;

pub use crate::sectors::SectorFormat;
pub use disk::HardDisk;
pub(crate) use geometry::SECTOR;
pub use parameters::{Parameters, SeekTimes, WHOLE_QUEUE};
pub(crate) use read::read;
pub(crate) use write_cache::WriteCache;
