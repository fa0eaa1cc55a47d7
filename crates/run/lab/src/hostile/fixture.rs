//! A disk, and the guest that means ill.

use std::fs::File;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use disklab_drive::{Completion, Drive, Durable, Nanos, Request, Statistics, Status};
use disklab_lab_guest::DiskTransport;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};

use crate::LabError;
use crate::content::{ContentLimits, DiskContent};
use crate::disk::{Activity, Disk, DiskOptions};
use crate::vhost::Connection;

/// The guest's memory lies in the middle of its file, with canaries on both sides.
pub(super) const MARGIN: u64 = 64 << 10;
pub(super) const MEMORY: u64 = 256 << 10;
pub(super) const CANARY: u8 = 0xC5;
/// Where the guest believes its memory to be.
pub(super) const GUEST: u64 = 0x10_0000;
/// Ring parts, from the start of memory.
pub(super) const DESCRIPTORS: u64 = 0;
pub(super) const AVAILABLE: u64 = 0x2000;
pub(super) const USED: u64 = 0x3000;
pub(super) const DATA: u64 = 0x8000;
/// How much further on the parts of a SCSI disk's control queue are.
pub(super) const CONTROL: u64 = 0x4000;

/// A drive that is done at once, and sees that time is as drives are promised.
#[derive(Clone, Default)]
pub(super) struct CheckingDrive {
    done: Vec<Completion>,
    last: Nanos,
}

impl CheckingDrive {
    fn see(&mut self, now: Nanos) {
        assert!(self.last <= now, "the clock went back from {:?} to {now:?}", self.last);
        assert!(now.0 <= i64::MAX as u64, "{now:?} leaves drives no room");
        self.last = now;
    }
}

impl Drive for CheckingDrive {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.see(now);
        self.done.push(Completion { id: request.id, at: now, status: Status::Done });
    }
    fn next_event(&self) -> Option<Nanos> {
        self.done.first().map(|c| c.at)
    }
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.see(now);
        completions.append(&mut self.done);
    }
    fn watch_durability(&mut self) {}
    fn take_durable(&mut self, _durable: &mut Vec<Durable>) {}
    fn snapshot(&self) -> Box<dyn Drive> {
        Box::new(self.clone())
    }
    fn statistics(&self) -> Statistics {
        Statistics::default()
    }
    fn sectors(&self) -> u64 {
        1 << 20
    }
    fn write_cache(&self) -> bool {
        true
    }
    fn set_write_cache(&mut self, now: Nanos, _on: bool) {
        self.see(now);
    }
}

pub(super) fn pair() -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap()
}

pub(super) fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

pub(super) fn halves(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

/// The guest's side of a disk's socket, and its memory.
pub(super) struct Guest {
    pub(super) socket: OwnedFd,
    pub(super) memory: File,
    // Kept, as the guest keeps its side.
    _interrupts: OwnedFd,
    /// The side that is given away.
    pub(super) interrupts: OwnedFd,
}

impl Guest {
    pub(super) fn new(socket: OwnedFd) -> Self {
        let memory = memfd_create("guest", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&memory, MARGIN + MEMORY + MARGIN).unwrap();
        let memory = File::from(memory);
        memory.write_all_at(&vec![CANARY; MARGIN as usize], 0).unwrap();
        memory.write_all_at(&vec![CANARY; MARGIN as usize], MARGIN + MEMORY).unwrap();
        let (near, interrupts) = pair();
        Self { socket, memory, _interrupts: near, interrupts }
    }

    /// Sends each message of a sound set-up, and has it served before the next.
    pub(super) fn set_up(&self, serve: impl FnMut()) {
        self.set_up_queues(&[(0, 0)], serve);
    }

    /// The same with these queues, whose parts lie so much further on.
    pub(super) fn set_up_queues(&self, queues: &[(u32, u64)], mut serve: impl FnMut()) {
        let table = words(&[1, GUEST, MEMORY, GUEST, MARGIN]);
        let mut messages: Vec<(u32, Vec<u8>, Option<BorrowedFd<'_>>)> = vec![
            (5, table, Some(self.memory.as_fd())),
            (21, Vec::new(), Some(self.interrupts.as_fd())),
        ];
        for (queue, further) in queues {
            let at = GUEST + further;
            let places = [(*queue).into(), at + DESCRIPTORS, at + USED, at + AVAILABLE, 0];
            messages.extend([
                (8, halves(&[*queue, 256]), None),
                (10, halves(&[*queue, 0]), None),
                (9, words(&places), None),
                (18, halves(&[*queue, 1]), None),
            ]);
        }
        for (request, payload, fd) in messages {
            self.put(request, 1, payload.len() as u32, &payload, fd.as_slice());
            serve();
        }
    }

    pub(super) fn put(
        &self,
        request: u32,
        flags: u32,
        size: u32,
        payload: &[u8],
        fds: &[BorrowedFd<'_>],
    ) {
        let header = halves(&[request, flags, size]);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(12))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            assert!(ancillary.push(SendAncillaryMessage::ScmRights(fds)));
        }
        let parts = [IoSlice::new(&header), IoSlice::new(payload)];
        let _ = sendmsg(&self.socket, &parts, &mut ancillary, SendFlags::NOSIGNAL);
    }

    pub(super) fn poke(&self, at: u64, bytes: &[u8]) {
        self.memory.write_all_at(bytes, MARGIN + at).unwrap();
    }

    /// Puts a sound read of the first sector into the ring, as its `index`-th request.
    pub(super) fn make_available(&self, index: u16) {
        let chain = [
            [GUEST + DATA, 16 | 1 << 32 | 1 << 48],
            [GUEST + DATA + 0x1000, 512 | 3 << 32 | 2 << 48],
            [GUEST + DATA + 64, 1 | 2 << 32],
        ];
        self.poke(DESCRIPTORS, &words(&chain.concat()));
        self.poke(AVAILABLE + 2, &(index.wrapping_add(1)).to_le_bytes());
    }

    /// How many requests were given back.
    #[cfg(test)]
    pub(super) fn used(&self) -> u16 {
        let mut used = [0; 2];
        self.memory.read_exact_at(&mut used, MARGIN + USED + 2).unwrap();
        u16::from_le_bytes(used)
    }

    pub(super) fn canaries_live(&self) -> bool {
        let mut margin = vec![0; MARGIN as usize];
        [0, MARGIN + MEMORY].into_iter().all(|at| {
            self.memory.read_exact_at(&mut margin, at).unwrap();
            margin.iter().all(|b| *b == CANARY)
        })
    }
}

/// A store of so many disks.
pub(super) fn content(directory: &tempfile::TempDir, disks: usize) -> DiskContent {
    let limits = ContentLimits { memory_bytes: 64 << 20, ..ContentLimits::with_disk(64 << 20) };
    DiskContent::new(directory.path(), disks, limits).unwrap()
}

/// A disk and its guest, without a calendar.
pub(super) struct Fixture {
    pub(super) disk: Disk,
    pub(super) guest: Guest,
    pub(super) content: DiskContent,
    _directory: tempfile::TempDir,
}

impl Fixture {
    /// A disk that is not set up.
    pub(super) fn bare() -> Self {
        Self::of(DiskTransport::Block, Box::new(CheckingDrive::default()))
    }

    /// A SCSI disk that is ready for requests: the control queue's parts are [`CONTROL`] further on
    /// than those of the request queue.
    pub(super) fn scsi(drive: Box<dyn Drive>) -> Self {
        let mut this = Self::of(DiskTransport::Scsi, drive);
        let Self { disk, guest, content, .. } = &mut this;
        guest.set_up_queues(&[(0, CONTROL), (2, 0)], || serve(disk, content).unwrap());
        this
    }

    fn of(transport: DiskTransport, drive: Box<dyn Drive>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (near, far) = pair();
        let mut options = DiskOptions::new(drive, "HOSTILE");
        options.transport = transport;
        options.discard_bytes = Some(4096);
        options.write_zeroes = true;
        let disk = Disk::new(Connection::new(near, "disk0".to_owned()), options, 0, None).unwrap();
        Self {
            disk,
            guest: Guest::new(far),
            content: content(&directory, 1),
            _directory: directory,
        }
    }

    /// A disk that is ready for requests.
    pub(super) fn new() -> Self {
        let mut this = Self::bare();
        let Self { disk, guest, content, .. } = &mut this;
        guest.set_up(|| serve(disk, content).unwrap());
        this
    }

    pub(super) fn serve(&mut self) -> Result<(), LabError> {
        serve(&mut self.disk, &mut self.content)
    }
}

/// What the event loop does.
pub(super) fn serve(disk: &mut Disk, content: &mut DiskContent) -> Result<(), LabError> {
    let mut read = true;
    while disk.receive(read, Nanos(1), content)? == Activity::Busy {
        disk.resume()?;
        read = false;
    }
    for _ in 0..3 {
        if disk.advance(Nanos(1))? {
            disk.interrupt()?;
        }
    }
    Ok(())
}
