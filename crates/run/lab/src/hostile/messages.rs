//! Hostile messages on a disk's socket.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use proptest::prelude::*;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::net::{SendFlags, send};

use super::{AVAILABLE, DESCRIPTORS, Fixture, GUEST, MARGIN, MEMORY, USED, halves, number, words};
use crate::LabError;

const SET_MEM_TABLE: u32 = 5;
const SET_VRING_NUM: u32 = 8;
const SET_VRING_ADDR: u32 = 9;
const SET_VRING_BASE: u32 = 10;
const SET_VRING_ENABLE: u32 = 18;
const SET_SLAVE_REQ_FD: u32 = 21;
const SET_CONFIG: u32 = 25;
const VRING_KICK: u32 = 35;

/// What a message carries with its bytes.
#[derive(Debug, Clone, Copy)]
enum Carried {
    /// The guest's memory.
    Memory,
    Socket,
    /// Something that is neither.
    Device,
    /// An empty file.
    Empty,
}

#[derive(Debug, Clone)]
struct Sent {
    request: u32,
    flags: u32,
    payload: Vec<u8>,
    /// The size in its header, where that is a lie.
    lie: Option<u32>,
    carried: Vec<Carried>,
}

fn carried() -> impl Strategy<Value = Carried> {
    prop_oneof![
        4 => Just(Carried::Memory),
        1 => Just(Carried::Socket),
        1 => Just(Carried::Device),
        1 => Just(Carried::Empty),
    ]
}

/// A region: guest address, bytes, user address, offset in its file. What lies in the
/// file but is not the guest's memory must not be shared here: the canaries tell.
fn region() -> impl Strategy<Value = Vec<u64>> {
    let within = (0..MEMORY / 4096, 1..MEMORY / 4096, number(), number()).prop_map(
        |(first, pages, guest, user)| {
            let pages = pages.min(MEMORY / 4096 - first);
            vec![guest & !4095, pages * 4096, user & !4095, MARGIN + first * 4096]
        },
    );
    let beyond = (number(), number(), number(), any::<u64>())
        .prop_map(|(guest, bytes, user, far)| vec![guest, bytes, user, far.max(1 << 32)]);
    let unaligned = (1..4096u64).prop_map(|n| vec![GUEST, 4096, GUEST, MARGIN + n]);
    prop_oneof![
        3 => Just(vec![GUEST, MEMORY, GUEST, MARGIN]),
        3 => within,
        1 => beyond,
        1 => unaligned,
        1 => Just(vec![GUEST, 0, GUEST, MARGIN]),
    ]
}

fn table() -> impl Strategy<Value = Vec<u8>> {
    let count = prop_oneof![4 => Just(None), 1 => any::<u64>().prop_map(Some), 1 => Just(Some(9))];
    (count, proptest::collection::vec(region(), 1..4)).prop_map(|(count, regions)| {
        let count = count.unwrap_or(regions.len() as u64);
        words(&[vec![count], regions.concat()].concat())
    })
}

fn half() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => 0..2u32,
        1 => prop_oneof![Just(3), Just(16), Just(255), Just(256), Just(257), Just(512)],
        1 => Just(u32::MAX),
        1 => any::<u32>(),
    ]
}

fn place(at: u64) -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(GUEST + at), 1 => number(), 1 => Just(GUEST + MEMORY - 2)]
}

/// A request with a payload of its kind, as likely sound as not.
fn body() -> impl Strategy<Value = (u32, Vec<u8>)> {
    let state = (
        prop_oneof![
            Just(SET_VRING_NUM),
            Just(SET_VRING_BASE),
            Just(SET_VRING_ENABLE),
            Just(VRING_KICK),
            Just(11)
        ],
        prop_oneof![5 => Just(0), 1 => half()],
        half(),
    );
    let places = (half(), place(DESCRIPTORS), place(USED), place(AVAILABLE));
    let config = (half(), half(), half(), proptest::collection::vec(any::<u8>(), 0..300));
    prop_oneof![
        3 => table().prop_map(|bytes| (SET_MEM_TABLE, bytes)),
        1 => Just((SET_SLAVE_REQ_FD, Vec::new())),
        4 => state.prop_map(|(request, index, value)| (request, halves(&[index, value]))),
        2 => places.prop_map(|(index, d, u, a)| {
            (SET_VRING_ADDR, words(&[u64::from(index), d, u, a, 0]))
        }),
        1 => config.prop_map(|(at, size, flags, bytes)| {
            (SET_CONFIG, [halves(&[at, size, flags]), bytes].concat())
        }),
        1 => (prop_oneof![0..45u32, any::<u32>()], proptest::collection::vec(any::<u8>(), 0..96)),
    ]
}

fn sent() -> impl Strategy<Value = Sent> {
    (
        body(),
        prop_oneof![5 => Just(1u32), 5 => Just(9), 1 => any::<u32>()],
        proptest::option::weighted(0.05, prop_oneof![0..64u32, any::<u32>()]),
        prop_oneof![
            3 => Just(None),
            1 => proptest::collection::vec(carried(), 0..11).prop_map(Some)
        ],
        proptest::option::weighted(0.05, 0..64usize),
    )
        .prop_map(|((request, mut payload), flags, lie, other, cut)| {
            let regions = payload.len().saturating_sub(8) / 32;
            let usual = match request {
                SET_MEM_TABLE => vec![Carried::Memory; regions],
                SET_SLAVE_REQ_FD => vec![Carried::Socket],
                _ => Vec::new(),
            };
            if let Some(cut) = cut {
                payload.truncate(cut);
            }
            Sent { request, flags, payload, lie, carried: other.unwrap_or(usual) }
        })
}

/// A guest is to blame for what goes wrong, or its descriptors are.
fn is_sound(outcome: Result<(), LabError>) -> bool {
    matches!(outcome, Ok(()) | Err(LabError::Protocol { .. } | LabError::System { .. }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// In any order, repeated, from the very start or after a sound set-up.
    #[test]
    fn hostile_messages_do_no_harm(
        set_up: bool,
        messages in proptest::collection::vec(sent(), 1..24),
    ) {
        let mut fixture = if set_up { Fixture::new() } else { Fixture::bare() };
        fixture.guest.make_available(0);
        let memory = fixture.guest.memory.try_clone().unwrap();
        let socket = fixture.guest.interrupts.try_clone().unwrap();
        let device = File::open("/dev/null").unwrap();
        let empty = memfd_create("empty", MemfdFlags::CLOEXEC).unwrap();
        for message in messages {
            let fds: Vec<BorrowedFd<'_>> = message
                .carried
                .iter()
                .map(|carried| match carried {
                    Carried::Memory => memory.as_fd(),
                    Carried::Socket => socket.as_fd(),
                    Carried::Device => device.as_fd(),
                    Carried::Empty => empty.as_fd(),
                })
                .collect();
            let size = message.lie.unwrap_or(message.payload.len() as u32);
            fixture.guest.put(message.request, message.flags, size, &message.payload, &fds);
            let outcome = fixture.serve();
            let failed = outcome.is_err();
            prop_assert!(is_sound(outcome));
            if failed {
                break;
            }
        }
        prop_assert!(fixture.guest.canaries_live());
    }

    /// Messages may be cut anywhere: nothing is done before the last byte has come.
    #[test]
    fn messages_may_come_in_pieces(cut in 1..20usize, value in 0..300u32) {
        let mut fixture = Fixture::new();
        let bytes = [halves(&[SET_VRING_BASE, 9, 8]), halves(&[0, value])].concat();
        let (first, second) = bytes.split_at(cut);
        let end = [halves(&[11, 1, 8]), halves(&[0, 0])].concat();
        for part in [first, second, &end] {
            send(&fixture.guest.socket, part, SendFlags::NOSIGNAL).unwrap();
            prop_assert!(fixture.serve().is_ok());
        }
        let mut heard = [0; 256];
        let (got, _) =
            rustix::net::recv(&fixture.guest.socket, &mut heard, rustix::net::RecvFlags::DONTWAIT)
                .unwrap();
        prop_assert_eq!(&heard[..got][got - 4..], &value.to_ne_bytes());
    }
}

/// What the disk says to a message of a guest that has not set anything up.
fn said(request: u32, payload: &[u8], fds: usize) -> Result<(), LabError> {
    let mut fixture = Fixture::bare();
    let memory = fixture.guest.memory.try_clone().unwrap();
    let fds = vec![memory.as_fd(); fds];
    fixture.guest.put(request, 1, payload.len() as u32, payload, &fds);
    fixture.serve()
}

#[test]
fn impossible_memory_tables_are_refused() {
    let sound = [GUEST, MEMORY, GUEST, MARGIN];
    let cases: [(&str, u64, Vec<[u64; 4]>, usize); 10] = [
        ("no region", 0, vec![sound], 1),
        ("too many regions", 9, vec![sound; 9], 8),
        ("fewer regions than it says", 2, vec![sound], 2),
        ("a region without a descriptor", 1, vec![sound], 0),
        ("overlapping regions", 2, vec![sound, [GUEST + 4096, 4096, 0, MARGIN]], 2),
        ("an empty region", 1, vec![[GUEST, 0, GUEST, MARGIN]], 1),
        ("a region beyond its file", 1, vec![[GUEST, 1 << 40, GUEST, MARGIN]], 1),
        ("a region that begins within a page", 1, vec![[GUEST, 4096, GUEST, MARGIN + 8]], 1),
        ("guest addresses that wrap", 1, vec![[u64::MAX - 4095, 8192, GUEST, MARGIN]], 1),
        ("user addresses that wrap", 1, vec![[GUEST, 8192, u64::MAX - 4095, MARGIN]], 1),
    ];
    for (what, count, regions, fds) in cases {
        let payload = words(&[vec![count], regions.concat()].concat());
        let outcome = said(SET_MEM_TABLE, &payload, fds);
        assert!(matches!(outcome, Err(LabError::Protocol { .. })), "{what}: {outcome:?}");
    }
    let outcome = said(SET_MEM_TABLE, &words(&[1, GUEST, MEMORY, GUEST, MARGIN]), 8);
    assert!(outcome.is_ok(), "surplus descriptors are closed: {outcome:?}");
}

#[test]
fn a_huge_region_does_no_harm() {
    let mut fixture = Fixture::bare();
    let huge = memfd_create("huge", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&huge, 1 << 50).unwrap();
    let table = words(&[1, 0, 1 << 50, 0, 0]);
    fixture.guest.put(SET_MEM_TABLE, 1, table.len() as u32, &table, &[huge.as_fd()]);
    // More than any processor's address space has.
    assert!(matches!(fixture.serve(), Err(LabError::System { .. })));
}

#[test]
fn impossible_rings_are_refused() {
    let outside = GUEST + MEMORY;
    let (d, u, a) = (GUEST + DESCRIPTORS, GUEST + USED, GUEST + AVAILABLE);
    let num = |size| (SET_VRING_NUM, halves(&[0, size]));
    let places = |d, u, a| (SET_VRING_ADDR, words(&[0, d, u, a, 0]));
    let cases = [
        ("no descriptors", num(0)),
        ("a size that is no power of two", num(3)),
        ("more descriptors than the device has", num(512)),
        ("a size beyond 16 bits", num(65_536 + 256)),
        ("a second ring", (SET_VRING_NUM, halves(&[1, 256]))),
        ("half a message", (SET_VRING_NUM, halves(&[0]))),
        ("a base beyond 16 bits", (SET_VRING_BASE, halves(&[0, 65_536]))),
        ("descriptors outside memory", places(outside, u, a)),
        ("a used ring outside memory", places(d, outside, a)),
        ("an available ring outside memory", places(d, u, 0)),
        ("descriptors that are not aligned", places(d + 8, u, a)),
        ("a used ring that is not aligned", places(d, u + 2, a)),
        ("an available ring that is not aligned", places(d, u, a + 1)),
        ("half the addresses", (SET_VRING_ADDR, words(&[0, d]))),
    ];
    for (what, (request, payload)) in cases {
        let mut fixture = Fixture::new();
        fixture.guest.put(request, 1, payload.len() as u32, &payload, &[]);
        let outcome = fixture.serve();
        assert!(matches!(outcome, Err(LabError::Protocol { .. })), "{what}: {outcome:?}");
    }
    // What begins in memory and does not end there is found when it is switched on.
    let mut fixture = Fixture::new();
    for (request, payload) in [
        places(d, outside - 4, a),
        (SET_VRING_ENABLE, halves(&[0, 0])),
        (SET_VRING_ENABLE, halves(&[0, 1])),
    ] {
        fixture.guest.put(request, 1, payload.len() as u32, &payload, &[]);
    }
    assert!(matches!(fixture.serve(), Err(LabError::Protocol { .. })));
}

#[test]
fn messages_that_need_memory_are_refused_without_it() {
    for (request, payload) in [
        (VRING_KICK, halves(&[0, 0])),
        (SET_VRING_ENABLE, halves(&[0, 1])),
        (SET_VRING_ADDR, words(&[0, GUEST, GUEST, GUEST, 0])),
    ] {
        let outcome = said(request, &payload, 0);
        assert!(matches!(outcome, Err(LabError::Protocol { .. })), "{request}: {outcome:?}");
    }
}

#[test]
fn an_interrupt_that_goes_nowhere_ends_the_lab() {
    let mut fixture = Fixture::new();
    let device = File::open("/dev/null").unwrap();
    fixture.guest.put(SET_SLAVE_REQ_FD, 1, 0, &[], &[device.as_fd()]);
    fixture.serve().unwrap();
    fixture.guest.make_available(0);
    fixture.guest.put(VRING_KICK, 9, 8, &[0; 8], &[]);
    assert!(matches!(fixture.serve(), Err(LabError::System { .. })));
    assert_eq!(fixture.guest.used(), 1);
}

#[test]
fn unwanted_descriptors_are_closed() {
    let mut fixture = Fixture::new();
    let memory = fixture.guest.memory.try_clone().unwrap();
    for _ in 0..20 {
        fixture.guest.put(VRING_KICK, 1, 8, &[0; 8], &[memory.as_fd()]);
        fixture.serve().unwrap();
    }
}
