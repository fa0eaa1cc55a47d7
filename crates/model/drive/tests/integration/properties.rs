//! What holds whatever is asked of a drive.

use std::collections::HashMap;

use crate::common::drives;
use crate::common::script::{Script, at_each_flush, awaited, operation};
use disklab_drive::hdd::{HardDisk, Parameters, SectorFormat};
use disklab_drive::{Completion, Drive, Nanos, Operation, Request};
use proptest::prelude::*;

/// Bursts and pauses, sequential and random, large and small, near and far.
fn scripts() -> impl Strategy<Value = Script> {
    let pause = prop_oneof![
        4 => Just(0),
        4 => 0..1_000_000_u64,
        2 => 0..40_000_000_u64,
        1 => 0..3_000_000_000_u64,
    ];
    let place = prop_oneof![
        3 => (0..64_u64).prop_map(|n| n * 8),
        2 => 0..200_000_u64,
        2 => (0..900_000_000_u64).prop_map(|n| n & !7),
    ];
    let length = prop_oneof![4 => Just(8_u64), 2 => 1..64_u64, 1 => 1..9000_u64, 1 => Just(0)];
    crate::common::script::script(pause, operation(6, 6), place, length)
}

fn parameters() -> impl Strategy<Value = Parameters> {
    let formats = [SectorFormat::Native512, SectorFormat::Emulated512, SectorFormat::Native4096];
    let drives = drives();
    (0..drives.len(), 0..3_usize, any::<bool>(), 1..33_u64, 0.0..1.0_f64, 1..40_u64).prop_map(
        move |(drive, format, write_cache, queue_depth, ncq_quality, dirty_extents)| {
            let p = drives[drive].1.clone();
            Parameters {
                // Whole sectors of any format.
                capacity: p.capacity & !4095,
                visible: p.visible & !4095,
                sectors: formats[format],
                write_cache,
                queue_depth,
                ncq_quality,
                ncq_window: queue_depth,
                dirty_extents,
                // Small, so that scripts reach its bounds.
                dirty_limit: 4 << 20,
                ..p
            }
        },
    )
}

/// Runs a script; between requests, time continues in steps of `step` ns, or from
/// event to event where it is absent, or at once where it is 0.
fn run(p: &Parameters, script: &Script, step: Option<u64>) -> (Vec<Completion>, HardDisk) {
    let mut drive = HardDisk::new(p, 7);
    let (mut now, mut done) = (0, Vec::new());
    for (pause, request) in script {
        let next = now + pause;
        match step {
            None => {
                while let Some(event) = drive.next_event().filter(|event| event.0 <= next) {
                    drive.advance(event, &mut done);
                }
            }
            Some(0) => {}
            Some(step) => {
                for time in (now..next).step_by(step as usize) {
                    drive.advance(Nanos(time), &mut done);
                }
            }
        }
        drive.submit(Nanos(next), *request);
        now = next;
    }
    match step {
        None => {
            while let Some(event) = drive.next_event() {
                drive.advance(event, &mut done);
            }
        }
        Some(_) => drive.advance(Nanos(u64::MAX / 8), &mut done),
    }
    (done, drive)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_request_completes_once_in_order_and_not_too_soon(
        p in parameters(), script in scripts(),
    ) {
        p.check().unwrap();
        let (done, drive) = run(&p, &script, None);
        prop_assert_eq!(done.len(), script.len());
        prop_assert!(done.windows(2).all(|pair| pair[0].at <= pair[1].at));
        let mut times: HashMap<u64, u64> = done.iter().map(|c| (c.id, c.at.0)).collect();
        prop_assert_eq!(times.len(), script.len());
        let mut now = 0;
        for (pause, request) in &script {
            now += pause;
            let overhead = match request.operation {
                Operation::Read => p.read_overhead,
                _ => p.write_overhead,
            };
            let at = times.remove(&request.id).unwrap();
            prop_assert!(at >= now + overhead, "{:?} at {} done at {}", request, now, at);
        }
        let counts = drive.statistics();
        prop_assert_eq!(counts.dirty_bytes, 0, "all is destaged in the end");
        prop_assert!(counts.read_hits <= counts.reads);
        let last = done.last().unwrap().at.0;
        prop_assert!(counts.busy <= last + 10_000_000_000, "{:?}", counts);
    }

    /// The lab's guest runs for as long before it reports a request.
    #[test]
    fn no_request_completes_before_its_least_latency(
        p in parameters(), script in scripts(),
    ) {
        let mut drive = HardDisk::new(&p, 7);
        let least = drive.least_latency().0;
        prop_assert!(least > 0);
        let (mut now, mut done) = (0, Vec::new());
        for (pause, request) in script {
            now += pause;
            drive.advance(Nanos(now), &mut done);
            let before = drive.next_event();
            drive.submit(Nanos(now), request);
            let after = drive.next_event();
            prop_assert!(after == before || after >= Some(Nanos(now + least)), "{:?}", after);
        }
    }

    #[test]
    fn steps_of_any_size_give_the_same_times(
        p in parameters(), script in scripts(), step in 30_000..50_000_000_u64,
    ) {
        let (events, one) = run(&p, &script, None);
        let (again, _) = run(&p, &script, None);
        prop_assert_eq!(&events, &again);
        let (jumps, other) = run(&p, &script, Some(0));
        prop_assert_eq!(&events, &jumps);
        prop_assert_eq!(one.statistics(), other.statistics());
        let short: Script = script.into_iter().map(|(pause, r)| (pause.min(50_000_000), r)).collect();
        prop_assert_eq!(run(&p, &short, Some(step)).0, run(&p, &short, None).0);
    }

    #[test]
    fn a_flush_completes_after_all_earlier_writes_are_on_the_medium(
        p in parameters(), script in scripts(),
    ) {
        let mut drive = HardDisk::new(&p, 7);
        at_each_flush(&mut drive, script, |drive, flush, open| {
            prop_assert!(!open.iter().any(|r| awaited(r, flush)));
            // Later writes are blocked, so the cache is empty at this time.
            prop_assert_eq!(drive.statistics().dirty_bytes, 0);
            Ok(())
        })?;
    }

    #[test]
    fn written_data_are_read_from_the_cache(
        p in parameters(), places in prop::collection::vec(0..100_000_u64, 1..30),
    ) {
        let mut drive = HardDisk::new(&Parameters { write_cache: true, ..p.clone() }, 7);
        let mut now = 0;
        for place in &places {
            now = crate::common::carry_out(&mut drive, now, Operation::Write, place * 8, 8);
        }
        for place in &places {
            let begun = now;
            now = crate::common::carry_out(&mut drive, now, Operation::Read, place * 8, 8);
            let link = (4096e9 / p.link_rate) as u64;
            prop_assert_eq!(now, begun + p.read_overhead + link);
        }
        prop_assert_eq!(drive.statistics().read_hits, places.len() as u64);
    }

    #[test]
    fn no_request_panics(
        p in parameters(),
        requests in prop::collection::vec(
            (any::<u64>(), operation(6, 6), any::<u64>(), any::<u64>(), any::<bool>()), 1..40,
        ),
    ) {
        let mut drive = HardDisk::new(&p, u64::MAX);
        let mut done = Vec::new();
        let (mut now, mut impossible) = (0_u64, 0);
        for (pause, operation, sector, sectors, far) in &requests {
            now = if *far { now.saturating_add(*pause) } else { now.saturating_add(pause % 1_000_000) };
            let sectors = if *far { *sectors } else { sectors % 100 };
            let end = sector.checked_add(sectors);
            impossible += u64::from(
                *operation != Operation::Flush && end.is_none_or(|end| end > drive.sectors()),
            );
            drive.submit(Nanos(now), Request { id: 1, operation: *operation, sector: *sector, sectors });
        }
        while let Some(event) = drive.next_event() {
            drive.advance(event, &mut done);
        }
        prop_assert_eq!(done.len(), requests.len());
        prop_assert!(drive.statistics().refused >= impossible);
    }
}
