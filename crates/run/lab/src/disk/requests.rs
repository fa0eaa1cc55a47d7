//! Requests, from the ring to the drive.

use disklab_drive::{Nanos, Operation, Request, Start, WrittenTo};

use virtio_queue::DescriptorChain;
use vm_memory::GuestMemoryMmap;

use super::{Disk, Pending, Replacement, STEP_BYTES};
use crate::block::{RequestRefusal, RequestWork};
use crate::content::{DiskContent, SECTOR_BYTES};
use crate::vhost::{GuestRegions, RING_LIMIT};
use crate::{LabError, ProtocolBreach};

/// Sectors at each end that a new drive has from the old one, as an operator copies the partition
/// table.
const KEPT_SECTORS: u64 = 2048;

impl Disk {
    /// Takes what the guest made available, up to where its ring ended at `now`, or all of
    /// it, and starts it.
    pub(super) fn take_requests(
        &mut self,
        now: Nanos,
        end: Option<u16>,
        content: &mut DiskContent,
    ) -> Result<(), LabError> {
        let Some(memory) = self.session.memory.clone() else {
            return Err(self.session.broken(ProtocolBreach::KickWithoutMemory));
        };
        let queue = self.request_queue();
        let Some(chains) = self.session.rings[queue].take(&memory, end) else {
            return Err(self.session.broken(ProtocolBreach::AvailableRing));
        };
        for chain in chains {
            let head = chain.head_index();
            self.take_chain(chain)?;
            self.start(now, content, &memory, head)?;
        }
        if self.is_scsi() {
            self.take_control(now, &memory)?;
        }
        self.session.check_memory()
    }

    /// Takes a chain's pieces into the buffers.
    pub(super) fn take_chain(
        &mut self,
        chain: DescriptorChain<&GuestMemoryMmap>,
    ) -> Result<(), LabError> {
        let head = chain.head_index();
        if head >= RING_LIMIT {
            return Err(self.session.broken(ProtocolBreach::DescriptorOutsideRing(head)));
        }
        // Spec 2.7.5.3.1: no chain is longer than the ring.
        if !self.buffers.take(chain, RING_LIMIT) {
            return Err(self.session.broken(ProtocolBreach::ChainTooLong(RING_LIMIT)));
        }
        Ok(())
    }

    /// Starts the request in the buffers.
    fn start(
        &mut self,
        now: Nanos,
        content: &mut DiskContent,
        memory: &GuestRegions,
        head: u16,
    ) -> Result<(), LabError> {
        let work = self.parse(memory);
        let request = self.request(&work);
        let begin = match &request {
            Some(request) => self.meet(now, request, content)?,
            None => Start::Sound,
        };
        let outcome = match work {
            Ok(work) => self.carry_out(now, work, begin, content, memory)?,
            Err(refusal) => Err(refusal),
        };
        let mut pending = self.respond(memory, head, outcome);
        if let Start::Unreadable(sector) = begin {
            pending.unreadable = Some(sector);
        }
        match request {
            Some(request) if outcome.is_ok() => {
                self.remember(pending);
                if begin != Start::Refused {
                    self.requests += 1;
                    self.drive.submit(now, request);
                }
            }
            _ => {
                self.immediate.push(pending);
                self.immediate_at = now;
            }
        }
        if self.immediate.len() + self.pending.len() - self.free.len() > usize::from(RING_LIMIT) {
            return Err(self.session.broken(ProtocolBreach::TooManyRequests));
        }
        Ok(())
    }

    /// A request to the drive, with the number that [`Disk::remember`] gives it next.
    fn request(&self, work: &Result<RequestWork, RequestRefusal>) -> Option<Request> {
        let &Ok(RequestWork::Drive { operation, sector, sectors }) = work else { return None };
        let id = self.free.last().copied().unwrap_or(self.pending.len()) as u64;
        Some(Request { id, operation, sector, sectors })
    }

    /// Keeps what a request's end needs.
    fn remember(&mut self, pending: Pending) {
        match self.free.pop() {
            Some(slot) => self.pending[slot] = Some(pending),
            None => self.pending.push(Some(pending)),
        }
    }

    /// If the drive was replaced, it is blank and has no faults from now on.
    fn look_for_replacement(&mut self, content: &mut DiskContent) -> Result<(), LabError> {
        if !self.replacement.as_mut().is_some_and(Replacement::is_new) {
            return Ok(());
        }
        if let Some(faults) = &mut self.faults {
            faults.end();
        }
        let sectors = self.drive.sectors();
        match sectors.checked_sub(2 * KEPT_SECTORS) {
            Some(blank) => content.zero(self.volume, KEPT_SECTORS, blank),
            None => Ok(()),
        }
    }

    /// Carries out what the device does by itself, and moves the data of what the drive does.
    /// Returns the bytes that went to the guest.
    fn carry_out(
        &mut self,
        now: Nanos,
        work: RequestWork,
        begin: Start,
        content: &mut DiskContent,
        memory: &GuestRegions,
    ) -> Result<Result<u32, RequestRefusal>, LabError> {
        let (operation, sector, mut sectors) = match work {
            RequestWork::Drive { operation, sector, sectors } => (operation, sector, sectors),
            RequestWork::Answer(bytes) => {
                self.look_for_replacement(content)?;
                return Ok(self.answer(memory, &bytes));
            }
            RequestWork::WriteCache(on) => {
                self.drive.set_write_cache(now, on);
                return Ok(Ok(0));
            }
        };
        let sector = match begin {
            Start::Sound => sector,
            Start::Written(WrittenTo::Sector(elsewhere)) => elsewhere,
            // What comes before it reaches the guest, if that hears which one it is.
            Start::Unreadable(bad) if self.is_scsi() => {
                let logical = u64::from(self.configuration.logical_bytes / 512).max(1);
                sectors = bad.saturating_sub(sector) / logical * logical;
                sector
            }
            Start::Unreadable(_) | Start::Refused | Start::Written(WrittenTo::Nowhere) => {
                return Ok(Ok(0));
            }
        };
        self.move_data((operation, sector, sectors), content, memory)
    }

    /// Gives the guest what the device knows, as far as it has room.
    fn answer(&self, memory: &GuestRegions, bytes: &[u8]) -> Result<u32, RequestRefusal> {
        let at = self.data_begins().1;
        let room = self.buffers.writable_bytes().saturating_sub(at);
        // No answer is as long as 64 KiB.
        let fits = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let is_whole = self.is_scsi() || fits == bytes.len();
        let written = is_whole && self.buffers.write(memory, at, &bytes[..fits]);
        if written { Ok(fits as u32) } else { Err(RequestRefusal::Bad) }
    }

    /// Moves a request's data between guest and store. Returns the bytes that went
    /// to the guest.
    fn move_data(
        &mut self,
        (operation, sector, sectors): (Operation, u64, u64),
        content: &mut DiskContent,
        memory: &GuestRegions,
    ) -> Result<Result<u32, RequestRefusal>, LabError> {
        let (sent, wanted) = self.data_begins();
        if self.watches_durability && !matches!(operation, Operation::Read | Operation::Flush) {
            self.settle(content)?;
            let zeroes = operation != Operation::Write;
            content.prepare(self.volume, self.requests, (sector, sectors), zeroes)?;
        }
        match operation {
            Operation::Flush => {}
            Operation::Discard | Operation::WriteZeroes => {
                content.zero(self.volume, sector, sectors)?;
            }
            Operation::Write => {
                for (at, bytes) in steps(sector, sectors) {
                    let data = &mut self.data[..bytes];
                    self.buffers.read(memory, sent + at, data);
                    content.write(self.volume, sector + at / SECTOR_BYTES, data)?;
                }
            }
            Operation::Read => {
                let mut writer = self.buffers.writer(memory, wanted);
                for (at, bytes) in steps(sector, sectors) {
                    let (from, space) = (sector + at / SECTOR_BYTES, &mut self.data);
                    if !content.show(self.volume, from, bytes, space, |d| writer.put(d))? {
                        return Ok(Err(RequestRefusal::Bad));
                    }
                }
                // At most 64 MiB: `parse_request` saw to it.
                return Ok(Ok((sectors * SECTOR_BYTES) as u32));
            }
        }
        Ok(Ok(0))
    }
}

/// Parts of a request, with as much as is moved at once: where they begin in its
/// data, and their bytes. All but the first begin with a block of the store.
fn steps(sector: u64, sectors: u64) -> impl Iterator<Item = (u64, usize)> {
    let (from, bytes) = (sector * SECTOR_BYTES, sectors * SECTOR_BYTES);
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at;
        // At most STEP_BYTES, which is a multiple of the store's blocks.
        at = bytes.min(at + STEP_BYTES as u64 - (from + at) % STEP_BYTES as u64);
        (begin < bytes).then_some((begin, (at - begin) as usize))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_cover_a_request(sector in 0..1_u64 << 54, sectors in 0..4096_u64) {
            let mut end = 0;
            for (at, bytes) in steps(sector, sectors) {
                prop_assert_eq!(at, end);
                prop_assert!(bytes > 0 && bytes <= STEP_BYTES);
                let place = sector * SECTOR_BYTES + at;
                prop_assert!(at == 0 || place.is_multiple_of(STEP_BYTES as u64));
                end = at + bytes as u64;
            }
            prop_assert_eq!(end, sectors * SECTOR_BYTES);
        }
    }
}
