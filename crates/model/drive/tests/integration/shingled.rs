//! What shingled drives do.

use disklab_drive::Operation::{Discard, Flush, Read, Write, WriteZeroes};
use disklab_drive::smr::Parameters;
use disklab_drive::{Drive, Kind, Nanos, Request, ShingledStatistics, shipped};
use disklab_validation::smr::load::Host;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
const MIB: u64 = 1 << 20;

fn drive() -> Parameters {
    // Bands are counted exactly: no unit, but the model.
    let file = shipped("st8000as0002").expect("a shipped drive").without_spread();
    let Kind::Smr(parameters) = file.kind else { panic!("the drive is not shingled") };
    parameters
}

fn counts(host: &Host) -> ShingledStatistics {
    host.drive.statistics().shingled
}

/// Writes `count` chunks of `bytes` far from one another.
fn scatter(host: &mut Host, count: u64, bytes: u64) {
    for number in 0..count {
        host.write_synchronously((number * 7919 % 10_000) * (512 * MIB), bytes);
    }
}

/// Makes the drive forget what it holds in its memory only.
fn drop_memory(host: &mut Host) {
    host.drive.set_write_cache(Nanos(host.now), false);
    host.drive.set_write_cache(Nanos(host.now), true);
}

/// Lets the drive do all that it does by itself; gives the time, ns.
fn settle(host: &mut Host) -> u64 {
    let begun = host.now;
    while let Some(event) = host.drive.next_event() {
        host.rest(event.0.saturating_sub(host.now));
    }
    host.now - begun
}

#[test]
fn a_fresh_drive_does_nothing_by_itself() {
    assert_eq!(Host::new(&drive(), 1).drive.next_event(), None);
}

#[test]
fn cleaning_begins_after_a_second_of_rest_and_empties_the_cache() {
    let mut host = Host::new(&drive(), 1);
    scatter(&mut host, 40, 4 * MIB);
    assert_eq!(counts(&host).cached_bytes, 160 * MIB);
    host.rest(990 * MS);
    assert_eq!(counts(&host).bands_cleaned, 0);
    host.rest(600 * MS);
    assert_eq!(counts(&host).bands_cleaned, 1);
    settle(&mut host);
    let done = counts(&host);
    assert_eq!((done.cached_bytes, done.cached_extents), (0, 0));
    assert!(done.bands_cleaned >= 40 && done.cleaning_while_needed == 0, "{done:?}");
}

#[test]
fn a_full_map_is_made_room_in_before_the_next_write() {
    let mut host = Host::new(&Parameters { map_entries: 16, ..drive() }, 1);
    // A write may make three extents of one.
    scatter(&mut host, 15, 4096);
    assert_eq!((counts(&host).cached_extents, counts(&host).bands_cleaned), (15, 0));
    scatter(&mut host, 16, 4096);
    assert!(counts(&host).bands_cleaned > 0, "{:?}", counts(&host));
}

#[test]
fn recovery_takes_half_a_second_for_each_band() {
    let mut host = Host::new(&drive(), 1);
    scatter(&mut host, 60, 16 * MIB);
    let time = settle(&mut host) as f64;
    let bands = counts(&host).bands_cleaned;
    assert!((61..=120).contains(&bands), "{bands}");
    // 0.45 s for a band: a fit through published rates.
    let expected = 1e9 + bands as f64 * 0.45e9;
    assert!((time / expected - 1.0).abs() < 0.1, "{time} for {bands} bands");
}

#[test]
fn a_request_waits_for_the_band_at_most_and_then_cleaning_pauses() {
    let mut host = Host::new(&drive(), 1);
    scatter(&mut host, 40, 4 * MIB);
    host.rest(SECOND + 100 * MS);
    let waited = host.carry_out(Read, 7_000_000 * MIB, 4096);
    assert!((200 * MS..600 * MS).contains(&waited), "{waited}: the band's rest and a read");
    assert_eq!(counts(&host).bands_cleaned, 1);
    let read = host.carry_out(Read, 6_000_000 * MIB, 4096);
    assert!(read < 60 * MS, "{read}: it is not disturbed");
    host.rest(900 * MS);
    assert_eq!(counts(&host).bands_cleaned, 1);
    host.rest(800 * MS);
    assert!(counts(&host).bands_cleaned > 1);
}

#[test]
fn whole_bands_written_in_sequence_are_cleaned_without_reading() {
    let mut host = Host::new(&drive(), 1);
    for number in 0..300 {
        host.write_synchronously(number * MIB, MIB);
    }
    let before = host.drive.statistics();
    settle(&mut host);
    let (after, done) = (host.drive.statistics(), counts(&host));
    // 300 MiB are eight bands of 35 MiB and a part.
    assert_eq!((done.bands_cleaned, done.bands_overwritten), (9, 8));
    let written = after.bytes_to_medium - before.bytes_to_medium;
    assert!((300 * MIB..330 * MIB).contains(&written), "{written}");
    let mean = done.cleaning / 9;
    assert!(mean < 260 * MS, "{mean}: less than reading and writing a band");
}

#[test]
fn each_cached_extent_costs_a_read_a_seek() {
    let p = drive();
    let mut host = Host::new(&p, 1);
    let home = 5_000_000 * MIB;
    host.carry_out(Write, home, 16 * MIB);
    host.carry_out(Flush, 0, 0);
    settle(&mut host);
    drop_memory(&mut host);
    let plain = host.carry_out(Read, home, 512 << 10);
    for part in 0..8 {
        // Something else lies between them in the log.
        host.write_synchronously(home + part * 2 * MIB, 4096);
        host.write_synchronously((part + 1) * 1000 * MIB, MIB);
    }
    drop_memory(&mut host);
    let seeks = host.drive.statistics().seeks;
    let pieces = host.carry_out(Read, home, 16 * MIB);
    let more = host.drive.statistics().seeks - seeks;
    assert!(more >= 15, "{more}: to the log and back eight times");
    settle(&mut host);
    drop_memory(&mut host);
    let seeks = host.drive.statistics().seeks;
    let whole = host.carry_out(Read, home, 16 * MIB);
    let fewer = host.drive.statistics().seeks - seeks;
    assert!(fewer < 15 && pieces > whole + 100 * MS, "{pieces} {whole} {fewer}");
    assert!(plain < 60 * MS, "{plain}");
}

#[test]
fn data_in_the_log_are_read_ahead() {
    let mut host = Host::new(&drive(), 1);
    let home = 4_000_000 * MIB;
    host.write_synchronously(home, 4 * MIB);
    drop_memory(&mut host);
    let begun = host.now;
    for part in 0..32 {
        host.carry_out(Read, home + part * (128 << 10), 128 << 10);
    }
    let rate = (4 * MIB) as f64 * 1e9 / (host.now - begun) as f64;
    assert!(rate > 80e6, "{rate} B/s in reads of 128 KiB, one after the other");
    assert_eq!(counts(&host).cached_bytes, 4 * MIB);
}

#[test]
fn a_discard_does_nothing() {
    let p = drive();
    let mut host = Host::new(&p, 1);
    host.write_synchronously(0, 4 * MIB);
    let before = counts(&host);
    assert_eq!(host.carry_out(Discard, 0, 512 << 10), p.disk.write_overhead);
    assert_eq!(counts(&host), before, "the drive knows no TRIM");
}

#[test]
fn forgetting_its_memory_a_drive_keeps_its_log() {
    let mut host = Host::new(&drive(), 1);
    scatter(&mut host, 5, 4 * MIB);
    let before = counts(&host);
    drop_memory(&mut host);
    assert_eq!(counts(&host), before);
    assert_eq!(before.cached_extents, 5);
}

#[test]
fn without_write_cache_a_write_completes_in_the_log() {
    let mut host = Host::new(&drive(), 1);
    host.drive.set_write_cache(Nanos(0), false);
    let time = host.carry_out(Write, 3_000_000 * MIB, 4096);
    assert!((10 * MS..40 * MS).contains(&time), "{time}");
    assert_eq!(counts(&host).cached_bytes, 4096);
    assert_eq!(host.carry_out(Flush, 0, 0), drive().disk.write_overhead, "nothing is left");
}

#[test]
fn a_long_zeroing_goes_home_and_completes_on_the_medium() {
    let mut host = Host::new(&drive(), 1);
    let request = disklab_drive::Request {
        id: 1,
        operation: WriteZeroes,
        sector: 0,
        sectors: (512 * MIB) / 512,
    };
    host.drive.submit(Nanos(0), request);
    let mut done = Vec::new();
    while done.is_empty() {
        let next = host.drive.next_event().unwrap();
        host.drive.advance(next, &mut done);
    }
    let statistics = host.drive.statistics();
    assert_eq!((statistics.dirty_bytes, statistics.bytes_to_medium), (0, 512 * MIB));
    assert!(statistics.shingled.bands_streamed >= 10, "{statistics:?}");
    assert!(statistics.shingled.cached_bytes < 150 * MIB, "{statistics:?}");
}

/// Writes `count` chunks of `bytes`, each `step` behind the one before, with a flush
/// behind every so many; gives the bytes per second.
fn in_sequence(host: &mut Host, count: u64, bytes: u64, step: u64, flush_every: u64) -> f64 {
    let begun = host.now;
    for number in 0..count {
        host.carry_out(Write, number * step, bytes);
        if (number + 1) % flush_every == 0 {
            host.carry_out(Flush, 0, 0);
        }
    }
    (count * bytes) as f64 * 1e9 / (host.now - begun) as f64
}

#[test]
fn a_flush_now_and_then_does_not_keep_a_run_from_its_bands() {
    let mut host = Host::new(&drive(), 1);
    // As from ext4, which flushes some hundred MB later.
    let rate = in_sequence(&mut host, 1000, 4 * MIB, 4 * MIB, 100);
    let done = counts(&host);
    assert!(rate > 150e6, "{rate} B/s");
    assert!(done.bands_streamed > 80 && done.log_bytes < 1000 * MIB, "{done:?}");
    let mut host = Host::new(&drive(), 1);
    in_sequence(&mut host, 500, MIB, MIB, 1);
    let done = counts(&host);
    assert_eq!((done.bands_streamed, done.log_bytes), (0, 500 * MIB), "each MiB is committed");
}

#[test]
fn short_holes_do_not_end_a_run_and_long_ones_do() {
    let mut host = Host::new(&drive(), 1);
    in_sequence(&mut host, 100, 16 * MIB, 16 * MIB + (256 << 10), 1000);
    let short = counts(&host);
    assert!(short.bands_streamed > 30, "{short:?}");
    let mut host = Host::new(&drive(), 1);
    in_sequence(&mut host, 100, 16 * MIB, 18 * MIB, 1000);
    let long = counts(&host);
    assert_eq!(long.bands_streamed, 0, "{long:?}");
}

#[test]
fn data_in_a_hole_are_cached_or_at_home_but_never_both() {
    let mut host = Host::new(&drive(), 1);
    // Part of what the run will leave out lies in the log.
    host.write_synchronously(320 * MIB, 64 << 10);
    assert_eq!(counts(&host).cached_bytes, 64 << 10);
    in_sequence(&mut host, 40, 16 * MIB, 16 * MIB + (128 << 10), 1000);
    host.carry_out(Flush, 0, 0);
    settle(&mut host);
    assert_eq!((counts(&host).cached_bytes, counts(&host).cached_extents), (0, 0));
}

#[test]
fn a_band_left_in_the_middle_continues_in_the_log() {
    let mut host = Host::new(&drive(), 1);
    in_sequence(&mut host, 30, 4 * MIB, 4 * MIB, 1000);
    host.carry_out(Flush, 0, 0);
    let begun = counts(&host);
    assert!(begun.bands_streamed >= 1, "{begun:?}");
    // The run continues after a flush of half a MiB: too little to go home.
    host.write_synchronously(120 * MIB, MIB / 2);
    let log = counts(&host).log_bytes;
    assert!(log > begun.log_bytes, "{log}");
    settle(&mut host);
    assert_eq!(counts(&host).cached_bytes, 0);
    assert!(counts(&host).bands_cleaned > 0);
}

#[test]
fn a_write_of_part_of_a_sector_reads_the_rest_first() {
    let mut host = Host::new(&drive(), 1);
    host.carry_out(Write, 2_000_000 * MIB + 512, 512);
    let time = host.carry_out(Flush, 0, 0);
    assert_eq!(host.drive.statistics().partial_writes, 1);
    assert_eq!(counts(&host).cached_bytes, 4096);
    assert!(time > 25 * MS, "{time}: to the band, to the log");
}

#[test]
fn a_limited_drive_has_the_whole_cache() {
    let p = drive().limited_to(200 << 30).unwrap();
    let mut host = Host::new(&p, 1);
    assert_eq!(host.drive.sectors(), (200 << 30) / 512);
    host.write_synchronously((200 << 30) - MIB, MIB);
    assert_eq!(counts(&host).cached_bytes, MIB);
    host.carry_out(Read, 200 << 30, 4096);
    assert_eq!(host.drive.statistics().refused, 1);
}

/// A read that ends in the log has passed its beginning, which lies at home: what asks
/// for that beginning while the log passes by comes after it, not far before the disk.
#[test]
fn data_read_at_home_stay_cached_while_the_log_is_read() {
    let mut host = Host::new(&drive(), 1);
    host.write_synchronously(20_000 * 512, MIB);
    drop_memory(&mut host);
    let reads = [(16_000, 4001), (16_000, 8)];
    for (id, (sector, sectors)) in (0..).zip(reads) {
        let request = Request { id, operation: Read, sector, sectors };
        host.drive.submit(Nanos(host.now), request);
    }
    let mut done = Vec::new();
    host.drive.advance(Nanos(host.now + SECOND), &mut done);
    assert_eq!(done.iter().map(|read| read.id).collect::<Vec<_>>(), [0, 1]);
    // The second needs no medium: its data follow over the link.
    assert!(done[1].at.0 - done[0].at.0 < MS, "{done:?}");
}
