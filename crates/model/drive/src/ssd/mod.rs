//! Solid-state drives.
//!
//! The structure is that of NVMeVirt (Kim and others, FAST '23): a page-mapped flash
//! translation layer with greedy garbage collection, and dies, channels and a link
//! with the times at which they are busy. The cache of one-bit cells is added.

mod buffer;
mod check;
mod disk;
mod flash;
mod ftl;
#[cfg(test)]
mod ftl_tests;
mod host_writes;
mod lane;
mod layout;
mod map;
mod parameters;
mod ranks;
mod read;
mod read_ahead;
mod reclaim;
mod requests;
mod translation;

pub use disk::SolidState;
pub use ftl::Wear;
pub use layout::{Layout, SPARE_LINES};
pub use parameters::{BufferParameters, FlashParameters, Interface, Parameters, SlcCache};
pub(crate) use read::read;
pub use translation::Translation;
