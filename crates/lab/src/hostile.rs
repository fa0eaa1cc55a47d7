//! A guest that means ill: whatever it sends or puts into its rings, there is no
//! panic, and nothing outside the memory that it shared is written.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use disklab_drive::{Completion, Drive, Nanos, Request, Statistics};
use proptest::prelude::*;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};

use crate::content::{Content, ContentLimits};
use crate::disk::{Activity, Disk, DiskOptions};
use crate::vhost::Connection;

/// The guest's memory lies in the middle of its file, with canaries on both sides.
const MARGIN: u64 = 64 << 10;
const MEMORY: u64 = 256 << 10;
const CANARY: u8 = 0xC5;
/// Where the guest believes its memory to be.
const GUEST: u64 = 0x10_0000;
/// Ring parts, from the start of memory.
const DESCRIPTORS: u64 = 0;
const AVAILABLE: u64 = 0x2000;
const USED: u64 = 0x3000;
const DATA: u64 = 0x8000;

/// A drive that is done at once.
#[derive(Default)]
struct Instant(Vec<Completion>);

impl Drive for Instant {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.0.push(Completion { id: request.id, at: now });
    }
    fn next_event(&self) -> Option<Nanos> {
        self.0.first().map(|c| c.at)
    }
    fn advance(&mut self, _now: Nanos, completions: &mut Vec<Completion>) {
        completions.append(&mut self.0);
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
    fn set_write_cache(&mut self, _now: Nanos, _on: bool) {}
}

struct Fixture {
    disk: Disk,
    guest: OwnedFd,
    memory: std::fs::File,
    content: Content,
    // Kept, as the guest keeps its side.
    _interrupts: OwnedFd,
    _folder: tempfile::TempDir,
}

fn pair() -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap()
}

fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn halves(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let limits = ContentLimits { disk_bytes: 64 << 20, memory_bytes: 64 << 20 };
        let content = Content::new(folder.path(), 1, limits).unwrap();
        let (ours, guest) = pair();
        let mut options = DiskOptions::new(Box::new(Instant::default()), "HOSTILE");
        options.discard = true;
        options.write_zeroes = true;
        let disk = Disk::new(Connection::new(ours, "disk0".to_owned()), options, 0).unwrap();
        let memory = memfd_create("guest", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&memory, MARGIN + MEMORY + MARGIN).unwrap();
        let memory = std::fs::File::from(memory);
        memory.write_all_at(&vec![CANARY; MARGIN as usize], 0).unwrap();
        memory.write_all_at(&vec![CANARY; MARGIN as usize], MARGIN + MEMORY).unwrap();
        let (interrupts, theirs) = pair();
        let mut fixture =
            Self { disk, guest, memory, content, _interrupts: interrupts, _folder: folder };
        let table = words(&[1, GUEST, MEMORY, GUEST, MARGIN]);
        let fd = fixture.memory.try_clone().unwrap();
        fixture.send(5, 1, &table, Some(fd.as_fd()));
        fixture.send(21, 1, &[], Some(theirs.as_fd()));
        fixture.send(8, 1, &halves(&[0, 256]), None);
        fixture.send(10, 1, &halves(&[0, 0]), None);
        let places = [0, GUEST + DESCRIPTORS, GUEST + USED, GUEST + AVAILABLE, 0];
        fixture.send(9, 1, &words(&places), None);
        fixture.send(18, 1, &halves(&[0, 1]), None);
        fixture
    }

    fn send(&mut self, request: u32, flags: u32, payload: &[u8], fd: Option<BorrowedFd<'_>>) {
        self.put(request, flags, payload.len() as u32, payload, fd);
        assert!(self.serve(), "{request} is refused");
    }

    fn put(&self, request: u32, flags: u32, size: u32, payload: &[u8], fd: Option<BorrowedFd<'_>>) {
        let header = halves(&[request, flags, size]);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<BorrowedFd<'_>> = fd.into_iter().collect();
        if !fds.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        }
        let parts = [IoSlice::new(&header), IoSlice::new(payload)];
        let _ = sendmsg(&self.guest, &parts, &mut ancillary, SendFlags::NOSIGNAL);
    }

    /// What the event loop does. Returns whether the disk is still content.
    fn serve(&mut self) -> bool {
        let mut read = true;
        loop {
            match self.disk.receive(read, Nanos(1), &mut self.content) {
                Err(_) => return false,
                Ok(Activity::Nothing | Activity::Gone) => break,
                Ok(Activity::Busy) => {
                    if self.disk.resume().is_err() {
                        return false;
                    }
                }
            }
            read = false;
        }
        for _ in 0..3 {
            match self.disk.advance(Nanos(1)) {
                Ok(true) if self.disk.interrupt().is_err() => return false,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        true
    }

    fn poke(&self, at: u64, bytes: &[u8]) {
        self.memory.write_all_at(bytes, MARGIN + at).unwrap();
    }

    fn canaries_live(&self) -> bool {
        let mut margin = vec![0; MARGIN as usize];
        [0, MARGIN + MEMORY].into_iter().all(|at| {
            self.memory.read_exact_at(&mut margin, at).unwrap();
            margin.iter().all(|b| *b == CANARY)
        })
    }
}

/// A number that is sound, at an edge, or anything.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0..MEMORY).prop_map(|n| GUEST + n),
        1 => Just(GUEST + MEMORY - 1),
        1 => Just(GUEST - 1),
        1 => Just(0),
        1 => Just(u64::MAX),
        1 => any::<u64>(),
    ]
}

fn length() -> impl Strategy<Value = u32> {
    prop_oneof![
        3 => (0..64u32).prop_map(|n| n * 512),
        2 => Just(16),
        2 => Just(1),
        1 => Just(u32::MAX),
        1 => any::<u32>(),
    ]
}

prop_compose! {
    fn descriptor()(address in number(), length in length(), flags in 0..8u16, next in 0..260u16)
        -> Vec<u8> {
        [&address.to_le_bytes()[..], &length.to_le_bytes(), &flags.to_le_bytes(), &next.to_le_bytes()]
            .concat()
    }
}

prop_compose! {
    /// A request's header, as likely sound as not.
    fn header()(kind in prop_oneof![0..16u32, any::<u32>()], sector in prop_oneof![0..4096u64, any::<u64>()])
        -> Vec<u8> {
        [&kind.to_le_bytes()[..], &[0; 4], &sector.to_le_bytes()].concat()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn hostile_chains_do_no_harm(
        table in proptest::collection::vec(descriptor(), 1..64),
        indirect in proptest::collection::vec(descriptor(), 0..64),
        headers in proptest::collection::vec(header(), 1..32),
        heads in proptest::collection::vec(0..300u16, 0..300),
        index in prop_oneof![0..300u16, any::<u16>()],
        rounds in 1..4u16,
    ) {
        let mut fixture = Fixture::new();
        fixture.poke(DESCRIPTORS, &table.concat());
        fixture.poke(DATA, &headers.concat());
        fixture.poke(DATA + 0x1000, &indirect.concat());
        let heads: Vec<u8> = heads.iter().flat_map(|h| h.to_le_bytes()).collect();
        fixture.poke(AVAILABLE + 4, &heads);
        for round in 1..=rounds {
            fixture.poke(AVAILABLE + 2, &index.wrapping_mul(round).to_le_bytes());
            fixture.put(35, 9, 8, &[0; 8], None);
            if !fixture.serve() {
                break;
            }
        }
        prop_assert!(fixture.canaries_live());
    }

    /// A sound frame around hostile data: header, data and status in place.
    #[test]
    fn requests_with_hostile_fields_do_no_harm(
        header in header(), address in number(), length in length(), write: bool,
    ) {
        let mut fixture = Fixture::new();
        fixture.poke(DATA, &header);
        let chain = [
            [GUEST + DATA, 16 | 1 << 32 | 1 << 48],
            [address, u64::from(length) | (1 | u64::from(write) << 1) << 32 | 2 << 48],
            [GUEST + DATA + 64, 1 | 2 << 32],
        ];
        fixture.poke(DATA + 64, &[0xEE]);
        fixture.poke(DESCRIPTORS, &words(&chain.concat()));
        fixture.poke(AVAILABLE + 2, &1_u16.to_le_bytes());
        fixture.put(35, 9, 8, &[0; 8], None);
        prop_assert!(fixture.serve(), "such a request is refused, not its guest");
        let mut used = [0; 2];
        fixture.memory.read_exact_at(&mut used, MARGIN + USED + 2).unwrap();
        prop_assert_eq!(u16::from_le_bytes(used), 1, "the guest waits for its request for ever");
        prop_assert!(fixture.canaries_live());
    }

    #[test]
    fn hostile_messages_do_no_harm(
        messages in proptest::collection::vec(
            (
                prop_oneof![0..45u32, any::<u32>()],
                prop_oneof![Just(1u32), Just(9), any::<u32>()],
                proptest::collection::vec(prop_oneof![0..3u64, number()], 0..12),
                proptest::option::weighted(0.1, any::<u32>()),
                any::<bool>(),
            ),
            1..20,
        ),
    ) {
        let mut fixture = Fixture::new();
        let fd = fixture.memory.try_clone().unwrap();
        for (request, flags, payload, lie, with_fd) in messages {
            let payload = words(&payload);
            let size = lie.unwrap_or(payload.len() as u32);
            fixture.put(request, flags, size, &payload, with_fd.then_some(fd.as_fd()));
            if !fixture.serve() {
                break;
            }
        }
        prop_assert!(fixture.canaries_live());
    }
}

#[test]
fn a_sound_write_is_read_back() {
    let mut fixture = Fixture::new();
    fixture.poke(DATA + 0x1000, &[0x77; 512]);
    for (round, kind) in [1u32, 0].into_iter().enumerate() {
        fixture.poke(DATA, &[&kind.to_le_bytes()[..], &[0; 4], &9_u64.to_le_bytes()].concat());
        let place = DATA + 0x1000 * (1 + round as u64);
        let to_guest = u64::from(kind == 0) << 1;
        let chain = [
            [GUEST + DATA, 16 | 1 << 32 | 1 << 48],
            [GUEST + place, 512 | (1 | to_guest) << 32 | 2 << 48],
            [GUEST + DATA + 64, 1 | 2 << 32],
        ];
        fixture.poke(DATA + 64, &[0xEE]);
        fixture.poke(DESCRIPTORS, &words(&chain.concat()));
        fixture.poke(AVAILABLE + 2, &(round as u16 + 1).to_le_bytes());
        fixture.put(35, 9, 8, &[0; 8], None);
        assert!(fixture.serve());
        let mut status = [0];
        fixture.memory.read_exact_at(&mut status, MARGIN + DATA + 64).unwrap();
        assert_eq!(status, [0]);
    }
    let mut back = [0; 512];
    fixture.memory.read_exact_at(&mut back, MARGIN + DATA + 0x2000).unwrap();
    assert_eq!(back, [0x77; 512]);
}
