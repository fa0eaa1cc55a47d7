//! Requests of the guest that are in flight.

use disklab_drive::{Request, Status};

use crate::settings::PAGE;

pub(crate) const PAGE_SECTORS: u64 = PAGE / 512;

/// A request of the guest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    /// As it came.
    pub request: Request,
    /// Of a read: the page that comes next.
    pub page: u64,
    /// What it waits for: parts of the drive's work.
    pub waits: u32,
    /// Whether it has waited for the drive.
    pub waited: bool,
    /// Of a write: pages that it may make dirty.
    pub reserved: u64,
    /// How it ends, as far as that is known.
    pub status: Status,
    /// Which of all requests of the guest it is, from 0 on.
    pub number: u64,
}

impl Pending {
    /// Its first page, and the one after its last.
    pub fn pages(&self) -> (u64, u64) {
        let end = self.request.sector.saturating_add(self.request.sectors);
        (self.request.sector / PAGE_SECTORS, end.div_ceil(PAGE_SECTORS))
    }

    /// Bytes that it moves.
    pub fn bytes(&self) -> u64 {
        self.request.sectors.saturating_mul(512)
    }
}

/// Requests by their slots, which are used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestTable {
    slots: Vec<Option<Pending>>,
    free: Vec<usize>,
}

impl RequestTable {
    /// Its slot, until it is removed.
    pub fn enter(&mut self, request: Request, number: u64) -> usize {
        let page = request.sector / PAGE_SECTORS;
        let pending = Some(Pending {
            request,
            page,
            waits: 0,
            waited: false,
            reserved: 0,
            status: Status::Done,
            number,
        });
        if let Some(slot) = self.free.pop() {
            self.slots[slot] = pending;
            return slot;
        }
        self.slots.push(pending);
        self.slots.len() - 1
    }

    /// The request in a slot.
    pub fn get(&self, slot: usize) -> Option<&Pending> {
        self.slots.get(slot)?.as_ref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, slot: usize) -> Option<&mut Pending> {
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Takes a request out.
    pub fn take(&mut self, slot: usize) -> Option<Pending> {
        let pending = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(pending)
    }
}
