//! Solid-state drives: the model compared with formulas.

use disklab_drive::Operation::{self, Discard, Flush, Read, Write, WriteZeroes};
use disklab_drive::ssd::{Parameters, SolidState};
use disklab_drive::{Completion, Drive, Kind, Nanos, Request, SHIPPED, shipped};
use disklab_validation::ssd::{
    RatePoint, Traffic, fifo_write_amplification, program_rate, random_iops, random_write_rates,
    read_latency, sequential_read_rate, sequential_write_rates, small_read_latency,
    steady_write_rate, unmapped_read_latency,
};
use proptest::prelude::*;

const GB: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;

fn parameters(id: &str) -> Parameters {
    let Some(Kind::Ssd(parameters)) = shipped(id).map(|file| file.kind) else {
        panic!("{id} is no solid-state drive");
    };
    parameters
}

/// One of each family, as for hard disks: see `common::drives`.
fn all() -> Vec<(&'static str, Parameters)> {
    let files = SHIPPED.iter().map(|(id, _)| (*id, shipped(id).expect("it loads")));
    files
        .filter(|(_, file)| file.like.is_none())
        .filter_map(|(id, file)| match file.kind {
            Kind::Ssd(parameters) => Some((id, parameters)),
            _ => None,
        })
        .collect()
}

/// A drive of some MiB with one unit in each page, to be worn out in a moment.
fn tiny(spare: f64) -> Parameters {
    let mut tiny = parameters("samsung-970pro-512gb");
    tiny.flash.page = 4096;
    tiny.flash.block_pages = 16;
    tiny.flash.spare = spare;
    // Lines of 16 × 16 units; those that never hold data make up for the odd ones.
    tiny.capacity = 256 * 256 * 4096;
    tiny.visible = tiny.capacity;
    tiny
}

fn carry_out(drive: &mut SolidState, now: u64, operation: Operation, at: u64, n: u64) -> u64 {
    let mut done: Vec<Completion> = Vec::new();
    drive.submit(Nanos(now), Request { id: 0, operation, sector: at, sectors: n });
    while done.is_empty() {
        let at = drive.next_event().expect("a request is under way");
        drive.advance(at, &mut done);
    }
    done[0].at.0
}

fn near(measured: f64, expected: f64, tolerance: f64) -> bool {
    (measured / expected - 1.0).abs() <= tolerance
}

#[test]
fn a_small_read_takes_overhead_read_and_transfer() {
    for (id, p) in all() {
        // Past the SLC cache, which is read faster.
        let p = Parameters { slc_cache: None, ..p };
        let (measured, expected) = (small_read_latency(&p, 4 * GB, 3000), read_latency(&p));
        assert!(near(measured, expected, 0.01), "{id}: {measured} {expected}");
        let mut drive = SolidState::new(&p);
        let unmapped = carry_out(&mut drive, 0, Read, 80, 8) as f64 * 1e-9;
        assert!(near(unmapped, unmapped_read_latency(&p), 0.001), "{id}: {unmapped}");
    }
    // As the real drive: 15,000 IOPS (data sheet of the 970 PRO).
    let p = parameters("samsung-970pro-512gb");
    assert!(near(1.0 / read_latency(&p), 15_000.0, 0.07), "{}", read_latency(&p));
}

/// Beyond the link's time, and the last piece of a write may be a part of 4 KiB.
#[test]
fn each_piece_of_a_write_takes_its_overhead() {
    let mut p = parameters("samsung-970pro-512gb");
    let mut took = |each: u64, sectors: u64| {
        p.interface.write_overhead_4k = each;
        carry_out(&mut SolidState::new(&p), 0, Write, 80, sectors)
    };
    for (sectors, pieces) in [(1, 1), (8, 1), (9, 2), (256, 32)] {
        assert_eq!(took(3000, sectors) - took(0, sectors), 3000 * pieces, "{sectors} sectors");
    }
}

/// What is read ahead costs the flash nothing more: each page is read once.
#[test]
fn a_sequential_reader_waits_for_the_link_and_no_more_for_the_flash() {
    for (id, p) in all() {
        let p = Parameters { slc_cache: None, ..p };
        let mut without = p.clone();
        without.buffer.read_ahead = 0;
        for bytes in [4096, 128 << 10] {
            let rate = |p: &Parameters, depth| sequential_read_rate(p, bytes, depth, 256 * MIB);
            let (ahead, alone) = (rate(&p, 1), rate(&without, 1));
            assert!(ahead > 1.2 * alone, "{id}: {bytes}: {ahead}, without {alone}");
            assert!(ahead <= 1.001 * p.interface.link_rate, "{id}: {ahead}");
            // Deep queues have no need of it, and lose nothing by it.
            let (ahead, alone) = (rate(&p, 32), rate(&without, 32));
            assert!(ahead > 0.97 * alone, "{id}: {bytes} at depth 32: {ahead}, without {alone}");
        }
    }
}

#[test]
fn reads_rise_with_the_depth_to_the_limit_of_dies_and_controller() {
    for (id, p) in all() {
        let p = Parameters { slc_cache: None, ..p };
        let iops: Vec<f64> = [1, 2, 4, 8, 32, 256]
            .map(|depth| random_iops(&p, Read, depth, 4 * GB, 20_000))
            .to_vec();
        assert!(iops.windows(2).all(|pair| pair[0] < pair[1] * 1.001), "{id}: {iops:?}");
        let channel = 4096.0 / p.flash.channel_rate;
        let die = p.flash.read_4k as f64 * 1e-9 + channel;
        let limits = [
            p.all_dies() as f64 / die,
            p.flash.channels as f64 / channel,
            1e9 / p.interface.command as f64,
            p.interface.link_rate / 4096.0,
        ];
        let limit = limits.into_iter().fold(f64::INFINITY, f64::min);
        let most = iops.iter().copied().fold(0.0, f64::max);
        assert!(most < limit * 1.001, "{id}: {most} {limit}");
        assert!(most > limit * 0.75, "{id}: {most} {limit}");
    }
}

#[test]
fn sequential_writes_are_as_fast_as_the_dies_program() {
    let p = parameters("samsung-970pro-512gb");
    let points = sequential_write_rates(&p, MIB, 4, GB, 4 * GB);
    let expected = program_rate(&p, p.flash.program);
    for point in &points {
        assert!(near(point.rate, expected, 0.02), "{point:?} {expected}");
        assert_eq!(point.write_amplification, 1.0);
    }
    // As the real drive: 2300 MB/s (data sheet of the 970 PRO of 512 GB).
    assert!(near(expected, 2.3e9, 0.03), "{expected}");
}

#[test]
fn the_slc_cache_ends_in_a_cliff() {
    for (id, p) in all() {
        let Some(cache) = &p.slc_cache else { continue };
        // A tenth of cache and drive: the same, sooner.
        let mut small = p.clone();
        small.capacity = p.capacity / 10 / 4096 * 4096;
        small.visible = small.capacity;
        small.flash.block_pages /= 4;
        let size = cache.size / 10;
        small.slc_cache = Some(disklab_drive::ssd::SlcCache { size, ..cache.clone() });
        let step = size / 20 / MIB * MIB;
        let points = sequential_write_rates(&small, MIB, 4, step, 30 * step);
        let before = program_rate(&p, cache.program).min(p.interface.link_rate);
        // Each page of the host comes with so many that are folded.
        let folded = cache.fold_share / (1.0 - cache.fold_share);
        let page = p.flash.page as f64 / p.flash.channel_rate * 1e9;
        let time =
            (1.0 + folded) * (p.flash.program as f64 + page) + folded * (cache.read as f64 + page);
        let after = (p.all_dies() * p.flash.page) as f64 / time * 1e9;
        let after = after.min(p.interface.link_rate);
        if after > 0.99 * before {
            // The link is slower than either kind of cell.
            assert!(points.iter().all(|point| point.rate > 0.95 * before), "{id}: {points:?}");
            continue;
        }
        let cliff = points.iter().position(|point| point.rate < before.midpoint(after));
        let cliff = points[cliff.unwrap_or_else(|| panic!("{id}: {points:?}"))].written;
        assert!(cliff.abs_diff(size) <= 2 * step, "{id}: at {cliff}, not {size}");
        for point in &points[1..] {
            let expected = if point.written + step < size { before } else { after };
            // Copies wait for the reads before them, which costs a tenth, and with few channels
            // a sixth.
            let least = if expected == after && folded > 0.0 { 0.83 } else { 0.95 };
            let sound = (least..1.05).contains(&(point.rate / expected));
            let far = point.written.abs_diff(size) > 2 * step;
            assert!(!far || sound, "{id}: {point:?} {expected}");
        }
    }
}

#[test]
fn an_idle_drive_empties_its_cache() {
    let mut p = parameters("generic-nvme-1tb");
    p.capacity = 20 * GB / 4096 * 4096;
    p.visible = p.capacity;
    p.flash.block_pages = 64;
    p.slc_cache = p.slc_cache.map(|cache| disklab_drive::ssd::SlcCache { size: GB, ..cache });
    let mut drive = SolidState::new(&p);
    let mut at = 0;
    let mut write = |drive: &mut SolidState, mut now: u64| {
        let begun = now;
        for _ in 0..500 {
            now = carry_out(drive, now, Write, at, 2048);
            at += 2048;
        }
        (now, (500 * MIB) as f64 / (now - begun) as f64)
    };
    let (now, fast) = write(&mut drive, 0);
    let (now, _) = write(&mut drive, now);
    let (now, slow) = write(&mut drive, now);
    assert!(slow < 0.75 * fast, "{slow} {fast}");
    let mut done = Vec::new();
    drive.advance(Nanos(now + 60 * GB), &mut done);
    assert_eq!(drive.next_event(), None, "an emptied drive rests");
    let (_, again) = write(&mut drive, now + 60 * GB);
    assert!(near(again, fast, 0.02), "{again} {fast}");
    assert!(drive.wear().copied > 0);
}

#[test]
fn the_steady_state_is_as_slow_as_the_formula_says() {
    let p = tiny(0.15);
    let (units, lines) = (p.layout().units, p.layout().lines - 4);
    let spare = 1.0 - f64::from(units) / f64::from(lines * p.layout().line_units());
    let points = random_write_rates(&p, Traffic::Random, 64, p.capacity / 16, 64);
    let mean = |of: fn(&RatePoint) -> f64| points[48..].iter().map(of).sum::<f64>() / 16.0;
    let measured = mean(|point| point.write_amplification);
    let formula = fifo_write_amplification(spare);
    assert!(near(measured, formula, 0.03), "{measured} {formula}");
    let rate = mean(|point| point.rate);
    let expected = steady_write_rate(&p, measured);
    assert!(near(rate, expected, 0.05), "{rate} {expected}");
    assert!(points[0].rate > 1.5 * rate, "{points:?}");
    let points = random_write_rates(&p, Traffic::Sequential, 64, p.capacity, 3);
    assert!(points.iter().all(|point| point.write_amplification == 1.0), "{points:?}");
}

#[test]
fn discarding_all_makes_a_worn_drive_fresh() {
    let p = tiny(0.1);
    let mut drive = SolidState::new(&p);
    let (sectors, mut now, mut at) = (p.visible / 512, 0, 1_u64);
    for _ in 0..4 * 65_536 {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        now = carry_out(&mut drive, now, Write, (at >> 48) * 8, 8);
    }
    let worn = drive.wear();
    assert!(worn.write_amplification() > 2.0, "{worn:?}");
    now = carry_out(&mut drive, now, Discard, 0, sectors);
    for at in 0..65_536 {
        now = carry_out(&mut drive, now, Write, at * 8, 8);
    }
    assert_eq!(drive.wear().since(&worn).write_amplification(), 1.0);
    // Discarded, and so read without flash; a part of a unit is kept.
    now = carry_out(&mut drive, now, Flush, 0, 0);
    now = carry_out(&mut drive, now, Discard, 4, 12);
    let read = |drive: &mut SolidState, now, at| carry_out(drive, now, Read, at, 8) - now;
    let (whole, part) = (read(&mut drive, now + GB, 8), read(&mut drive, now + 2 * GB, 0));
    assert!(whole < 30_000 && part > 50_000, "{whole} {part}");
    // Zeroing does the same, and writes the parts.
    now = carry_out(&mut drive, now + 3 * GB, WriteZeroes, 20, 20);
    let before = drive.wear().host;
    assert_eq!(before - worn.host, 65_536 + 1, "one half of a unit was written");
    assert!(read(&mut drive, now + GB, 24) < 30_000);
}

#[test]
fn the_unit_that_the_drives_end_cuts_is_forgotten_with_what_is_there_of_it() {
    let mut p = tiny(0.1);
    p.visible -= 2048;
    let mut drive = SolidState::new(&p);
    let last = p.visible / 512 - 4;
    let mut now = carry_out(&mut drive, 0, Write, last - 8, 12);
    now = carry_out(&mut drive, now, Flush, 0, 0);
    let read = |drive: &mut SolidState, now, at| carry_out(drive, now, Read, at, 4) - now;
    assert!(read(&mut drive, now + GB, last) > 50_000, "on the flash");
    now = carry_out(&mut drive, now + 2 * GB, Discard, last, 4);
    assert!(read(&mut drive, now + GB, last) < 30_000, "forgotten");
    assert!(read(&mut drive, now + 2 * GB, last - 4) > 50_000, "the unit before it is there");
}

#[test]
fn a_flush_waits_until_all_is_on_the_flash() {
    let p = parameters("samsung-970pro-512gb");
    let mut drive = SolidState::new(&p);
    let written = carry_out(&mut drive, 0, Write, 0, 8);
    assert!(written < 10_000, "a write ends in the buffer: {written}");
    let flushed = carry_out(&mut drive, written, Flush, 0, 0) - written;
    let least = p.flash.program + p.buffer.flush_overhead;
    assert!((least..least + 60_000).contains(&flushed), "{flushed}");
    assert_eq!(drive.wear().padded, 7);
    let again = carry_out(&mut drive, GB, Flush, 0, 0) - GB;
    assert_eq!(again, p.interface.write_command, "there is nothing to flush");
    // Without write cache, the write itself waits.
    let mut drive = SolidState::new(&p);
    drive.set_write_cache(Nanos(0), false);
    let written = carry_out(&mut drive, 0, Write, 0, 8);
    assert!((p.flash.program..p.flash.program + 60_000).contains(&written), "{written}");
    assert!(!drive.write_cache());
}

/// What is in a memory with capacitors is durable: nothing is programmed for a flush, which takes
/// its own time all the same, and none for a write without write cache.
#[test]
fn a_protected_drive_pays_for_a_flush_and_programs_nothing() {
    let p = parameters("intel-s4600-960gb");
    let mut drive = SolidState::new(&p);
    let cached = carry_out(&mut drive, 0, Write, 0, 8);
    let flushed = carry_out(&mut drive, cached, Flush, 0, 0) - cached;
    let expected = p.interface.write_command + p.buffer.flush_overhead;
    assert_eq!((flushed, drive.wear().padded), (expected, 0));
    assert!(p.buffer.flush_overhead > 50_000, "a flush of such a drive is not free");
    let mut drive = SolidState::new(&p);
    drive.set_write_cache(Nanos(0), false);
    assert_eq!(carry_out(&mut drive, 0, Write, 0, 8), cached);
}

/// Writes with a flush behind each, from so many callers at a time; how many a second. The host
/// gives each caller's flush to the drive, as with a queue for each processor.
fn synced_writes(p: &Parameters, callers: u64) -> f64 {
    const EACH: u64 = 200;
    let mut drive = SolidState::new(p);
    let mut done: Vec<Completion> = Vec::new();
    let mut left = vec![2 * EACH; callers as usize];
    let submit = |drive: &mut SolidState, now: Nanos, id: u64, left: u64| {
        let operation = if left.is_multiple_of(2) { Write } else { Flush };
        let sector = (id * EACH + left) * 8;
        drive.submit(now, Request { id, operation, sector, sectors: 8 });
    };
    (0..callers).for_each(|id| submit(&mut drive, Nanos(0), id, 2 * EACH));
    let mut end = 0;
    while let Some(at) = drive.next_event().filter(|_| left.iter().any(|left| *left > 0)) {
        drive.advance(at, &mut done);
        for Completion { id, at, .. } in done.drain(..) {
            let left = &mut left[id as usize];
            *left -= 1;
            end = at.0;
            if *left > 0 {
                submit(&mut drive, at, id, *left);
            }
        }
    }
    (callers * EACH) as f64 / end as f64 * 1e9
}

#[test]
fn flushes_are_done_one_after_the_other() {
    for (id, p) in all() {
        let (one, eight) = (synced_writes(&p, 1), synced_writes(&p, 8));
        let most = 1e9 / p.buffer.flush_overhead as f64;
        assert!(eight < 1.001 * most && eight > 0.9 * most, "{id}: {eight} of {most}");
        assert!(eight >= one, "{id}: {one} {eight}");
    }
}

/// Commands are understood one after the other, also those of a reader whose data are in memory.
#[test]
fn small_sequential_requests_are_no_faster_than_the_controller() {
    for (id, p) in all() {
        let p = Parameters { slc_cache: None, ..p };
        let iops = sequential_read_rate(&p, 4096, 64, 64 * MIB) / 4096.0;
        let most = (1e9 / p.interface.command as f64).min(p.interface.link_rate / 4096.0);
        assert!(iops < 1.001 * most, "{id}: {iops} of {most}");
    }
    // 370,000 reads and 500,000 writes a second: data sheet.
    let p = parameters("samsung-970pro-512gb");
    let iops = sequential_read_rate(&p, 4096, 64, 64 * MIB) / 4096.0;
    assert!(near(iops, 370_000.0, 0.01), "{iops}");
    let writes = random_iops(&p, Write, 64, 64 * MIB, 20_000);
    assert!(near(writes, 500_000.0, 0.01), "{writes}");
}

#[test]
fn buffered_data_are_read_from_the_buffer() {
    let p = parameters("samsung-970pro-512gb");
    let mut drive = SolidState::new(&p);
    let now = carry_out(&mut drive, 0, Write, 0, 8);
    let read = carry_out(&mut drive, now, Read, 0, 8) - now;
    assert!(near(read as f64 * 1e-9, unmapped_read_latency(&p), 0.001), "{read}");
    assert_eq!(drive.statistics().read_hits, 1);
    // Part of a unit: the rest is in the buffer too.
    let now = carry_out(&mut drive, now + read, Write, 1, 1);
    assert_eq!(drive.statistics().partial_writes, 0);
    let now = carry_out(&mut drive, now, Flush, 0, 0);
    let written = carry_out(&mut drive, now + GB, Write, 1, 1) - now - GB;
    assert_eq!(drive.statistics().partial_writes, 1);
    assert!(written > p.flash.read_4k - p.flash.read_spread, "the rest was read: {written}");
}

#[test]
fn requests_beyond_the_drive_are_refused() {
    let mut drive = SolidState::new(&parameters("samsung-970pro-512gb"));
    let end = drive.sectors();
    for (operation, sector, sectors) in
        [(Read, end, 1), (Write, u64::MAX, 8), (Discard, 8, u64::MAX), (WriteZeroes, end - 1, 2)]
    {
        carry_out(&mut drive, 0, operation, sector, sectors);
    }
    assert_eq!(drive.statistics().refused, 4);
    carry_out(&mut drive, 0, Write, end - 1, 1);
    carry_out(&mut drive, 0, Read, end - 3, 3);
    carry_out(&mut drive, 0, Discard, 0, end);
    assert_eq!(drive.statistics().refused, 4);
}

#[test]
fn the_map_of_a_terabyte_is_small() {
    let p = parameters("generic-nvme-1tb");
    let mut drive = SolidState::new(&p);
    assert!(drive.memory() < 10_000_000, "{}", drive.memory());
    let mut now = 0;
    // 40 GB in order, a quarter of it then in random pieces of 128 KiB.
    for at in 0..40_000 {
        now = carry_out(&mut drive, now, Write, at * 2048, 2048);
    }
    let in_order = drive.memory();
    assert!(in_order < 12_000_000, "{in_order}");
    for at in 0..80_000_u64 {
        now = carry_out(&mut drive, now, Write, at * 7919 % 320_000 * 256, 256);
    }
    assert!(drive.memory() < in_order + 20_000_000, "{}", drive.memory());
}

/// A drive with all features that does things in some µs.
fn toy() -> impl Strategy<Value = Parameters> {
    (any::<bool>(), any::<bool>(), 1_u64..5, 1_u64..4, 0_u64..2, 0_u64..400).prop_map(
        |(cache, duplex, depth, channels, unit, erase)| {
            let mut p = parameters("generic-nvme-1tb");
            p.flash.channels = channels;
            p.flash.dies = 2;
            p.flash.block_pages = 9;
            p.flash.spare = 2.0;
            p.flash.erase = erase;
            p.flash.map_unit = 4096 << unit;
            p.flash.page = 2 * p.flash.map_unit;
            p.buffer.size = 4 * p.flash.page;
            p.capacity = 4 * MIB;
            p.visible = 4 * MIB - 512 * 8 * channels;
            p.interface.queue_depth = depth;
            p.interface.full_duplex = duplex;
            p.slc_cache = p.slc_cache.filter(|_| cache).map(|cache| disklab_drive::ssd::SlcCache {
                size: MIB,
                fold_delay: 100_000,
                ..cache
            });
            p
        },
    )
}

type Step = (u64, u8, u64, u64);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let sectors = prop_oneof![0_u64..9, 0_u64..600];
    prop::collection::vec((0_u64..300_000, 0_u8..14, 0_u64..8300, sectors), 1..150)
}

/// Carries the steps out; gives the completions.
fn play(p: &Parameters, steps: &[Step]) -> Vec<Completion> {
    let mut drive = SolidState::new(p);
    let (mut now, mut all) = (0, Vec::new());
    for (id, (wait, kind, sector, sectors)) in (0..).zip(steps.iter().copied()) {
        now += wait;
        let operation = match kind {
            0 => Flush,
            1 => Discard,
            2 => WriteZeroes,
            3 => {
                let on = drive.write_cache();
                drive.set_write_cache(Nanos(now), !on);
                Write
            }
            4..8 => Read,
            _ => Write,
        };
        drive.submit(Nanos(now), Request { id, operation, sector, sectors });
        if kind % 2 == 0 {
            drive.advance(Nanos(now), &mut all);
        }
    }
    while let Some(at) = drive.next_event() {
        drive.advance(at, &mut all);
    }
    all
}

proptest! {
    #[test]
    fn every_request_ends_once_in_the_order_of_time_and_the_same_again(p in toy(), steps in steps()) {
        prop_assert!(p.check().is_ok(), "{:?}", p.check());
        let all = play(&p, &steps);
        let mut ids: Vec<u64> = all.iter().map(|completion| completion.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..steps.len() as u64).collect::<Vec<_>>());
        prop_assert!(all.windows(2).all(|pair| pair[0].at <= pair[1].at));
        let mut submitted = 0;
        let at: Vec<u64> = steps.iter().map(|(wait, ..)| { submitted += wait; submitted }).collect();
        prop_assert!(all.iter().all(|c| c.at.0 >= at[c.id as usize] + p.interface.command));
        prop_assert_eq!(play(&p, &steps), all);
    }
}
