//! The virtio block device (OASIS Virtual I/O Device 1.2, 5.2).

mod buffers;
mod configuration;
mod request;

pub(crate) use buffers::GuestBuffers;
pub(crate) use configuration::{Configuration, RANGE_SECTORS, SERIAL_BYTES, WRITE_CACHE_OFFSET};
pub(crate) use request::{HEADER_BYTES, RequestRefusal, RequestWork, parse_request, within};
