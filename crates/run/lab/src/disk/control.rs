//! A SCSI disk's control queue.

use disklab_drive::Nanos;
use vm_memory::GuestAddress;

use crate::vhost::GuestRegions;

/// The queue's number.
pub(super) const CONTROL_QUEUE: usize = 0;

/// The requests of the queue.
#[derive(Debug, Default)]
pub(super) struct ControlQueue {
    /// Resets that the drive has not answered.
    pub resets: Vec<Reset>,
    /// Requests that are done, and the bytes written to each.
    pub done: Vec<(u16, u32)>,
}

/// A reset, or another request while it is answered.
#[derive(Debug)]
pub(super) struct Reset {
    pub head: u16,
    /// Where its response goes.
    pub response: Option<GuestAddress>,
    /// When the host adapter gives up.
    pub until: Nanos,
}

impl ControlQueue {
    /// Whether nothing is to be given back.
    pub fn is_done(&self) -> bool {
        self.done.is_empty()
    }

    /// When the host adapter gives up.
    pub fn next_event(&self) -> Option<Nanos> {
        self.resets.iter().map(|reset| reset.until).min()
    }

    /// Writes a response. Returns whether its place is in the guest's memory.
    pub fn answer(&mut self, memory: &GuestRegions, reset: &Reset, response: u32) -> bool {
        // Both responses are below 256.
        let place = reset.response;
        let written = place.is_some_and(|place| memory.write(&[response as u8], place));
        self.done.push((reset.head, u32::from(written)));
        written || place.is_none()
    }
}
