//! A queue of a disk.

use std::sync::atomic::Ordering;

use virtio_bindings::virtio_ring::VRING_AVAIL_F_NO_INTERRUPT;
use virtio_queue::{DescriptorChain, Queue, QueueOwnedT, QueueT};
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

use super::GuestRegions;

/// The kernel's `MAX_SUPPORTED_QUEUE_SIZE`.
pub(crate) const RING_LIMIT: u16 = 256;

/// A split virtqueue in guest memory.
#[derive(Debug)]
pub(crate) struct Ring {
    queue: Queue,
    enabled: bool,
}

impl Ring {
    /// A ring that is not set up yet.
    pub fn new() -> Option<Self> {
        Queue::new(RING_LIMIT).ok().map(|queue| Self { queue, enabled: false })
    }

    /// Sets the number of descriptors.
    pub fn set_size(&mut self, size: u32) -> bool {
        u16::try_from(size).is_ok_and(|size| self.queue.try_set_size(size).is_ok())
    }

    /// Sets where to begin.
    pub fn set_base(&mut self, base: u32) -> bool {
        let Ok(base) = u16::try_from(base) else { return false };
        self.queue.set_next_avail(base);
        self.queue.set_next_used(base);
        true
    }

    /// Where it is.
    pub fn base(&self) -> u16 {
        self.queue.next_avail()
    }

    /// Sets where its three parts lie.
    pub fn set_addresses(
        &mut self,
        descriptors: GuestAddress,
        used: GuestAddress,
        available: GuestAddress,
    ) -> bool {
        self.queue.try_set_desc_table_address(descriptors).is_ok()
            && self.queue.try_set_used_ring_address(used).is_ok()
            && self.queue.try_set_avail_ring_address(available).is_ok()
    }

    /// Switches it on or off. It can only be switched on where it lies in `memory`.
    pub fn enable(&mut self, on: bool, memory: Option<&GuestRegions>) -> bool {
        self.queue.set_ready(on);
        self.enabled = on && memory.is_some_and(|m| self.queue.is_valid(m.map()));
        self.enabled == on
    }

    /// The chains that the guest made available, up to where its ring ended at some time,
    /// or all of them; `None` where the ring is broken.
    pub fn take<'m>(
        &mut self,
        memory: &'m GuestRegions,
        end: Option<u16>,
    ) -> Option<Vec<DescriptorChain<&'m GuestMemoryMmap>>> {
        if !self.enabled {
            return Some(Vec::new());
        }
        let count = end.map_or(u16::MAX, |end| end.wrapping_sub(self.queue.next_avail()));
        let chains = self.queue.iter(memory.map()).ok()?;
        Some(chains.take(usize::from(count)).collect())
    }

    /// Gives a chain back, with `bytes` written to it. A ring that is switched off
    /// has forgotten it.
    pub fn give_back(&mut self, memory: &GuestRegions, head: u16, bytes: u32) -> bool {
        !self.enabled || self.queue.add_used(memory.map(), head, bytes).is_ok()
    }

    /// Whether the guest wants an interrupt for chains given back.
    pub fn wants_interrupt(&self, memory: &GuestRegions) -> bool {
        if !self.enabled {
            return false;
        }
        let flags = GuestAddress(self.queue.avail_ring());
        let flags: u16 = memory.map().load(flags, Ordering::SeqCst).unwrap_or(0);
        u32::from(u16::from_le(flags)) & VRING_AVAIL_F_NO_INTERRUPT == 0
    }
}
