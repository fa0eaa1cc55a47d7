//! The host below a virtual machine: what QEMU and the host's kernel make of the
//! requests to a virtual disk before a drive sees them.
//!
//! Pure: no clock, no files. [`HostedDrive`] is a [`disklab_drive::Drive`] with another
//! one below it; [`HostSettings`] say by which of QEMU's cache modes they are connected.
//! `docs/internals/virtual-disks.md` says what is modelled, and after which sources.

mod backend;
mod cache_mode;
mod dirty_pages;
mod events;
mod hosted;
mod lru;
mod page_cache;
mod read_ahead;
mod reads;
mod requests;
mod settings;
mod write_back;
mod writes;

pub use cache_mode::CacheMode;
pub use hosted::HostedDrive;
pub use settings::{HostSettings, from_node, with_cache};
