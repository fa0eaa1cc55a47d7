//! What holds whatever is asked of a shingled drive.

use crate::common::script::{Script, at_each_flush, awaited, operation};
use disklab_drive::hdd::{self, HardDisk};
use disklab_drive::smr::{CommitPoint, Parameters};
use disklab_drive::{Completion, Drive, Kind, Nanos, Operation, Request, shipped};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// Bursts and pauses, sequential and random, small and longer than a band.
fn scripts() -> impl Strategy<Value = Script> {
    let pause = prop_oneof![
        6 => Just(0),
        4 => 0..40_000_000_u64,
        1 => 0..3_000_000_000_u64,
    ];
    let place = prop_oneof![
        3 => (0..12_u64).prop_map(|n| n * 2000),
        2 => 0..60_000_u64,
        1 => (0..900_000_000_u64).prop_map(|n| n & !7),
    ];
    let length = prop_oneof![4 => Just(8_u64), 3 => 1..3000_u64, 1 => 1..12_000_u64, 1 => Just(0)];
    crate::common::script::script(pause, operation(5, 9), place, length)
}

/// Drives so small in everything that scripts reach their bounds.
fn parameters() -> impl Strategy<Value = Parameters> {
    (
        any::<bool>(),
        1..33_u64,
        2..40_u64,
        16..40_u64,
        1..9_u64,
        1..4_u64,
        0..3_u64,
        (0..3_u64, 0..3_u64),
    )
        .prop_map(
            |(
                write_cache,
                queue_depth,
                dirty_extents,
                map_entries,
                map_flush_every,
                band_tracks,
                after,
                (skip, least),
            )| {
                let Some(Kind::Smr(shipped)) = shipped("st8000as0002").map(|file| file.kind) else {
                    panic!("the drive is not shingled");
                };
                Parameters {
                    disk: hdd::Parameters {
                        write_cache,
                        queue_depth,
                        dirty_extents,
                        dirty_limit: 8 * MIB,
                        destage_step: 512 << 10,
                        ..shipped.disk
                    },
                    log_size: 36 * MIB,
                    log_padding: 512 << 10,
                    map_entries,
                    map_flush_every,
                    map_flush: 30_000_000,
                    commit: vec![
                        CommitPoint { size: MIB, time: 18_000_000 },
                        CommitPoint { size: 4 * MIB, time: 40_000_000 },
                    ],
                    band_tracks,
                    stream_after: after * MIB,
                    stream_skip: skip * 64 * 1024,
                    stream_least: least * 256 * 1024,
                    ..shipped
                }
            },
        )
}

/// Runs a script from event to event, or, where it `jumps`, from request to request.
/// Gives the completions and the drive when nothing is left to do.
fn run(p: &Parameters, script: &Script, jumps: bool) -> (Vec<Completion>, HardDisk) {
    let mut drive = HardDisk::shingled(p, 7);
    let (mut now, mut done) = (0, Vec::new());
    let bounded = |drive: &HardDisk| {
        let counts = drive.statistics().shingled;
        assert!(counts.cached_bytes <= p.log_size && counts.cached_extents <= p.map_entries + 2);
    };
    for (pause, request) in script {
        let next = now + pause;
        while let Some(event) = drive.next_event().filter(|event| !jumps && event.0 <= next) {
            drive.advance(event, &mut done);
            bounded(&drive);
        }
        drive.submit(Nanos(next), *request);
        now = next;
    }
    if jumps {
        drive.advance(Nanos(u64::MAX / 8), &mut done);
    }
    let mut events = 0;
    while let Some(event) = drive.next_event() {
        drive.advance(event, &mut done);
        bounded(&drive);
        events += 1;
        assert!(events < 1_000_000, "the drive comes to rest");
    }
    (done, drive)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_request_completes_once_in_order_and_in_the_end_all_is_at_home(
        p in parameters(), script in scripts(),
    ) {
        p.check().unwrap();
        let (done, drive) = run(&p, &script, false);
        prop_assert_eq!(done.len(), script.len());
        prop_assert!(done.windows(2).all(|pair| pair[0].at <= pair[1].at));
        let mut now = 0;
        for (pause, request) in &script {
            now += pause;
            let mut mine = done.iter().filter(|completion| completion.id == request.id);
            let (one, other) = (mine.next().unwrap(), mine.next());
            prop_assert!(one.at.0 > now && other.is_none(), "{:?} at {}", request, now);
        }
        let counts = drive.statistics();
        prop_assert_eq!(counts.dirty_bytes, 0);
        prop_assert_eq!((counts.shingled.cached_bytes, counts.shingled.cached_extents), (0, 0));
        let (again, _) = run(&p, &script, false);
        prop_assert_eq!(&done, &again);
        let (jumps, other) = run(&p, &script, true);
        prop_assert_eq!(&done, &jumps);
        prop_assert_eq!(drive.statistics(), other.statistics());
    }

    #[test]
    fn a_flush_completes_after_all_earlier_writes_are_on_the_medium(
        p in parameters(), script in scripts(),
    ) {
        let mut drive = HardDisk::shingled(&p, 7);
        at_each_flush(&mut drive, script, |drive, flush, open| {
            prop_assert!(!open.iter().any(|r| awaited(r, flush)));
            // A zeroing behind it needs no data, and so begins in that instant.
            let zeroes = open.iter().any(|r| r.operation == Operation::WriteZeroes);
            prop_assert!(zeroes || drive.statistics().dirty_bytes == 0);
            Ok(())
        })?;
    }

    #[test]
    fn no_request_panics(
        p in parameters(),
        requests in prop::collection::vec(
            (any::<u64>(), operation(5, 9), any::<u64>(), any::<u64>(), any::<bool>()), 1..40,
        ),
    ) {
        let mut drive = HardDisk::shingled(&p, u64::MAX);
        let mut done = Vec::new();
        let mut now = 0_u64;
        for (pause, operation, sector, sectors, far) in &requests {
            now = if *far { now.saturating_add(*pause) } else { now.saturating_add(pause % 1_000_000) };
            let (sector, sectors) = if *far { (*sector, *sectors) } else { (sector % 15_000_000_000, sectors % 100) };
            drive.submit(Nanos(now), Request { id: 1, operation: *operation, sector, sectors });
        }
        while let Some(event) = drive.next_event() {
            drive.advance(event, &mut done);
        }
        prop_assert_eq!(done.len(), requests.len());
    }
}
