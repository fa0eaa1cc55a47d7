//! What holds whatever a guest asks of its virtual disk.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use disklab_drive::{Completion, Drive, Durable, Nanos, Operation, Request, Statistics, Status};
use disklab_host::{CacheMode, HostSettings, HostedDrive};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const SECTORS: u64 = 1 << 20;

/// What the drive below was told, and what is on its medium.
#[derive(Debug, Default)]
struct Log {
    reads: Vec<Request>,
    /// By page: the time at which it came to the medium last.
    durable: BTreeMap<u64, u64>,
    /// Written, but not flushed.
    volatile: Vec<Request>,
    flushes: u64,
    outstanding: u64,
    most_outstanding: u64,
}

/// A drive that takes 100 µs for each request, one after the other.
#[derive(Clone)]
struct Below {
    log: Arc<Mutex<Log>>,
    queue: VecDeque<(Request, u64)>,
    free: u64,
    cached: bool,
}

impl Drive for Below {
    fn submit(&mut self, now: Nanos, request: Request) {
        self.free = self.free.max(now.0) + 100_000;
        self.queue.push_back((request, self.free));
        let mut log = self.log.lock().expect("log");
        log.outstanding += 1;
        log.most_outstanding = log.most_outstanding.max(log.outstanding);
        if request.operation == Operation::Read {
            log.reads.push(request);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.queue.front().map(|(_, at)| Nanos(*at))
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while let Some((request, at)) = self.queue.front().copied().filter(|(_, at)| *at <= now.0) {
            self.queue.pop_front();
            let mut log = self.log.lock().expect("log");
            log.outstanding -= 1;
            match request.operation {
                Operation::Write if self.cached => log.volatile.push(request),
                Operation::Write => note(&mut log, &request, at),
                Operation::Flush => {
                    log.flushes += 1;
                    for written in std::mem::take(&mut log.volatile) {
                        note(&mut log, &written, at);
                    }
                }
                _ => {}
            }
            completions.push(Completion { id: request.id, at: Nanos(at), status: Status::Done });
        }
    }

    fn watch_durability(&mut self) {}

    fn take_durable(&mut self, _durable: &mut Vec<Durable>) {}

    fn snapshot(&self) -> Box<dyn Drive> {
        Box::new(self.clone())
    }

    fn statistics(&self) -> Statistics {
        Statistics::default()
    }

    fn sectors(&self) -> u64 {
        SECTORS
    }

    fn write_cache(&self) -> bool {
        self.cached
    }

    fn set_write_cache(&mut self, _now: Nanos, _on: bool) {}
}

fn note(log: &mut Log, written: &Request, at: u64) {
    for sector in written.sector..written.sector + written.sectors {
        log.durable.insert(sector, at);
    }
}

fn settings(cache: &str, memory: u64) -> HostSettings {
    let cache = CacheMode::by_word(cache).expect("a mode");
    let writes_at_once = if cache.page_cache { 1 } else { 64 };
    HostSettings {
        cache,
        memory,
        read_ahead: 128 << 10,
        threads: 64,
        writes_at_once,
        request: 7_000,
        copy: 5e9,
        dirty: (10, 20),
    }
}

fn disk(settings: HostSettings, cached: bool) -> (HostedDrive, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let below = Below { log: Arc::clone(&log), queue: VecDeque::new(), free: 0, cached };
    (HostedDrive::new(Box::new(below), 32, settings), log)
}

fn request(id: u64, operation: Operation, sector: u64, sectors: u64) -> Request {
    Request { id, operation, sector, sectors }
}

/// Runs the disk until nothing more is to be done but looking for old pages.
fn run(disk: &mut HostedDrive, until: u64, mut each: impl FnMut(&HostedDrive, Completion)) -> u64 {
    let mut now = 0;
    let mut done = Vec::new();
    while let Some(at) = disk.next_event().filter(|at| at.0 <= until) {
        now = at.0.max(now);
        disk.advance(Nanos(now), &mut done);
        done.drain(..).for_each(|completion| each(disk, completion));
    }
    now
}

fn scripts() -> impl Strategy<Value = Vec<(u64, Request)>> {
    let operation = prop_oneof![
        4 => Just(Operation::Read),
        6 => Just(Operation::Write),
        2 => Just(Operation::Flush),
        1 => Just(Operation::Discard),
    ];
    let place = prop_oneof![3 => (0..2000_u64).prop_map(|p| p * 8), 1 => 0..SECTORS + 99];
    let one = (0..400_000_u64, operation, place, prop_oneof![3 => Just(8_u64), 1 => 0..3000_u64]);
    prop::collection::vec(one, 1..80).prop_map(|steps| {
        let step = |(id, (pause, operation, sector, sectors))| {
            (pause, request(id, operation, sector, sectors))
        };
        (0..).zip(steps).map(step).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// In every mode: each request ends once, in the order of time; what must be durable
    /// is; no more is dirty than may be; the drive never has more than it takes.
    #[test]
    fn promises_are_kept(
        script in scripts(),
        mode in 0..5_usize,
        memory in 64..80_u64,
        cached: bool,
        at_once in 1..4_u64,
        threads in 1..9_u64,
    ) {
        let (word, cache) = CacheMode::ALL[mode];
        let settings = HostSettings { writes_at_once: at_once, threads, ..settings(word, memory * MIB) };
        let limit = memory * MIB / 5;
        let (mut disk, log) = disk(settings, cached);
        let mut pending: BTreeMap<u64, (u64, Request)> = BTreeMap::new();
        // Acknowledged writes that a flush that begins now must find.
        let mut written: Vec<(u64, Request)> = Vec::new();
        let mut owed: BTreeMap<u64, Vec<(u64, Request)>> = BTreeMap::new();
        let mut last = 0;
        let mut now = 0;
        let mut steps = script.into_iter().peekable();
        let mut done = Vec::new();
        loop {
            let next = steps.peek().map(|(pause, _)| now + pause);
            let event = disk.next_event().map(|at| at.0);
            if event.is_none() && next.is_none() || pending.is_empty() && next.is_none() {
                break;
            }
            if let Some(at) = next.filter(|at| event.is_none_or(|event| *at < event)) {
                now = at;
                let Some((_, request)) = steps.next() else { break };
                disk.submit(Nanos(now), request);
                pending.insert(request.id, (now, request));
                if request.operation == Operation::Flush {
                    owed.insert(request.id, written.clone());
                }
            } else if let Some(event) = event {
                let since = event.max(last);
                // The pauses are between the requests.
                if let Some((pause, _)) = steps.peek_mut() {
                    *pause = (*pause + now).saturating_sub(since.max(now));
                }
                now = since.max(now);
                disk.advance(Nanos(now), &mut done);
            }
            for completion in done.drain(..) {
                prop_assert!(completion.at.0 >= last && completion.at.0 <= now);
                last = completion.at.0;
                let (begun, request) = pending.remove(&completion.id).expect("ends once");
                prop_assert!(completion.at.0 >= begun + 7_000 || request.operation == Operation::Discard);
                let end = request.sector + request.sectors;
                let fits = request.sectors > 0 && end <= SECTORS;
                let is_durable = |begun: u64, request: &Request| {
                    let log = log.lock().unwrap();
                    (request.sector..request.sector + request.sectors)
                        .all(|sector| log.durable.get(&sector).is_some_and(|at| *at >= begun))
                };
                if request.operation == Operation::Write && fits {
                    if !cache.write_cache {
                        prop_assert!(is_durable(begun, &request), "{request:?}");
                    }
                    written.push((begun, request));
                }
                if let Some(owed) = owed.remove(&request.id).filter(|_| !cache.ignores_flushes) {
                    for (begun, request) in owed {
                        prop_assert!(is_durable(begun, &request), "{request:?}");
                    }
                }
            }
            let host = disk.statistics().host;
            // One request that is larger goes alone.
            prop_assert!(host.dirty_bytes <= limit.max(3008 * 512));
            prop_assert!(host.hits <= host.reads);
        }
        prop_assert!(pending.is_empty());
        // Flushes go past the queue.
        let log = log.lock().unwrap();
        prop_assert!(log.most_outstanding <= 32 + threads);
    }

    /// What is in the page cache is read without the drive, however it came there.
    #[test]
    fn hits_never_reach_the_drive(
        places in prop::collection::vec((0..3000_u64, 1..30_u64, any::<bool>()), 1..30),
        write_back: bool,
    ) {
        let word = if write_back { "writeback" } else { "writethrough" };
        let (mut disk, log) = disk(settings(word, 64 * MIB), true);
        let mut now = 0;
        for (id, (page, pages, write)) in (0..).zip(&places) {
            let operation = if *write { Operation::Write } else { Operation::Read };
            disk.submit(Nanos(now), request(id, operation, page * 8, pages * 8));
            now = run(&mut disk, now + 2_000_000_000, |_, _| {}).max(now);
        }
        let before = log.lock().unwrap().reads.len();
        let mut took = Vec::new();
        for (id, (page, pages, _)) in (1000..).zip(&places) {
            let begun = now + 1;
            disk.submit(Nanos(begun), request(id, Operation::Read, page * 8, pages * 8));
            now = run(&mut disk, begun + 100_000, |_, done| took.push(done.at.0 - begun)).max(begun);
        }
        // Markers that were left may have more read ahead, which nobody waits for.
        prop_assert_eq!(took.len(), places.len());
        prop_assert!(took.iter().all(|took| *took < 50_000), "{:?}", took);
        let pages: u64 = places.iter().map(|(page, pages, _)| page + pages).max().unwrap_or(0);
        let log = log.lock().unwrap();
        prop_assert!(log.reads[before..].iter().all(|read| read.sector + read.sectors <= (pages + 64) * 8));
    }
}

/// Random writes of 4 KiB with `depth` in flight; returns how long one takes on average.
fn write_time(settings: HostSettings, cached: bool, depth: u64) -> u64 {
    let (mut disk, _) = disk(settings, cached);
    for id in 0..depth {
        disk.submit(Nanos(0), request(id, Operation::Write, id * 1000, 8));
    }
    let mut last = 0;
    run(&mut disk, 3_000_000_000, |_, done| last = done.at.0);
    last / depth
}

#[test]
fn each_mode_makes_its_own_work_of_a_write() {
    // The drive takes 100 µs for a write and as much for a flush.
    let time = |word, cached| write_time(settings(word, 64 * MIB), cached, 1) / 1000;
    assert_eq!(time("none", true), 107);
    assert_eq!(time("directsync", true), 207);
    assert_eq!(time("directsync", false), 107, "nothing is to be flushed");
    // And a copy of 0.8 µs.
    assert_eq!(time("writethrough", true), 207);
    assert_eq!(time("writeback", true), 7);
    assert_eq!(time("unsafe", true), 7);
}

#[test]
fn a_file_that_is_locked_while_it_is_written_takes_one_write_at_a_time() {
    let locked = HostSettings { writes_at_once: 1, ..settings("none", 0) };
    let (mut disk, log) = disk(locked, false);
    for id in 0..8 {
        disk.submit(Nanos(0), request(id, Operation::Write, id * 1000, 8));
    }
    run(&mut disk, 3_000_000_000, |_, _| {});
    assert_eq!(log.lock().unwrap().most_outstanding, 1);
}

#[test]
fn dirty_pages_are_written_after_30_s_and_a_flush_waits_for_them() {
    let (mut disk, log) = disk(settings("writeback", 64 * MIB), true);
    disk.submit(Nanos(0), request(0, Operation::Write, 80, 16));
    run(&mut disk, 29_000_000_000, |_, _| {});
    assert!(log.lock().unwrap().volatile.is_empty());
    run(&mut disk, 41_000_000_000, |_, _| {});
    assert_eq!(log.lock().unwrap().volatile, [request(0, Operation::Write, 80, 16)]);
    disk.submit(Nanos(42_000_000_000), request(1, Operation::Write, 160, 8));
    disk.submit(Nanos(42_001_000_000), request(2, Operation::Flush, 0, 0));
    let mut ends = Vec::new();
    run(&mut disk, 43_000_000_000, |_, done| ends.push(done.id));
    assert_eq!(ends, [1, 2]);
    assert_eq!(log.lock().unwrap().durable.len(), 24);
}

#[test]
fn part_of_a_page_is_written_after_the_page_was_read() {
    let (mut disk, log) = disk(settings("writethrough", 64 * MIB), false);
    disk.submit(Nanos(0), request(0, Operation::Write, 81, 2));
    run(&mut disk, 1_000_000_000, |_, _| {});
    let log = log.lock().unwrap();
    assert_eq!(log.reads.iter().map(|r| (r.sector, r.sectors)).collect::<Vec<_>>(), [(80, 8)]);
    assert_eq!(log.durable.keys().copied().collect::<Vec<_>>(), (80..88).collect::<Vec<_>>());
}

#[test]
fn a_stream_of_small_reads_is_read_in_windows() {
    let (mut disk, log) = disk(settings("writethrough", 64 * MIB), false);
    let mut now = 0;
    for id in 0..256 {
        disk.submit(Nanos(now), request(id, Operation::Read, id * 8, 8));
        now = run(&mut disk, now + 10_000_000, |_, _| {}).max(now) + 1;
    }
    let log = log.lock().unwrap();
    assert!(log.reads.len() < 16, "{:?}", log.reads);
    assert!(disk.statistics().host.hits > 240);
}

/// When a write is done, and when it outlasts a loss of power, with a flush a second later; s.
fn done_and_durable(mode: &str) -> (u64, u64) {
    let below = disklab_drive::shipped("hdn721010ale604").expect("a model").build(1);
    let mut disk = HostedDrive::new(below, 32, settings(mode, 64 * MIB));
    disk.watch_durability();
    disk.submit(Nanos(0), request(0, Operation::Write, 0, 64));
    let (mut now, mut times) = (0, [None; 2]);
    let mut flushes = [1_000_000_000].into_iter().peekable();
    while let Some(at) = disk.next_event().filter(|at| at.0 <= 100_000_000_000) {
        if let Some(flush) = flushes.next_if(|flush| *flush <= at.0) {
            disk.submit(Nanos(flush), request(1, Operation::Flush, 0, 0));
            continue;
        }
        now = at.0.max(now);
        let (mut done, mut durable) = (Vec::new(), Vec::new());
        disk.advance(Nanos(now), &mut done);
        disk.take_durable(&mut durable);
        // It is told in parts.
        let is_all = |part: &Durable| part.sector == 56 && part.sectors == 8;
        for (time, happened) in
            times.iter_mut().zip([done.iter().any(|c| c.id == 0), durable.iter().any(is_all)])
        {
            *time = time.or(happened.then_some(now / 1_000_000_000));
        }
    }
    (times[0].expect("done"), times[1].expect("durable"))
}

/// What the host's page cache holds is lost with the host; what it was told to flush is not, but
/// for the mode that ignores flushes: there the kernel writes it when it is 30 s old.
#[test]
fn a_write_is_durable_when_its_mode_says_so() {
    for (mode, expected) in
        [("none", (0, 0)), ("directsync", (0, 0)), ("writethrough", (0, 0)), ("writeback", (0, 1))]
    {
        assert_eq!(done_and_durable(mode), expected, "{mode}");
    }
    let (done, durable) = done_and_durable("unsafe");
    assert!(done == 0 && (30..40).contains(&durable), "{durable}");
}
