//! A disk of the lab: a virtio block device whose times a drive model gives and
//! whose content the store keeps.

use std::os::fd::BorrowedFd;

use disklab_drive::{Completion, Drive, DriveFile, Nanos, Operation, Request, Statistics};

use crate::LabError;
use crate::block::{
    Buffers, Configuration, Refusal, SERIAL_BYTES, WRITE_CACHE_OFFSET, Work, understand,
};
use crate::content::{Content, SECTOR_BYTES};
use crate::vhost::{Connection, Event, Memory, RING_LIMIT, Session};

/// A disk to be made.
pub struct DiskOptions {
    /// How long things take.
    pub drive: Box<dyn Drive>,
    /// Serial number: up to 20 ASCII characters.
    pub serial: String,
    /// Logical sector size in bytes: 512 or 4096.
    pub logical_bytes: u32,
    /// Physical sector size in bytes: 512 or 4096, not below the logical one.
    pub physical_bytes: u32,
    /// Whether the guest may discard. No hard disk of the conventional kind can.
    pub discard: bool,
    /// Whether the guest may have zeros written without sending them.
    pub write_zeroes: bool,
}

impl std::fmt::Debug for DiskOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskOptions")
            .field("serial", &self.serial)
            .field("sectors", &self.drive.sectors())
            .finish_non_exhaustive()
    }
}

impl DiskOptions {
    /// A disk of 512-byte logical and 4096-byte physical sectors (512e) without
    /// discard, as most hard disks are.
    pub fn new(drive: Box<dyn Drive>, serial: impl Into<String>) -> Self {
        Self {
            drive,
            serial: serial.into(),
            logical_bytes: 512,
            physical_bytes: 4096,
            discard: false,
            write_zeroes: false,
        }
    }

    /// A disk of this model, with its sectors. Those with the same seed are alike to
    /// the last turn.
    pub fn of(model: &DriveFile, seed: u64, serial: impl Into<String>) -> Self {
        let (logical, physical) = model.sector_sizes();
        // 512 or 4096; what is not is refused when the lab starts.
        let bytes = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
        let disk = Self::new(model.build(seed), serial);
        Self { logical_bytes: bytes(logical), physical_bytes: bytes(physical), ..disk }
    }

    /// What the guest is told.
    pub(crate) fn configuration(&self) -> Result<Configuration, LabError> {
        let bad = |what: String| Err(LabError::Options(what));
        let name = &self.serial;
        if name.is_empty()
            || name.len() > SERIAL_BYTES
            || !name.bytes().all(|b| b.is_ascii_graphic())
        {
            return bad(format!("serial number '{name}' must be 1 to 20 letters, digits or signs"));
        }
        let sizes = [512, 4096];
        let (logical, physical) = (self.logical_bytes, self.physical_bytes);
        if !sizes.contains(&logical) || !sizes.contains(&physical) || physical < logical {
            return bad(format!("sectors of {logical} and {physical} bytes: use 512 or 4096"));
        }
        let sectors = self.drive.sectors();
        if sectors == 0 || !sectors.is_multiple_of(u64::from(logical / 512)) {
            return bad(format!("a disk of {sectors} sectors of 512 bytes"));
        }
        // 2^54 sectors are 2^63 bytes, where Linux ends.
        if sectors > 1 << 54 {
            return bad(format!("a disk of {sectors} sectors is too large for Linux"));
        }
        let mut serial = [0; SERIAL_BYTES];
        serial[..name.len()].copy_from_slice(name.as_bytes());
        Ok(Configuration {
            sectors,
            logical_bytes: logical,
            physical_bytes: physical,
            discard: self.discard,
            write_zeroes: self.write_zeroes,
            serial,
        })
    }
}

/// As much of a request's data is moved at once: it stays in the processor's cache
/// on its way between the guest's memory and the store.
const STEP_BYTES: usize = 128 << 10;

/// A request that the guest waits for.
#[derive(Debug, Clone, Copy)]
struct Pending {
    head: u16,
    /// Bytes written to its buffers.
    written: u32,
}

/// What came of reading a disk's socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Nothing that matters to the calendar.
    Nothing,
    /// There may be an earlier event. The guest stands still until
    /// [`Disk::resume`] is called.
    Busy,
    /// The guest has left the disk.
    Gone,
}

/// A disk that a guest uses.
pub(crate) struct Disk {
    session: Session,
    configuration: Configuration,
    drive: Box<dyn Drive>,
    volume: usize,
    pending: Vec<Option<Pending>>,
    free: Vec<usize>,
    /// Requests that are done without the drive, and since when.
    immediate: Vec<Pending>,
    immediate_at: Nanos,
    completions: Vec<Completion>,
    buffers: Buffers,
    data: Vec<u8>,
    requests: u64,
}

impl Disk {
    /// A disk over `link`, whose content is `volume` of the store.
    pub fn new(link: Connection, options: DiskOptions, volume: usize) -> Result<Self, LabError> {
        let configuration = options.configuration()?;
        Ok(Self {
            session: Session::new(link, configuration.features())?,
            configuration,
            drive: options.drive,
            volume,
            pending: Vec::new(),
            free: Vec::new(),
            immediate: Vec::new(),
            immediate_at: Nanos(0),
            completions: Vec::new(),
            buffers: Buffers::default(),
            data: vec![0; STEP_BYTES],
            requests: 0,
        })
    }

    /// The socket, to be polled.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.session.fd()
    }

    /// Requests that went to the drive.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// What the drive did.
    pub fn statistics(&self) -> Statistics {
        self.drive.statistics()
    }

    /// Takes what the guest sent: what is in the socket where `read`, else what
    /// came together with the last message.
    pub fn receive(
        &mut self,
        read: bool,
        now: Nanos,
        content: &mut Content,
    ) -> Result<Activity, LabError> {
        let space = self.configuration.space(self.drive.write_cache());
        let event = if read { self.session.receive(&space)? } else { self.session.next(&space)? };
        self.act(event, now, content)
    }

    /// Takes the requests that the guest tells of by the calendar's memory.
    pub fn kicked(&mut self, now: Nanos, content: &mut Content) -> Result<(), LabError> {
        self.take_requests(now, content)
    }

    /// Lets the guest go on after [`Activity::Busy`].
    pub fn resume(&mut self) -> Result<(), LabError> {
        self.session.done(true)
    }

    fn act(
        &mut self,
        event: Event,
        now: Nanos,
        content: &mut Content,
    ) -> Result<Activity, LabError> {
        match event {
            Event::Nothing => return Ok(Activity::Nothing),
            Event::Gone => return Ok(Activity::Gone),
            Event::Kick => self.take_requests(now, content)?,
            Event::Configure(WRITE_CACHE_OFFSET, bytes) if matches!(bytes.as_slice(), [0 | 1]) => {
                self.drive.set_write_cache(now, bytes == [1]);
            }
            // The rest of the configuration is not the guest's to change.
            Event::Configure(..) => self.session.done(false)?,
        }
        Ok(Activity::Busy)
    }

    /// When something happens by itself.
    pub fn next_event(&self) -> Option<Nanos> {
        let drive = self.drive.next_event();
        if self.immediate.is_empty() {
            return drive;
        }
        Some(drive.map_or(self.immediate_at, |d| d.min(self.immediate_at)))
    }

    /// Gives back what is done at `now`. Returns whether the guest is to be
    /// interrupted.
    pub fn advance(&mut self, now: Nanos) -> Result<bool, LabError> {
        self.drive.advance(now, &mut self.completions);
        if self.completions.is_empty() && self.immediate.is_empty() {
            return Ok(false);
        }
        let Some(memory) = &self.session.memory else { return Ok(false) };
        let mut sound = true;
        for done in self.immediate.drain(..) {
            sound &= self.session.ring.give_back(memory, done.head, done.written);
        }
        for completion in self.completions.drain(..) {
            // Ids are ours, and 64 bits on every machine that runs this.
            let slot = completion.id as usize;
            if let Some(done) = self.pending.get_mut(slot).and_then(Option::take) {
                self.free.push(slot);
                sound &= self.session.ring.give_back(memory, done.head, done.written);
            }
        }
        if !sound {
            return Err(self.session.broken("its used ring cannot be written"));
        }
        Ok(self.session.ring.wants_interrupt(memory))
    }

    /// Whether it can interrupt the guest by now.
    pub fn is_ready(&self) -> bool {
        self.session.has_interrupts()
    }

    /// Interrupts the guest.
    pub fn interrupt(&self) -> Result<(), LabError> {
        self.session.interrupt()
    }

    fn take_requests(&mut self, now: Nanos, content: &mut Content) -> Result<(), LabError> {
        let Some(memory) = self.session.memory.clone() else {
            return Err(self.session.broken("a kick before its memory is known"));
        };
        let Some(chains) = self.session.ring.take(&memory) else {
            return Err(self.session.broken("its available ring is broken"));
        };
        for chain in chains {
            let head = chain.head_index();
            if head >= RING_LIMIT {
                return Err(self.session.broken(format!("descriptor {head} is not in its ring")));
            }
            self.buffers.take(chain);
            self.start(now, content, &memory, head)?;
        }
        Ok(())
    }

    /// Starts the request in the buffers.
    fn start(
        &mut self,
        now: Nanos,
        content: &mut Content,
        memory: &Memory,
        head: u16,
    ) -> Result<(), LabError> {
        let work = understand(&self.buffers, memory, &self.configuration);
        let outcome = match work {
            Ok(work) => self.move_data(work, content, memory)?,
            Err(refusal) => Err(refusal),
        };
        let (status, moved) = match outcome {
            Ok(moved) => (0, moved),
            Err(refusal) => (refusal.status(), 0),
        };
        // The guest does not look at it before the request is given back.
        let room = self.buffers.writable_bytes();
        let told = room != 0 && self.buffers.write(memory, room - 1, &[status]);
        // Spec 2.7.8.2: bytes written, from the start of the writable part on. A
        // request without a status byte gets nothing.
        let written = if told { moved.saturating_add(1) } else { 0 };
        let pending = Pending { head, written };
        match work {
            Ok(Work::Drive { operation, sector, sectors }) if outcome.is_ok() => {
                let id = self.remember(pending)?;
                self.requests += 1;
                self.drive.submit(now, Request { id, operation, sector, sectors });
            }
            _ => {
                self.immediate.push(pending);
                self.immediate_at = now;
            }
        }
        if self.immediate.len() + self.pending.len() - self.free.len() > usize::from(RING_LIMIT) {
            return Err(self.session.broken("more requests than its ring can hold"));
        }
        Ok(())
    }

    /// A number for a request.
    fn remember(&mut self, pending: Pending) -> Result<u64, LabError> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.pending.push(None);
                self.pending.len() - 1
            }
        };
        self.pending[slot] = Some(pending);
        Ok(slot as u64)
    }

    /// Moves a request's data between guest and store. Returns the bytes that went
    /// to the guest.
    fn move_data(
        &mut self,
        work: Work,
        content: &mut Content,
        memory: &Memory,
    ) -> Result<Result<u32, Refusal>, LabError> {
        let Work::Drive { operation, sector, sectors } = work else {
            let told = self.buffers.write(memory, 0, &self.configuration.serial);
            return Ok(if told { Ok(SERIAL_BYTES as u32) } else { Err(Refusal::Bad) });
        };
        match operation {
            Operation::Flush => {}
            Operation::Discard | Operation::WriteZeroes => {
                content.zero(self.volume, sector, sectors)?;
            }
            Operation::Write => {
                for (at, bytes) in steps(sector, sectors) {
                    let data = &mut self.data[..bytes];
                    self.buffers.read(memory, crate::block::HEADER_BYTES + at, data);
                    content.write(self.volume, sector + at / SECTOR_BYTES, data)?;
                }
            }
            Operation::Read => {
                for (at, bytes) in steps(sector, sectors) {
                    let data = &mut self.data[..bytes];
                    content.read(self.volume, sector + at / SECTOR_BYTES, data)?;
                    if !self.buffers.write(memory, at, data) {
                        return Ok(Err(Refusal::Bad));
                    }
                }
                // At most 64 MiB: `understand` saw to it.
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
