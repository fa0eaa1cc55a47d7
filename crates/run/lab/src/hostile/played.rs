//! A lab whose guest is a test.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use disklab_drive::Drive;
use disklab_exec::Interrupt;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recv, recvmsg, send,
};
use rustix::time::Timespec;

use super::{Guest, content};
use crate::console::{ConsoleLine, Operator};
use crate::event_loop::{EventLoop, Limits};
use crate::{DiskOptions, Sockets};
use disklab_lab_guest::Frame;

/// Offsets in the shared memory.
pub(super) const FREE_UNTIL: usize = 8;
pub(super) const CURRENT_TIME: usize = 16;
pub(super) const RUNNING: usize = 24;
pub(super) const KICKS: usize = 32;
pub(super) const CALLS: usize = 40;
pub(super) const KICK_WINDOW: usize = 48;
pub(super) const EARLIER_COUNT: usize = 56;
/// Each has a time, and then a device and where its ring ended, of 32 bits each.
pub(super) const EARLIER: usize = 64;
/// The entry of the calendar's own client, and the guest's.
pub(super) const DATA_BYTES: usize = 4096;
pub(super) const THEIRS: usize = 4096 + 128;
/// Both capabilities: time is shared, and devices are.
pub(super) const CAPABILITIES: u64 = 3;
/// In the flags, which follow: it wants to run.
pub(super) const REQUESTED: u64 = 1;
pub(super) const EPOCH: u64 = 1 << 63;

pub(super) const START: u32 = 1;
pub(super) const WAIT: u32 = 3;
pub(super) const RUN: u32 = 6;

pub(super) const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Somebody who neither types nor listens.
#[derive(Debug)]
struct SilentOperator;

impl Operator for SilentOperator {
    fn input_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    fn input(&mut self) -> io::Result<Vec<Frame>> {
        Ok(vec![Frame::InputEnds])
    }
    fn look(&mut self) -> Option<Frame> {
        Some(Frame::Size(24, 80))
    }
    fn take(&mut self, _frame: Frame) -> io::Result<()> {
        Ok(())
    }
}

/// A lab whose guest is this test.
pub(super) struct TestLab {
    pub(super) events: EventLoop,
    pub(super) calendar: UnixStream,
    shared: File,
    /// The guest's side of each disk.
    pub(super) guests: Vec<Guest>,
    pub(super) line: Option<OwnedFd>,
    pub(super) directory: tempfile::TempDir,
}

pub(super) fn message(op: u32, time: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&op.to_ne_bytes());
    bytes[8..].copy_from_slice(&time.to_ne_bytes());
    bytes
}

impl TestLab {
    /// With one disk, and with an operator or without.
    pub(super) fn new(drive: Box<dyn Drive>, attended: bool, limits: Limits) -> Self {
        Self::make(vec![drive], attended, limits)
    }

    /// With as many disks as drives.
    pub(super) fn with_drives(drives: Vec<Box<dyn Drive>>, limits: Limits) -> Self {
        Self::make(drives, false, limits)
    }

    fn make(drives: Vec<Box<dyn Drive>>, attended: bool, limits: Limits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let sockets = Sockets::new(directory.path(), drives.len()).unwrap();
        let (console, line) =
            match attended.then(|| ConsoleLine::new(Box::new(SilentOperator)).unwrap()) {
                Some((console, line)) => (Some(console), Some(line)),
                None => (None, None),
            };
        let disks: Vec<DiskOptions> =
            drives.into_iter().map(|drive| DiskOptions::new(drive, "HOSTILE")).collect();
        let count = disks.len();
        let content = content(&directory, count);
        let mut events = EventLoop::new(sockets, disks, content, 0, limits, console).unwrap();
        let connect = |name: &str| {
            let socket = UnixStream::connect(directory.path().join(name)).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        let calendar = connect(Sockets::CALENDAR);
        let guests: Vec<Guest> =
            (0..count).map(|disk| Guest::new(connect(&Sockets::disk(disk)).into())).collect();
        events.step(&AT_ONCE).unwrap();
        send(&calendar, &message(START, u64::MAX), SendFlags::NOSIGNAL).unwrap();
        events.step(&AT_ONCE).unwrap();
        let shared = take_shared(&calendar);
        for guest in &guests {
            guest.set_up(|| assert!(!events.step(&AT_ONCE).unwrap()));
        }
        Self { events, calendar, shared, guests, line, directory }
    }

    /// A guest that speaks to its disk by the shared memory.
    pub(super) fn with_devices(drive: Box<dyn Drive>, limits: Limits) -> Self {
        let this = Self::new(drive, false, limits);
        this.poke(THEIRS, CAPABILITIES);
        this
    }

    pub(super) fn poke(&self, at: usize, value: u64) {
        self.shared.write_all_at(&value.to_ne_bytes(), at as u64).unwrap();
    }

    pub(super) fn peek(&self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        self.shared.read_exact_at(&mut bytes, at as u64).unwrap();
        u64::from_ne_bytes(bytes)
    }

    /// Asks to run at `time`.
    pub(super) fn ask(&self, time: u64) {
        self.poke(THEIRS + 8, EPOCH.wrapping_add(time));
        self.poke(THEIRS, CAPABILITIES | REQUESTED << 32);
    }

    pub(super) fn say(&self, bytes: &[u8]) {
        // It may be full, or closed by then.
        let _ = send(&self.calendar, bytes, SendFlags::NOSIGNAL);
    }

    pub(super) fn next_message(&self) -> Option<(u32, u64)> {
        let mut bytes = [0; 16];
        match recv(&self.calendar, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((16, _)) => Some((
                u32::from_ne_bytes(bytes[..4].try_into().unwrap()),
                u64::from_ne_bytes(bytes[8..].try_into().unwrap()),
            )),
            _ => None,
        }
    }
}

/// Takes the memory that came with the answer to the start.
fn take_shared(calendar: &UnixStream) -> File {
    let mut bytes = [0; 16];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    recvmsg(calendar, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags).unwrap();
    let mut fds = ancillary.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => fds.collect(),
        _ => Vec::new(),
    });
    File::from(fds.next().unwrap())
}

pub(super) fn limits() -> Limits {
    Limits { real: None, virtual_time: None, power_cut: None, interrupt: Interrupt::new() }
}
