//! What all shipped drives do with requests that were drawn, to the nanosecond. A change that means
//! to change nothing changes none of it; another shows here what it changes.

use std::fmt::Write as _;

use disklab_drive::Operation::{Discard, Flush, Read, Write, WriteZeroes};
use disklab_drive::{Drive, Kind, Nanos, Operation, Request, SHIPPED, hdd, shipped, ssd};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MS: u64 = 1_000_000;

/// A drive at work, with what it has done so far.
struct Work {
    drive: Box<dyn Drive>,
    now: u64,
    submitted: u64,
    in_flight: u64,
    /// Of all completions: times, each times the number of its request.
    times: u64,
    /// The same of what became durable.
    durable: u64,
}

impl Work {
    fn new(mut drive: Box<dyn Drive>) -> Self {
        drive.watch_durability();
        Self { drive, now: 0, submitted: 0, in_flight: 0, times: 0, durable: 0 }
    }

    /// Hands it a request as soon as fewer than `depth` are in flight.
    fn request(&mut self, operation: Operation, sector: u64, sectors: u64, depth: u64) {
        while self.in_flight >= depth {
            self.step();
        }
        let id = self.submitted;
        self.drive.submit(Nanos(self.now), Request { id, operation, sector, sectors });
        self.submitted += 1;
        self.in_flight += 1;
    }

    /// To its next event.
    fn step(&mut self) {
        let next = self.drive.next_event().expect("requests are in flight");
        self.until(next.0.max(self.now));
    }

    fn until(&mut self, now: u64) {
        self.now = now;
        let (mut done, mut durable) = (Vec::new(), Vec::new());
        self.drive.advance(Nanos(now), &mut done);
        self.drive.take_durable(&mut durable);
        for completion in done {
            let term = completion.at.0.wrapping_mul(2 * completion.id + 1);
            self.times = self.times.wrapping_add(term);
            self.in_flight -= 1;
        }
        for part in durable {
            let term = now.wrapping_mul(part.through + 3) ^ part.sector.wrapping_mul(part.sectors);
            self.durable = self.durable.wrapping_add(term);
        }
    }

    /// Waits for all requests, and then for so long.
    fn rest(&mut self, ns: u64) {
        while self.in_flight > 0 {
            self.step();
        }
        self.until(self.now + ns);
    }

    fn describe(&self, said: &mut String, name: &str, what: &str) {
        let Self { submitted, now, times, durable, drive, .. } = self;
        writeln!(
            said,
            "{name}, {what}: {submitted} requests in {now} ns ({times:x}, durable {durable:x}); {:?}",
            drive.statistics()
        )
        .expect("a text");
    }
}

/// All operations, large and small, near and far, at several depths, with rests.
fn mixed(work: &mut Work, random: &mut ChaCha8Rng, requests: u64) {
    let all = work.drive.sectors();
    let mut depth = 1;
    for number in 0..requests {
        if number % 50 == 0 {
            depth = [1, 4, 32, 2][number as usize / 50 % 4];
        }
        let sectors = [8, 8, 8, 1, 16, 24, 128, 256, 2048][random.random_range(0..9)];
        let sector = match random.random_range(0..4) {
            0 => random.random_range(0..all / 8 - 256) * 8,
            1 => random.random_range(0..all - 2048),
            _ => random.random_range(0..20_000) * 8,
        };
        let operation = match random.random_range(0..24) {
            0 => Flush,
            1 => Discard,
            2 => WriteZeroes,
            3..13 => Read,
            _ => Write,
        };
        let (sector, sectors) = if operation == Flush { (0, 0) } else { (sector, sectors) };
        work.request(operation, sector, sectors, depth);
        match random.random_range(0..60) {
            0 => work.rest(50 * MS),
            1 => work.rest(3000 * MS),
            2 => work.rest(100_000),
            _ => {}
        }
    }
    work.rest(5000 * MS);
}

/// Some streams that write, then read what they wrote.
fn streams(work: &mut Work) {
    for operation in [Write, Read] {
        for number in 0..400 {
            let (stream, place) = (number % 3, number / 3);
            let sectors = [256, 1024, 16][stream as usize];
            let at = 1_000_000 + stream * 50_000_000 + place * sectors;
            work.request(operation, at, sectors, 4);
        }
        work.request(Flush, 0, 0, 1);
        work.rest(20 * MS);
    }
}

#[test]
fn all_shipped_drives_do_what_they_did() {
    let mut said = String::new();
    for (id, _) in SHIPPED {
        let file = shipped(id).expect("it loads");
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut work = Work::new(file.build(1));
        mixed(&mut work, &mut random, 500);
        work.describe(&mut said, id, "mixed");
        streams(&mut work);
        work.describe(&mut said, id, "streams");
        let mut work = Work::new(file.build(2));
        work.drive.set_write_cache(Nanos(0), false);
        mixed(&mut work, &mut random, 200);
        work.describe(&mut said, id, "without a write cache");
        work.drive.set_write_cache(Nanos(work.now), true);
        mixed(&mut work, &mut random, 100);
        work.describe(&mut said, id, "with one again");
    }
    insta::assert_snapshot!(said);
}

/// So small that it collects after a moment: blocks of eight pages, 64 lines of them.
fn small(parameters: &ssd::Parameters) -> ssd::Parameters {
    let mut small = parameters.clone();
    small.flash.block_pages = 8;
    small.flash.spare = 0.28;
    let line = small.flash.channels * small.flash.dies * 8 * small.flash.page;
    small.capacity = 64 * line;
    small.visible = small.capacity;
    if let Some(cache) = &mut small.slc_cache {
        cache.size = 4 * line;
    }
    small
}

#[test]
fn worn_drives_do_what_they_did() {
    let mut said = String::new();
    for (id, _) in SHIPPED {
        let file = shipped(id).expect("it loads");
        if file.like.is_some() {
            continue;
        }
        let drive: Box<dyn Drive> = match &file.kind {
            Kind::Hdd(_) => continue,
            Kind::Smr(parameters) => {
                let mut small = parameters.clone();
                small.map_entries = 64;
                Box::new(hdd::HardDisk::shingled(&small, 1))
            }
            Kind::Ssd(parameters) => Box::new(ssd::SolidState::new(&small(parameters))),
        };
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut work = Work::new(drive);
        let units = work.drive.sectors() / 8;
        let units = units.min(200_000);
        for place in 0..units / 64 {
            work.request(Write, place * 512, 512, 8);
        }
        for _ in 0..units {
            work.request(Write, random.random_range(0..units) * 8, 8, 8);
        }
        work.describe(&mut said, id, "overwritten");
        mixed(&mut work, &mut random, 200);
        work.describe(&mut said, id, "mixed");
    }
    insta::assert_snapshot!(said);
}

/// Streams over many bands that leave gaps, start again in their middle, are flushed or pause, with
/// single writes and reads between them, and a reader that follows the first.
fn streams_with_gaps(work: &mut Work, random: &mut ChaCha8Rng) {
    let mut at = [0, 1 << 22, (1 << 23) + 8, (1 << 24) - 64];
    let mut reader = 0;
    let stretch = 1 << 17;
    for _ in 0..3000 {
        let stream = random.random_range(0..at.len());
        let sectors = [64, 256, 1024, 1024, 2048][random.random_range(0..5)];
        let start = at[stream];
        match random.random_range(0..200) {
            0..3 => work.request(Write, start, sectors, 8),
            3..6 => at[stream] += [1, 8, 64, 600, 1 << 14][random.random_range(0..5)],
            6..8 => at[stream] -= random.random_range(0..=start.min(stretch)),
            8..10 => work.request(Flush, 0, 0, 4),
            10 => work.rest([2 * MS, 60 * MS, 400 * MS, 9000 * MS][random.random_range(0..4)]),
            11..15 => work.request(Write, random.random_range(0..1 << 21) * 8, 8, 8),
            15..19 => {
                work.request(Read, start.saturating_sub(random.random_range(0..stretch)), 256, 8);
            }
            19 => work.request(Discard, random.random_range(0..1 << 24), 4096, 8),
            20..33 => {
                work.request(Read, reader, 128, 1);
                reader += 128;
            }
            _ => {
                work.request(Write, start, sectors, 16);
                at[stream] += sectors;
            }
        }
    }
    work.rest(30_000 * MS);
}

#[test]
fn shingled_drives_stream_as_they_did() {
    let mut said = String::new();
    for (id, _) in SHIPPED {
        let Kind::Smr(parameters) = shipped(id).expect("it loads").kind else { continue };
        for (tracks, after, skip) in
            [(2, 1 << 20, 0), (5, 2 << 20, 32 << 10), (9, 8 << 20, 1 << 20)]
        {
            let mut small = parameters.clone();
            (small.band_tracks, small.stream_after, small.stream_skip) = (tracks, after, skip);
            small.stream_least = after / 2;
            small.map_entries = 32 << tracks;
            small.log_size = 8 * (small.disk.dirty_limit + small.log_padding);
            small.check().expect("it can be");
            let mut random = ChaCha8Rng::seed_from_u64(tracks);
            let mut work = Work::new(Box::new(hdd::HardDisk::shingled(&small, tracks)));
            streams_with_gaps(&mut work, &mut random);
            work.describe(&mut said, id, &format!("bands of {tracks} tracks"));
        }
    }
    insta::assert_snapshot!(said);
}
