//! The published figures of the shingled drive, which its model must give within a
//! tenth: aicodix (github.com/aicodix/smr), random chunks written with `O_SYNC` to
//! the raw device, read off the plots to about 3 %.

use disklab_drive::smr::Parameters;
use disklab_drive::{Drive, Kind, shipped};
use disklab_validation::smr::load::{
    CHUNKS, Cliff, Places, cliff, sequential, small_writes_when_full,
};

const MIB: f64 = 1_048_576.0;
const GIB: u64 = 1 << 30;

fn drive() -> Parameters {
    let Some(Kind::Smr(parameters)) = shipped("st8000as0002").map(|file| file.kind) else {
        panic!("the drive is not shingled");
    };
    parameters
}

fn within_a_tenth(what: &str, value: f64, low: f64, high: f64) {
    assert!((low * 0.9..=high * 1.1).contains(&value), "{what}: {value}, expected {low} to {high}");
}

/// Loads a fresh drive somewhat beyond the published cliff.
fn load(chunk: u64, published_gib: f64, places: Places) -> Cliff {
    let total = (published_gib * 1.25) as u64 * GIB;
    cliff(&drive(), chunk, total, places)
}

#[test]
fn random_synchronous_chunks() {
    // MiB per chunk; ms per chunk before the cliff; the cliff at GiB, from and to;
    // MiB/s behind it, from and to.
    for (chunk, before, at, after) in [
        (1, 21.6, [17.0, 17.0], [7.0, 12.0]),
        (2, 28.8, [22.8, 22.8], [4.2, 4.2]),
        (4, 44.4, [27.5, 27.5], [7.7, 7.7]),
        (8, 91.0, [28.0, 28.0], [13.3, 13.3]),
        (16, 198.0, [30.5, 30.5], [20.5, 20.5]),
        (32, 386.0, [30.2, 30.2], [30.3, 30.3]),
        (64, 1000.0, [33.0, 36.0], [39.0, 39.0]),
    ] {
        assert!(CHUNKS.contains(&(chunk << 20)));
        let result = load(chunk << 20, at[1], Places::Random(3));
        let what = |figure: &str| format!("{chunk} MiB, {figure}");
        within_a_tenth(&what("ms before the cliff"), result.before / 1e6, before, before);
        let gib = result.at.expect("there is a cliff") as f64 / GIB as f64;
        within_a_tenth(&what("GiB to the cliff"), gib, at[0], at[1]);
        within_a_tenth(&what("MiB/s behind the cliff"), result.after / MIB, after[0], after[1]);
    }
}

#[test]
fn sequential_synchronous_chunks_are_cleaned_without_reading() {
    let result = load(1 << 20, 17.0, Places::Sequential);
    within_a_tenth("MiB/s before the cliff", 1e9 / result.before, 54.0, 54.0);
    let gib = result.at.expect("there is a cliff") as f64 / GIB as f64;
    within_a_tenth("GiB to the cliff", gib, 17.0, 17.0);
    within_a_tenth("MiB/s behind the cliff", result.after / MIB, 42.0, 42.0);
    assert!(result.counts.bands_cleaned > 50);
    assert_eq!(result.counts.bands_overwritten, result.counts.bands_cleaned);
}

#[test]
fn sequential_writes_without_flushes_stream_and_know_no_cliff() {
    let (windows, host) = sequential(&drive(), 100 * GIB, 8);
    assert_eq!(windows.len(), 100);
    for window in windows {
        within_a_tenth(&format!("MiB/s at {}", window.written), window.rate / MIB, 187.0, 201.0);
    }
    let counts = host.drive.statistics().shingled;
    assert_eq!(counts.bands_cleaned, 0);
    assert!(counts.log_bytes < GIB / 4, "{counts:?}");
}

#[test]
fn small_random_writes_with_a_full_cache() {
    let iops = small_writes_when_full(&drive(), 4096, 200, true);
    within_a_tenth("IOPS", iops, 7.0, 7.0);
}

#[test]
fn the_same_drive_gives_the_same_figures() {
    let run = || cliff(&drive(), 16 << 20, 4 * GIB, Places::Random(5));
    let first = run();
    assert_eq!(first, run());
    assert_eq!(first.at, None, "the cache is not full yet");
    assert!((first.after / (16.0 * MIB * 1e9 / first.before) - 1.0).abs() < 1e-9);
}
