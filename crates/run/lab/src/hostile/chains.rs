//! Hostile rings, chains and requests.

use std::os::unix::fs::FileExt;

use proptest::prelude::*;

use disklab_drive::Nanos;

use super::{AVAILABLE, DATA, DESCRIPTORS, Fixture, GUEST, MARGIN, USED, number, serve, words};

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

/// The guest truncates its memory's file when it has made a request available, or when it has
/// been taken.
#[test]
fn memory_that_is_taken_away_ends_the_guest_alone() {
    for left in [0, MARGIN, MARGIN + AVAILABLE, MARGIN + USED, MARGIN + DATA] {
        for is_taken in [false, true] {
            let mut fixture = Fixture::new();
            fixture.guest.make_available(0);
            fixture.guest.put(35, 9, 8, &[0; 8], &[]);
            let Fixture { disk, guest, content, .. } = &mut fixture;
            let mut served = Ok(());
            if is_taken {
                served = disk.receive(true, Nanos(1), content).map(drop);
            }
            guest.memory.set_len(left).unwrap();
            let served = served.and_then(|()| serve(disk, content));
            match served {
                Err(error) => {
                    assert!(error.to_string().contains("took away the memory"), "{error}")
                }
                // It lost nothing that is still needed.
                Ok(()) => assert!(is_taken && left > MARGIN + USED, "{left}"),
            }
        }
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
        fixture.guest.poke(DESCRIPTORS, &table.concat());
        fixture.guest.poke(DATA, &headers.concat());
        fixture.guest.poke(DATA + 0x1000, &indirect.concat());
        let heads: Vec<u8> = heads.iter().flat_map(|h| h.to_le_bytes()).collect();
        fixture.guest.poke(AVAILABLE + 4, &heads);
        for round in 1..=rounds {
            fixture.guest.poke(AVAILABLE + 2, &index.wrapping_mul(round).to_le_bytes());
            fixture.guest.put(35, 9, 8, &[0; 8], &[]);
            if fixture.serve().is_err() {
                break;
            }
        }
        prop_assert!(fixture.guest.canaries_live());
    }

    /// A sound frame around hostile data: header, data and status in place.
    #[test]
    fn requests_with_hostile_fields_do_no_harm(
        header in header(), address in number(), length in length(), write: bool,
    ) {
        let mut fixture = Fixture::new();
        fixture.guest.poke(DATA, &header);
        let chain = [
            [GUEST + DATA, 16 | 1 << 32 | 1 << 48],
            [address, u64::from(length) | (1 | u64::from(write) << 1) << 32 | 2 << 48],
            [GUEST + DATA + 64, 1 | 2 << 32],
        ];
        fixture.guest.poke(DATA + 64, &[0xEE]);
        fixture.guest.poke(DESCRIPTORS, &words(&chain.concat()));
        fixture.guest.poke(AVAILABLE + 2, &1_u16.to_le_bytes());
        fixture.guest.put(35, 9, 8, &[0; 8], &[]);
        prop_assert!(fixture.serve().is_ok(), "such a request is refused, not its guest");
        let mut used = [0; 2];
        fixture.guest.memory.read_exact_at(&mut used, MARGIN + USED + 2).unwrap();
        prop_assert_eq!(u16::from_le_bytes(used), 1, "the guest waits for its request for ever");
        prop_assert!(fixture.guest.canaries_live());
    }
}

#[test]
fn a_sound_write_is_read_back() {
    let mut fixture = Fixture::new();
    fixture.guest.poke(DATA + 0x1000, &[0x77; 512]);
    for (round, kind) in [1u32, 0].into_iter().enumerate() {
        fixture
            .guest
            .poke(DATA, &[&kind.to_le_bytes()[..], &[0; 4], &9_u64.to_le_bytes()].concat());
        let place = DATA + 0x1000 * (1 + round as u64);
        let to_guest = u64::from(kind == 0) << 1;
        let chain = [
            [GUEST + DATA, 16 | 1 << 32 | 1 << 48],
            [GUEST + place, 512 | (1 | to_guest) << 32 | 2 << 48],
            [GUEST + DATA + 64, 1 | 2 << 32],
        ];
        fixture.guest.poke(DATA + 64, &[0xEE]);
        fixture.guest.poke(DESCRIPTORS, &words(&chain.concat()));
        fixture.guest.poke(AVAILABLE + 2, &(round as u16 + 1).to_le_bytes());
        fixture.guest.put(35, 9, 8, &[0; 8], &[]);
        assert!(fixture.serve().is_ok());
        let mut status = [0];
        fixture.guest.memory.read_exact_at(&mut status, MARGIN + DATA + 64).unwrap();
        assert_eq!(status, [0]);
    }
    let mut back = [0; 512];
    fixture.guest.memory.read_exact_at(&mut back, MARGIN + DATA + 0x2000).unwrap();
    assert_eq!(back, [0x77; 512]);
}
