//! The device's side of vhost-user, as `arch/um/drivers/virtio_uml.c` speaks it.
//!
//! The `vhost` crate has the protocol too, but its handler reads blockingly from
//! a socket of its own and does not know the message `VRING_KICK`, by which
//! in-band notifications arrive, which virtual time cannot do without: an eventfd
//! would lose the order of kick and clock. So the dozen messages that the kernel
//! uses are here.

mod connection;
mod memory;
mod ring;
mod session;

pub(crate) use connection::Connection;
pub(crate) use memory::GuestRegions;
pub(crate) use ring::{RING_LIMIT, Ring};
pub(crate) use session::{SessionEvent, VhostSession};
