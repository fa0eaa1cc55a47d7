//! The bytes that a descriptor chain points to.

use std::ops::Deref;

use virtio_queue::DescriptorChain;
use vm_memory::{GuestAddress, GuestMemory};

use crate::vhost::GuestRegions;

/// Pieces of guest memory, in the order of the chain, the readable and the
/// writable ones apart. The guest may cut them as it likes.
#[derive(Debug, Default)]
pub(crate) struct GuestBuffers {
    readable: Vec<(GuestAddress, u32)>,
    writable: Vec<(GuestAddress, u32)>,
}

impl GuestBuffers {
    /// Forgets the last chain and takes the pieces of `chain`. Returns whether it has
    /// no more than `limit`: tables of descriptors can have 65,536, and each step of
    /// a request goes through its pieces.
    pub fn take<M>(&mut self, chain: DescriptorChain<M>, limit: u16) -> bool
    where
        M: Deref,
        M::Target: GuestMemory,
    {
        self.readable.clear();
        self.writable.clear();
        // The iterator ends by itself on cycles and tables outside memory.
        for (number, descriptor) in chain.enumerate() {
            if number >= usize::from(limit) {
                return false;
            }
            let piece = (descriptor.addr(), descriptor.len());
            match descriptor.is_write_only() {
                true => self.writable.push(piece),
                false => self.readable.push(piece),
            }
        }
        true
    }

    /// Bytes from the guest.
    pub fn readable_bytes(&self) -> u64 {
        self.readable.iter().map(|p| u64::from(p.1)).sum()
    }

    /// Bytes to the guest.
    pub fn writable_bytes(&self) -> u64 {
        self.writable.iter().map(|p| u64::from(p.1)).sum()
    }

    /// Where the first so many bytes to the guest go, if they lie in one piece.
    pub fn first_writable(&self, length: u64) -> Option<GuestAddress> {
        let (address, bytes) = self.writable.first()?;
        (u64::from(*bytes) >= length).then_some(*address)
    }

    /// Where the last byte to the guest goes.
    pub fn last_writable(&self) -> Option<GuestAddress> {
        let (address, bytes) = self.writable.iter().rev().find(|piece| piece.1 > 0)?;
        address.0.checked_add(u64::from(bytes - 1)).map(GuestAddress)
    }

    /// Fills `data` with the guest's bytes from `skip` on. What is not there, or
    /// lies outside the memory that the guest shares, becomes zeros.
    pub fn read(&self, memory: &GuestRegions, skip: u64, data: &mut [u8]) {
        let mut end = 0;
        pieces(&self.readable, skip, data.len(), |place, address| {
            end = place.end;
            memory.read(&mut data[place], address);
            true
        });
        data[end..].fill(0);
    }

    /// Gives `data` to the guest, from byte `skip` of its buffers on. Returns
    /// whether all of it found its place.
    pub fn write(&self, memory: &GuestRegions, skip: u64, data: &[u8]) -> bool {
        pieces(&self.writable, skip, data.len(), |place, address| {
            memory.write(&data[place], address)
        })
    }

    /// Gives the guest bytes in a row, from byte `skip` of its buffers on.
    pub fn writer<'b>(&'b self, memory: &'b GuestRegions, skip: u64) -> Writer<'b> {
        Writer { list: &self.writable, skip, memory }
    }
}

/// See [`GuestBuffers::writer`].
#[derive(Debug)]
pub(crate) struct Writer<'b> {
    list: &'b [(GuestAddress, u32)],
    /// Bytes of the first piece that have what they get.
    skip: u64,
    memory: &'b GuestRegions,
}

impl Writer<'_> {
    /// Gives the next bytes. Returns whether all of them found their place.
    pub fn put(&mut self, data: &[u8]) -> bool {
        let put = pieces(self.list, self.skip, data.len(), |place, address| {
            self.memory.write(&data[place], address)
        });
        self.skip += data.len() as u64;
        while let Some(((_, bytes), later)) = self.list.split_first()
            && self.skip >= u64::from(*bytes)
        {
            (self.list, self.skip) = (later, self.skip - u64::from(*bytes));
        }
        put
    }
}

/// Calls `each` for all pieces of `length` bytes from `skip` on, until one says
/// false. Returns whether all said true and there was room for all bytes.
fn pieces(
    list: &[(GuestAddress, u32)],
    skip: u64,
    length: usize,
    mut each: impl FnMut(std::ops::Range<usize>, GuestAddress) -> bool,
) -> bool {
    let mut skip = skip;
    let mut done = 0;
    for (address, bytes) in list {
        let bytes = u64::from(*bytes);
        if skip >= bytes {
            skip -= bytes;
            continue;
        }
        if done == length {
            break;
        }
        let Some(start) = address.0.checked_add(skip) else { return false };
        // At most 2^32.
        let now = ((bytes - skip) as usize).min(length - done);
        if !each(done..done + now, GuestAddress(start)) {
            return false;
        }
        (done, skip) = (done + now, 0);
    }
    done == length
}
