use disklab_exec::Executor;
use proptest::prelude::*;

use super::*;
use crate::testing::{context, read, run_in};

fn schedule(rate: u64, length_ms: u64) -> Schedule {
    Schedule {
        rate: BitsPerSecond(rate),
        segment: Bytes::mib(1),
        length: length_ms * 1_000_000,
        buffer: 2_000_000_000,
    }
}

#[test]
fn segments_have_their_places() {
    let film = schedule(25_000_000, 60_000);
    // 8 × 1048576 bits at 25 million a second.
    assert_eq!(film.interval(), 335_544_320);
    assert_eq!(film.segments(), 179);
    assert_eq!(film.place(178), 178 * 335_544_320);
    assert_eq!(film.file_size(), Bytes::mib(179));
    assert_eq!(schedule(1, 100).segments(), 1);
}

#[test]
fn films_are_played_and_recorded_in_their_time() {
    let directory = tempfile::tempdir().expect("temp");
    let body = "read = 2\nwrite = 1\nrate = '8 Mb/s'\nwrite-rate = '4 Mb/s'\nsegment = '64 KiB'\n\
                seconds = '500ms'\nbuffer = '60s'";
    let workload = read("streams", body, 0.01).expect("valid");
    let ran = run_in(&*workload, directory.path(), None).expect("ran");
    let figures = &ran.steps[0].figures;
    // 500 kB in 64 KiB, twice; 250 kB.
    let reported: Vec<_> = figures.iter().map(|f| (f.direction, f.operations, f.missed)).collect();
    assert_eq!(
        reported,
        [(Direction::Read, Some(16), Some(0)), (Direction::Write, Some(4), Some(0))]
    );
    // The last segment's place is at 7 intervals of 65.5 ms.
    assert!(figures[0].elapsed_ns >= 450_000_000, "{}", figures[0].elapsed_ns);
    let size = directory.path().join("camera-001.mp4").metadata().expect("file").len();
    assert_eq!(size, 4 * 65536);
    assert!(ran.notes.iter().any(|n| n.text.starts_with("2 players of 8 Mb/s: 0 of 16 deadlines")));
}

#[test]
fn late_segments_are_missed_deadlines() {
    // No buffer, so that every segment is late; and ten times more than there is
    // time for, so that some are never done.
    let directory = tempfile::tempdir().expect("temp");
    let body = "read = 1\nrate = '1 TB/s'\nseconds = '100ms'\nbuffer = '0s'";
    let error = read("streams", body, 1.0).expect("valid").cost();
    assert!(error.space > Bytes(99_000_000_000));
    let body = "read = 3\nrate = '100 Mb/s'\nseconds = '200ms'\nbuffer = '0s'";
    let workload = read("streams", body, 1.0).expect("valid");
    let ran = run_in(&*workload, directory.path(), None).expect("ran");
    let figure = &ran.steps[0].figures[0];
    assert_eq!(figure.missed, Some(9));
    assert!(figure.operations.is_some_and(|n| (3..=9).contains(&n)));
    assert!(ran.notes.iter().any(|n| n.text.contains("9 of 9 deadlines missed; the worst was")));
}

#[test]
fn a_stream_that_cannot_keep_up_is_given_up() {
    let directory = tempfile::tempdir().expect("temp");
    let path = directory.path().join("camera");
    let mut stream = RunningStream {
        file: File::create(&path).expect("file"),
        path,
        schedule: Schedule {
            rate: BitsPerSecond(8 << 40),
            segment: Bytes::mib(1),
            length: 1_000_000,
            buffer: 0,
        },
        offset: 0,
        data: Some(ByteStream::new(FileContent::Random, 1)),
        sync: false,
    };
    // Over a thousand segments within a millisecond.
    let played = play(&mut stream, &StreamClock::start(), &Interrupt::new()).expect("played");
    let count = stream.schedule.segments();
    assert!(count > 1000 && played.given_up > 0, "{played:?}");
    assert_eq!((played.missed, played.done + played.given_up), (count, count));
}

#[test]
fn an_interrupt_ends_all_streams() {
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::new(Interrupt::new());
    let mut context = context(&executor, directory.path(), None);
    let workload =
        read("streams", "rate = '1 kb/s'\nsegment = '4 KiB'\nseconds = '6d'", 1.0).expect("valid");
    workload.prepare(&mut context).expect("prepared");
    let raiser = executor.interrupt.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        raiser.raise();
    });
    assert!(workload.run(&mut context).expect_err("stopped").is_interrupt());
    thread.join().expect("thread");
}

#[test]
fn a_film_that_is_gone_is_named() {
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::new(Interrupt::new());
    let mut context = context(&executor, directory.path(), None);
    let workload =
        read("streams", "seconds = '1s'\nsegment = '4 KiB'\nrate = '1 Mb/s'", 1.0).expect("valid");
    workload.prepare(&mut context).expect("prepared");
    File::options()
        .write(true)
        .open(film(directory.path(), 2))
        .expect("film")
        .set_len(9)
        .expect("cut");
    let error = workload.run(&mut context).expect_err("cut short").to_string();
    assert!(error.contains("film-003.mkv"), "{error}");
}

#[test]
fn wrong_fields_are_errors() {
    for (body, part) in [
        ("read = 0", "no streams"),
        ("read = 2000", "to 1000"),
        ("rate = 25", "not a bit rate"),
        ("rate = '25 M'", "25 Mbit/s"),
        ("segment = '1 KiB'", "4 KiB to 64 MiB"),
        ("seconds = 0", "`seconds`: expected 100 ms"),
        ("buffer = '8d'", "7 days"),
        ("sync = 'end'", "'segment' or 'none'"),
        ("players = 3", "unknown field"),
    ] {
        let error = read("streams", body, 1.0).expect_err(body).to_string();
        assert!(error.contains(part), "{error}");
    }
}

proptest! {
    #[test]
    fn places_ascend_and_the_cost_is_not_scaled(
        rate in 1_u64..=8 << 40, kib in 4_u64..=65536, ms in 100_u64..604_800_000, n in 0_u64..1 << 40,
        scale in 0.001_f64..10.0,
    ) {
        let schedule = Schedule { segment: Bytes::kib(kib), ..schedule(rate, ms) };
        prop_assert!(schedule.place(n + 1) >= schedule.place(n));
        // The last segment begins within the length, the one after it does not.
        let count = schedule.segments();
        prop_assert!(count == 1 || schedule.place(count - 1) < schedule.length);
        prop_assert!(schedule.place(count) >= schedule.length - 1);
        let body = format!("rate = '{rate} b/s'\nsegment = '{kib} KiB'\nseconds = '{ms}ms'");
        let cost = read("streams", &body, scale).expect("valid").cost();
        prop_assert_eq!(cost.space, read("streams", &body, 1.0).expect("valid").cost().space);
        prop_assert!(cost.prewrite == cost.space);
    }
}
