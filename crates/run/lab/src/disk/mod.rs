//! A disk of the lab: a virtio block or SCSI device whose times a drive model gives and
//! whose content the store keeps.

mod control;
mod disk_faults;
mod faults;
mod frame;
mod medium;
mod options;
mod read_log;
mod replacement;
mod requests;
mod resets;

use std::os::fd::BorrowedFd;

use disklab_drive::{Completion, Drive, Durable, Nanos, Statistics, Status};
use disklab_lab_guest::DiskTransport;
use vm_memory::GuestAddress;

use crate::block::{Configuration, GuestBuffers, RequestRefusal, WRITE_CACHE_OFFSET};
use crate::content::DiskContent;
use crate::vhost::{Connection, GuestRegions, RING_LIMIT, SessionEvent, VhostSession};
use crate::{LabError, ProtocolBreach, scsi};
use control::{CONTROL_QUEUE, ControlQueue};
pub use disk_faults::DiskFaults;
pub(crate) use medium::MediumFile;
pub use options::DiskOptions;
pub use read_log::{ReadLog, ReadsFromMemory};
use replacement::Replacement;

/// As much of a request's data is moved at once: it stays in the processor's cache
/// on its way between the guest's memory and the store.
const STEP_BYTES: usize = 128 << 10;

/// A request that the guest waits for.
#[derive(Debug, Clone, Copy)]
struct Pending {
    head: u16,
    /// Bytes written to its buffers.
    written: u32,
    /// Bytes of its buffers that are not.
    unmoved: u64,
    /// Where its status is.
    status: Option<GuestAddress>,
    /// The sector that the drive will not be able to read.
    unreadable: Option<u64>,
    /// Whether the guest has it back although the drive still has it.
    is_given_back: bool,
}

/// What came of reading a disk's socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Nothing that matters to the calendar.
    Nothing,
    /// There may be an earlier event. The guest is frozen until
    /// [`Disk::resume`] is called.
    Busy,
    /// The guest has left the disk.
    Gone,
}

/// A disk that a guest uses.
pub(crate) struct Disk {
    session: VhostSession,
    transport: DiskTransport,
    configuration: Configuration,
    /// How many requests the guest is to have in it.
    depth: u32,
    control: ControlQueue,
    drive: Box<dyn Drive>,
    volume: usize,
    pending: Vec<Option<Pending>>,
    free: Vec<usize>,
    /// Requests that are done without the drive, and since when.
    immediate: Vec<Pending>,
    immediate_at: Nanos,
    completions: Vec<Completion>,
    buffers: GuestBuffers,
    data: Vec<u8>,
    requests: u64,
    watches_durability: bool,
    durable: Vec<Durable>,
    medium: Option<MediumFile>,
    reports_write_cache: bool,
    faults: Option<DiskFaults>,
    replacement: Option<Replacement>,
    read_log: ReadLog,
}

impl Disk {
    /// A disk over `link`, whose content is `volume` of the store, and the file that
    /// reports its medium, if any.
    pub fn new(
        link: Connection,
        options: DiskOptions,
        volume: usize,
        medium: Option<MediumFile>,
    ) -> Result<Self, LabError> {
        let configuration = options.configuration()?;
        let (features, queues) = match options.transport {
            DiskTransport::Block => (configuration.features(), 1),
            DiskTransport::Scsi => (0, scsi::QUEUES),
        };
        let depth = options.queue_depth.and_then(|depth| u16::try_from(depth).ok());
        Ok(Self {
            session: VhostSession::new(link, features, queues)?,
            transport: options.transport,
            configuration,
            depth: depth.unwrap_or(RING_LIMIT).into(),
            control: ControlQueue::default(),
            reports_write_cache: options.reports_write_cache,
            drive: options.drive,
            faults: options.faults,
            replacement: options.replaced_in.map(|directory| {
                Replacement::said_in(directory, &options.transport.disk_name(volume))
            }),
            volume,
            pending: Vec::new(),
            free: Vec::new(),
            immediate: Vec::new(),
            immediate_at: Nanos(0),
            completions: Vec::new(),
            buffers: GuestBuffers::default(),
            data: vec![0; STEP_BYTES],
            requests: 0,
            watches_durability: false,
            durable: Vec::new(),
            medium,
            read_log: ReadLog::default(),
        })
    }

    /// Remembers from now on what a loss of power would undo. To be called before the first
    /// request.
    pub fn watch_durability(&mut self, content: &mut DiskContent) -> Result<(), LabError> {
        self.watches_durability = true;
        self.drive.watch_durability();
        content.watch(self.volume)
    }

    /// Its power fails at `now`: what it had not made durable is gone.
    pub fn lose_power(&mut self, now: Nanos, content: &mut DiskContent) -> Result<(), LabError> {
        self.drive.advance(now, &mut self.completions);
        self.settle(content)?;
        content.lose(self.volume)
    }

    /// Hands on what the drive has made durable.
    fn settle(&mut self, content: &mut DiskContent) -> Result<(), LabError> {
        self.drive.take_durable(&mut self.durable);
        content.settle(self.volume, &self.durable)?;
        self.durable.clear();
        Ok(())
    }

    /// Lets the drive end what the guest, which is gone, had asked for. Returns when that was.
    pub fn end_requests(&mut self, now: Nanos) -> Nanos {
        let (mut at, mut open) = (now, self.pending.iter().flatten().count());
        while let Some(event) = self.drive.next_event().filter(|_| open > 0) {
            at = at.max(event);
            self.drive.advance(at, &mut self.completions);
            open = open.saturating_sub(self.completions.drain(..).len());
        }
        at
    }

    /// The drive as it is at `now`, and how many requests it was given.
    pub fn kept(&mut self, now: Nanos) -> (Box<dyn Drive>, u64) {
        self.drive.advance(now, &mut self.completions);
        (self.drive.snapshot(), self.requests)
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

    /// When the drive answered reads from its own memory.
    pub fn read_log(&self) -> &ReadLog {
        &self.read_log
    }

    /// Takes what the guest sent: what is in the socket where `read`, else what
    /// came together with the last message.
    pub fn receive(
        &mut self,
        read: bool,
        now: Nanos,
        content: &mut DiskContent,
    ) -> Result<Activity, LabError> {
        let space = self.space();
        let event = if read { self.session.receive(&space)? } else { self.session.next(&space)? };
        self.act(event, now, content)
    }

    /// Takes the requests that the guest reports by the calendar's memory: those up to
    /// `end` of its ring, which it told of at `now`, or all.
    pub fn kicked(
        &mut self,
        now: Nanos,
        end: Option<u16>,
        content: &mut DiskContent,
    ) -> Result<(), LabError> {
        self.take_requests(now, end, content)?;
        self.tell_medium()
    }

    /// Tells the guest, which is frozen, what the drive has written by now.
    fn tell_medium(&mut self) -> Result<(), LabError> {
        match &mut self.medium {
            Some(medium) => medium.tell(self.drive.statistics().bytes_to_medium),
            None => Ok(()),
        }
    }

    /// Lets the guest continue after [`Activity::Busy`].
    pub fn resume(&mut self) -> Result<(), LabError> {
        self.session.done(true)
    }

    fn act(
        &mut self,
        event: SessionEvent,
        now: Nanos,
        content: &mut DiskContent,
    ) -> Result<Activity, LabError> {
        match event {
            SessionEvent::Nothing => return Ok(Activity::Nothing),
            SessionEvent::Gone => return Ok(Activity::Gone),
            SessionEvent::Kick => self.take_requests(now, None, content)?,
            SessionEvent::Configure(at, bytes) if self.is_scsi() => {
                self.session.done(scsi::is_sound(at, &bytes))?;
            }
            SessionEvent::Configure(WRITE_CACHE_OFFSET, bytes)
                if matches!(bytes.as_slice(), [0 | 1]) =>
            {
                self.drive.set_write_cache(now, bytes == [1]);
            }
            // The rest of the configuration is not the guest's to change.
            SessionEvent::Configure(..) => self.session.done(false)?,
        }
        self.tell_medium()?;
        Ok(Activity::Busy)
    }

    /// When something happens by itself.
    pub fn next_event(&self) -> Option<Nanos> {
        let by_itself = [self.drive.next_event(), self.next_of_faults(), self.control.next_event()];
        let has_immediate = !self.immediate.is_empty() || !self.control.is_done();
        by_itself.into_iter().flatten().chain(has_immediate.then_some(self.immediate_at)).min()
    }

    /// Gives back what is done at `now`. Returns whether the guest is to be
    /// interrupted.
    pub fn advance(&mut self, now: Nanos) -> Result<bool, LabError> {
        self.drive.advance(now, &mut self.completions);
        self.pass_faults(now);
        self.read_log.note(now, &self.drive.statistics());
        self.tell_medium()?;
        let has_requests = !self.completions.is_empty() || !self.immediate.is_empty();
        if !has_requests && self.control.next_event().is_none() && self.control.is_done() {
            return Ok(false);
        }
        let Some(memory) = self.session.memory.clone() else { return Ok(false) };
        let mut sound = self.give_back(&memory);
        let mut given_back = [has_requests.then(|| self.request_queue()), None];
        if self.is_scsi() {
            sound &= self.advance_resets(now, &memory);
            given_back[1] = (!self.control.is_done()).then_some(CONTROL_QUEUE);
            sound &= self.give_back_control(&memory);
        }
        if !sound {
            return Err(self.session.broken(ProtocolBreach::UsedRing));
        }
        let rings = &self.session.rings;
        let wants = |queue: usize| rings[queue].wants_interrupt(&memory);
        let wants_interrupt = given_back.into_iter().flatten().any(wants);
        self.session.check_memory()?;
        Ok(wants_interrupt)
    }

    /// Gives back the requests that are done. Returns whether all places are in the guest's memory.
    fn give_back(&mut self, memory: &GuestRegions) -> bool {
        let queue = self.request_queue();
        let mut sound = true;
        for done in self.immediate.drain(..) {
            sound &= self.session.rings[queue].give_back(memory, done.head, done.written);
        }
        let mut completions = std::mem::take(&mut self.completions);
        for completion in completions.drain(..) {
            // Ids are ours, and 64 bits on every machine that runs this.
            let slot = completion.id as usize;
            let Some(done) = self.pending.get_mut(slot).and_then(Option::take) else { continue };
            self.free.push(slot);
            if done.is_given_back {
                continue;
            }
            if completion.status == Status::Failed {
                let refusal =
                    done.unreadable.map_or(RequestRefusal::Failed, RequestRefusal::Unreadable);
                sound &= self.respond_failed(memory, &done, refusal);
            }
            sound &= self.session.rings[queue].give_back(memory, done.head, done.written);
        }
        self.completions = completions;
        sound
    }

    /// Whether it can interrupt the guest by now.
    pub fn is_ready(&self) -> bool {
        self.session.has_interrupts()
    }

    /// Interrupts the guest.
    pub fn interrupt(&self) -> Result<(), LabError> {
        self.session.interrupt()
    }
}
