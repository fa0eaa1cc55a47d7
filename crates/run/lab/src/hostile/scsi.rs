//! Hostile commands and requests of the control queue, and what a drive that does not answer does
//! to sound ones.

use std::os::unix::fs::FileExt;

use proptest::prelude::*;

use disklab_drive::Nanos;

use super::{
    AVAILABLE, CONTROL, CheckingDrive, DATA, DESCRIPTORS, Fixture, GUEST, MARGIN, USED, number,
    words,
};
use crate::disk::Activity;
use crate::steady::Steady;

/// Where a command, its response and its data are.
const COMMAND: u64 = DATA;
const RESPONSE: u64 = DATA + 0x100;
const PAYLOAD: u64 = DATA + 0x1000;
const SECOND: u64 = 1_000_000_000;

/// `struct virtio_scsi_cmd_req` for the one unit.
fn command(cdb: &[u8]) -> Vec<u8> {
    let mut command = vec![1, 0, 0x40, 0, 0, 0, 0, 0];
    command.resize(19, 0);
    command.extend(cdb);
    command.resize(51, 0);
    command
}

fn cdb() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<u8> = vec![
        0x00, 0x03, 0x12, 0x15, 0x1A, 0x1B, 0x25, 0x28, 0x2A, 0x35, 0x42, 0x55, 0x5A, 0x88, 0x8A,
        0x91, 0x9E, 0xA0,
    ];
    let code = prop_oneof![6 => proptest::sample::select(known), 1 => any::<u8>()];
    // Few blocks not far from the beginning, or anything.
    let small = (0..8_u8, 0..3_u8)
        .prop_map(|(first, count)| vec![0, 0, 0, 0, first, 0, 0, count, 0, first, 0, 0, count]);
    let fields = prop_oneof![small, proptest::collection::vec(any::<u8>(), 0..31)];
    (code, fields).prop_map(|(code, fields)| [&[code][..], &fields].concat())
}

impl Fixture {
    /// Puts a chain into a queue as its only request: pieces with their lengths, and whether each is
    /// for the guest.
    fn offer(&self, further: u64, pieces: &[(u64, u64, bool)]) {
        let mut table = Vec::new();
        for (index, (address, length, is_writable)) in (1..).zip(pieces) {
            let next = if index < pieces.len() as u64 { 1 | index << 16 } else { 0 };
            table.extend([*address, length | (next | u64::from(*is_writable) << 1) << 32]);
        }
        self.guest.poke(further + DESCRIPTORS, &words(&table));
        self.guest.poke(further + AVAILABLE + 2, &1_u16.to_le_bytes());
        self.guest.put(35, 9, 8, &[0; 8], &[]);
    }

    fn used_of(&self, further: u64) -> u16 {
        u16::from_le_bytes(self.peek(further + USED + 2))
    }

    fn peek<const N: usize>(&self, at: u64) -> [u8; N] {
        let mut bytes = [0; N];
        self.guest.memory.read_exact_at(&mut bytes, MARGIN + at).unwrap();
        bytes
    }

    /// Has the disk take what it was kicked for at this time.
    fn kick_at(&mut self, now: Nanos) {
        let Self { disk, content, .. } = self;
        assert_eq!(disk.receive(true, now, content).unwrap(), Activity::Busy);
        disk.resume().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever a command and the pieces around it are, it is given back.
    #[test]
    fn hostile_commands_do_no_harm(
        cdb in cdb(),
        lun in prop_oneof![4 => Just(None), 1 => any::<[u8; 8]>().prop_map(Some)],
        payload in proptest::collection::vec(any::<u8>(), 0..64),
        address in prop_oneof![Just(GUEST + PAYLOAD), number()],
        length in prop_oneof![(0..8_u64).prop_map(|n| n * 512), 0..300_u64, 0..1_u64 << 32],
        (is_read, response) in (any::<bool>(), prop_oneof![4 => Just(108_u64), 1 => 0..200_u64]),
    ) {
        let mut fixture = Fixture::scsi(Box::new(CheckingDrive::default()));
        let mut command = command(&cdb);
        command[..8].copy_from_slice(&lun.unwrap_or([1, 0, 0x40, 0, 0, 0, 0, 0]));
        fixture.guest.poke(COMMAND, &command);
        fixture.guest.poke(PAYLOAD, &payload);
        let (command, response) = ((GUEST + COMMAND, 51, false), (GUEST + RESPONSE, response, true));
        let data = (address, length, is_read);
        let chain = if is_read { [command, response, data] } else { [command, data, response] };
        fixture.offer(0, &chain);
        prop_assert!(fixture.serve().is_ok(), "such a command is refused, not its guest");
        prop_assert_eq!(fixture.used_of(0), 1, "the guest waits for its command for ever");
        prop_assert!(fixture.guest.canaries_live());
    }

    #[test]
    fn hostile_control_requests_do_no_harm(
        request in proptest::collection::vec(any::<u8>(), 0..24),
        words in prop_oneof![Just((0_u32, 5_u32)), (0..3_u32, 0..9_u32), any::<(u32, u32)>()],
        address in number(),
        (length, room) in (0..40_u64, 0..3_u64),
    ) {
        let mut fixture = Fixture::scsi(Box::new(CheckingDrive::default()));
        let words = [words.0.to_le_bytes(), words.1.to_le_bytes()].concat();
        fixture.guest.poke(COMMAND, &[words, request].concat());
        fixture.offer(CONTROL, &[(GUEST + COMMAND, length, false), (address, room, true)]);
        prop_assert!(fixture.serve().is_ok());
        prop_assert_eq!(fixture.used_of(CONTROL), 1);
        prop_assert!(fixture.guest.canaries_live());
    }
}

#[test]
fn a_sound_write_is_read_back() {
    let mut fixture = Fixture::scsi(Box::new(CheckingDrive::default()));
    fixture.guest.poke(PAYLOAD, &[0x77; 512]);
    fixture.guest.poke(COMMAND, &command(&[0x2A, 0, 0, 0, 0, 9, 0, 0, 1, 0]));
    let (request, response) = ((GUEST + COMMAND, 51, false), (GUEST + RESPONSE, 108, true));
    fixture.offer(0, &[request, (GUEST + PAYLOAD, 512, false), response]);
    fixture.serve().unwrap();
    assert_eq!(fixture.peek::<12>(RESPONSE), [0; 12]);
    fixture.guest.poke(COMMAND, &command(&[0x28, 0, 0, 0, 0, 9, 0, 0, 1, 0]));
    fixture.offer(0, &[request, response, (GUEST + PAYLOAD + 0x1000, 512, true)]);
    fixture.guest.poke(AVAILABLE + 2, &2_u16.to_le_bytes());
    fixture.serve().unwrap();
    assert_eq!((fixture.used_of(0), fixture.peek(PAYLOAD + 0x1000)), (2, [0x77; 512]));
}

/// A drive that takes longer than the host adapter waits: the adapter gives back what it has, and
/// what the drive says later is for nobody.
#[test]
fn a_reset_is_given_up_after_a_minute() {
    let mut fixture = Fixture::scsi(Box::new(Steady::new(1 << 20, 100 * SECOND)));
    fixture.guest.poke(COMMAND, &command(&[0x28, 0, 0, 0, 0, 9, 0, 0, 1, 0]));
    let (request, response) = ((GUEST + COMMAND, 51, false), (GUEST + RESPONSE, 108, true));
    fixture.offer(0, &[request, response, (GUEST + PAYLOAD, 512, true)]);
    fixture.kick_at(Nanos(0));
    let reset = [&[0, 0, 0, 0, 5, 0, 0, 0][..], &command(&[])[..8]].concat();
    fixture.guest.poke(COMMAND, &reset);
    fixture.guest.poke(RESPONSE + 0x200, &[0xEE]);
    fixture.offer(CONTROL, &[(GUEST + COMMAND, 24, false), (GUEST + RESPONSE + 0x200, 1, true)]);
    fixture.kick_at(Nanos(30 * SECOND));
    assert!(!fixture.disk.advance(Nanos(89 * SECOND)).unwrap());
    assert_eq!(fixture.disk.next_event(), Some(Nanos(90 * SECOND)));
    assert!(fixture.disk.advance(Nanos(90 * SECOND)).unwrap());
    assert_eq!((fixture.used_of(0), fixture.used_of(CONTROL)), (1, 1));
    // VIRTIO_SCSI_S_FAILURE, both.
    assert_eq!((fixture.peek(RESPONSE + 11), fixture.peek(RESPONSE + 0x200)), ([9], [9]));
    fixture.disk.advance(Nanos(100 * SECOND)).unwrap();
    assert_eq!(fixture.used_of(0), 1);
    assert_eq!(fixture.disk.next_event(), None);
}

/// A drive that answers in time has ended its commands before.
#[test]
fn a_reset_waits_for_the_drive() {
    let mut fixture = Fixture::scsi(Box::new(Steady::new(1 << 20, 40 * SECOND)));
    fixture.guest.poke(COMMAND, &command(&[0x35]));
    let response = (GUEST + RESPONSE, 108, true);
    fixture.offer(0, &[(GUEST + COMMAND, 51, false), response]);
    fixture.kick_at(Nanos(0));
    for (subtype, answer, at) in [(0, 11, 30), (5, 10, 40)] {
        let request = [&[0, 0, 0, 0, subtype, 0, 0, 0][..], &command(&[])[..8]].concat();
        fixture.guest.poke(COMMAND, &request);
        fixture
            .offer(CONTROL, &[(GUEST + COMMAND, 24, false), (GUEST + RESPONSE + 0x200, 1, true)]);
        let before = fixture.used_of(CONTROL);
        fixture.guest.poke(CONTROL + AVAILABLE + 2, &(before + 1).to_le_bytes());
        fixture.kick_at(Nanos(30 * SECOND));
        assert!(fixture.disk.advance(Nanos(at * SECOND)).unwrap());
        assert_eq!(fixture.used_of(CONTROL), before + 1);
        assert_eq!(fixture.peek(RESPONSE + 0x200), [answer], "subtype {subtype}");
    }
    assert_eq!((fixture.used_of(0), fixture.peek(RESPONSE + 11)), (1, [0]));
}
