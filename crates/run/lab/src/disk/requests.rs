//! Requests, from the ring to the drive.

use disklab_drive::{Nanos, Operation, Request, Start, WrittenTo};

use super::{Disk, Pending, STEP_BYTES};
use crate::block::{HEADER_BYTES, RequestRefusal, RequestWork, SERIAL_BYTES, parse_request};
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
        let Some(chains) = self.session.ring.take(&memory, end) else {
            return Err(self.session.broken(ProtocolBreach::AvailableRing));
        };
        for chain in chains {
            let head = chain.head_index();
            if head >= RING_LIMIT {
                return Err(self.session.broken(ProtocolBreach::DescriptorOutsideRing(head)));
            }
            // Spec 2.7.5.3.1: no chain is longer than the ring.
            if !self.buffers.take(chain, RING_LIMIT) {
                return Err(self.session.broken(ProtocolBreach::ChainTooLong(RING_LIMIT)));
            }
            self.start(now, content, &memory, head)?;
        }
        self.session.check_memory()
    }

    /// Starts the request in the buffers.
    fn start(
        &mut self,
        now: Nanos,
        content: &mut DiskContent,
        memory: &GuestRegions,
        head: u16,
    ) -> Result<(), LabError> {
        let work = parse_request(&self.buffers, memory, &self.configuration);
        let request = self.request(&work);
        let begin = match &request {
            Some(request) => self.meet(now, request, content)?,
            None => Start::Sound,
        };
        let outcome = match work {
            Ok(work) => self.move_data(work, begin, content, memory)?,
            Err(refusal) => Err(refusal),
        };
        let (status, moved) = match outcome {
            Ok(moved) => (0, moved),
            Err(refusal) => (refusal.status(), 0),
        };
        // The guest does not look at it before the request is given back.
        let room = self.buffers.writable_bytes();
        let has_status = room != 0 && self.buffers.write(memory, room - 1, &[status]);
        // Spec 2.7.8.2: bytes written, from the start of the writable part on. A
        // request without a status byte gets nothing.
        let written = if has_status { moved.saturating_add(1) } else { 0 };
        let status = self.buffers.last_writable();
        let pending = Pending { head, written, status };
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
        let Ok(RequestWork::Drive { operation, sector, sectors }) = *work else { return None };
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
        let disk = self.volume;
        if !self.replacement.as_mut().is_some_and(|replacement| replacement.is_new(disk)) {
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

    /// Moves a request's data between guest and store. Returns the bytes that went
    /// to the guest.
    fn move_data(
        &mut self,
        work: RequestWork,
        begin: Start,
        content: &mut DiskContent,
        memory: &GuestRegions,
    ) -> Result<Result<u32, RequestRefusal>, LabError> {
        let RequestWork::Drive { operation, sector, sectors } = work else {
            self.look_for_replacement(content)?;
            let written = self.buffers.write(memory, 0, &self.configuration.serial);
            return Ok(if written { Ok(SERIAL_BYTES as u32) } else { Err(RequestRefusal::Bad) });
        };
        let sector = match begin {
            Start::Sound => sector,
            Start::Written(WrittenTo::Sector(elsewhere)) => elsewhere,
            Start::Unreadable | Start::Refused | Start::Written(WrittenTo::Nowhere) => {
                return Ok(Ok(0));
            }
        };
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
                    self.buffers.read(memory, HEADER_BYTES + at, data);
                    content.write(self.volume, sector + at / SECTOR_BYTES, data)?;
                }
            }
            Operation::Read => {
                let mut writer = self.buffers.writer(memory);
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
