//! What one clone has done so far.

use disklab_sample::{OpenWindow, Windows};

use super::depth_meter::DepthMeter;
use crate::measure::{Counter, FINEST_NS, Histogram, SeriesCells, Usage};
use crate::report::DirectionReport;

/// What a clone has done in one direction.
#[derive(Debug)]
struct DirectionTally {
    bytes: u64,
    short: u64,
    submission: Histogram,
    completion: Histogram,
    total: Histogram,
}

impl DirectionTally {
    fn new() -> Self {
        Self {
            bytes: 0,
            short: 0,
            submission: Histogram::new(),
            completion: Histogram::new(),
            total: Histogram::new(),
        }
    }

    fn clear(&mut self) {
        (self.bytes, self.short) = (0, 0);
        for histogram in [&mut self.submission, &mut self.completion, &mut self.total] {
            histogram.clear();
        }
    }

    fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.short += other.short;
        self.submission.merge(&other.submission);
        self.completion.merge(&other.completion);
        self.total.merge(&other.total);
    }

    fn done(&self, runtime_ns: u64) -> DirectionReport {
        let latency = |h: &Histogram| (h.count() > 0).then(|| h.latency());
        let total = latency(&self.total);
        let completion = latency(&self.completion).or_else(|| total.clone());
        DirectionReport {
            bytes: self.bytes,
            operations: self.total.count(),
            short: self.short,
            runtime_ns: if self.total.count() > 0 { runtime_ns } else { 0 },
            submission: latency(&self.submission),
            completion,
            total,
        }
    }
}

/// The place of a count among 0, 1 to 4, to 8, 16, 32, 64 and more (io_u_mark_submit in fio's
/// io_u.c).
fn by_power(count: usize) -> usize {
    match count {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

/// Both directions, window by window.
#[derive(Debug)]
struct Windowed {
    began_ns: u64,
    /// When the current window ends.
    ends_ns: u64,
    open: [OpenWindow; 2],
    windows: [Windows; 2],
}

impl Windowed {
    fn new(began_ns: u64) -> Self {
        Self {
            began_ns,
            ends_ns: began_ns + FINEST_NS,
            open: Default::default(),
            windows: [Windows::new(FINEST_NS), Windows::new(FINEST_NS)],
        }
    }

    #[inline]
    fn record(&mut self, write: bool, bytes: u64, ns: u64, now_ns: u64) {
        if now_ns >= self.ends_ns {
            self.close(now_ns);
        }
        self.open[usize::from(write)].record(bytes, ns);
    }

    /// Keeps the current window; the next one holds a time of the clock.
    #[cold]
    fn close(&mut self, now_ns: u64) {
        let within = self.ends_ns - 1 - self.began_ns;
        let at = now_ns.saturating_sub(self.began_ns);
        for (windows, open) in self.windows.iter_mut().zip(&mut self.open) {
            windows.add(within, open);
            self.ends_ns = self.began_ns.saturating_add(windows.end_of(at));
        }
    }

    fn finish(mut self) -> [Windows; 2] {
        self.close(self.ends_ns - 1);
        self.windows
    }
}

/// What one clone has done since counting began.
#[derive(Debug)]
pub(crate) struct IoTally {
    sides: [DirectionTally; 2],
    windowed: Windowed,
    sync: Histogram,
    commit: Histogram,
    /// What the last write took that no flush has followed yet.
    uncommitted_ns: Option<u64>,
    counter: Counter,
    began_ns: u64,
    usage: Usage,
    pub(crate) depths: [u64; 7],
    /// Calls by the I/Os that they submitted: none, up to 4, 8, 16, 32, 64 and more.
    pub(crate) submits: [u64; 7],
    /// The same for ends.
    pub(crate) completes: [u64; 7],
    pub(crate) passed_over: u64,
    pub(crate) depth_meter: DepthMeter,
}

/// What one clone did, when it has ended.
#[derive(Debug)]
pub(crate) struct Account {
    sides: [DirectionTally; 2],
    pub(crate) windows: [Windows; 2],
    sync: Histogram,
    commit: Histogram,
    pub(crate) series: SeriesCells,
    pub(crate) usage: Usage,
    pub(crate) elapsed_ns: u64,
    pub(crate) depths: [u64; 7],
    /// Calls by the I/Os that they submitted: none, up to 4, 8, 16, 32, 64 and more.
    pub(crate) submits: [u64; 7],
    /// The same for ends.
    pub(crate) completes: [u64; 7],
    pub(crate) passed_over: u64,
    /// I/Os in flight on average: of clones that know it, the sum and how many they are.
    in_flight: (f64, u32),
}

impl IoTally {
    pub(crate) fn new(now_ns: u64) -> Self {
        Self {
            sides: [DirectionTally::new(), DirectionTally::new()],
            windowed: Windowed::new(now_ns),
            sync: Histogram::new(),
            commit: Histogram::new(),
            uncommitted_ns: None,
            counter: Counter::new(now_ns),
            began_ns: now_ns,
            usage: Usage::of_thread(),
            depths: [0; 7],
            submits: [0; 7],
            completes: [0; 7],
            passed_over: 0,
            depth_meter: DepthMeter::new(now_ns),
        }
    }

    /// Forgets all, and begins to count now.
    pub(crate) fn restart(&mut self, now_ns: u64) {
        self.sides.iter_mut().for_each(DirectionTally::clear);
        self.windowed = Windowed::new(now_ns);
        self.sync.clear();
        self.commit.clear();
        self.uncommitted_ns = None;
        self.counter.restart(now_ns);
        self.began_ns = now_ns;
        self.usage = Usage::of_thread();
        (self.depths, self.passed_over) = ([0; 7], 0);
        (self.submits, self.completes) = ([0; 7], [0; 7]);
        self.depth_meter = DepthMeter::new(now_ns);
    }

    /// An I/O that ended in the call that began it.
    #[inline]
    pub(crate) fn call(&mut self, write: bool, bytes: u64, began_ns: u64, now_ns: u64) {
        let latency = now_ns - began_ns;
        let side = &mut self.sides[usize::from(write)];
        side.bytes += bytes;
        side.total.record(latency);
        if write {
            self.uncommitted_ns = Some(latency);
        }
        self.windowed.record(write, bytes, latency, now_ns);
        self.counter.count(write, bytes, latency, now_ns);
    }

    /// An I/O that was handed over at `taken_ns`, where that is known.
    #[inline]
    pub(crate) fn ended(
        &mut self,
        write: bool,
        bytes: u64,
        began_ns: u64,
        taken_ns: Option<u64>,
        now_ns: u64,
    ) {
        if let Some(taken_ns) = taken_ns {
            let side = &mut self.sides[usize::from(write)];
            side.submission.record(taken_ns - began_ns);
            side.completion.record(now_ns - taken_ns);
        }
        self.call(write, bytes, began_ns, now_ns);
    }

    pub(crate) fn flushed(&mut self, ns: u64) {
        self.sync.record(ns);
        if let Some(write_ns) = self.uncommitted_ns.take() {
            self.commit.record(write_ns + ns);
        }
    }

    /// So many I/Os were submitted by one call.
    #[inline]
    pub(crate) fn submitted(&mut self, count: usize) {
        self.submits[by_power(count)] += 1;
    }

    /// So many were found to have ended.
    #[inline]
    pub(crate) fn completed(&mut self, count: usize) {
        self.completes[by_power(count)] += 1;
    }

    /// The kernel did only a part of an I/O.
    pub(crate) fn was_short(&mut self, write: bool) {
        self.sides[usize::from(write)].short += 1;
    }

    /// Bytes read and written.
    pub(crate) fn bytes(&self) -> [u64; 2] {
        [self.sides[0].bytes, self.sides[1].bytes]
    }

    /// I/Os that read and that wrote.
    pub(crate) fn operations(&self) -> [u64; 2] {
        [self.sides[0].total.count(), self.sides[1].total.count()]
    }

    pub(crate) fn finish(self, now_ns: u64) -> Account {
        let usage = Usage::of_thread().since(self.usage);
        let in_flight = self.depth_meter.mean(usage.user_ns.saturating_add(usage.system_ns));
        Account {
            in_flight: in_flight.map_or((0.0, 0), |mean| (mean, 1)),
            sides: self.sides,
            windows: self.windowed.finish(),
            sync: self.sync,
            commit: self.commit,
            series: self.counter.finish(now_ns),
            usage,
            elapsed_ns: now_ns.saturating_sub(self.began_ns),
            depths: self.depths,
            submits: self.submits,
            completes: self.completes,
            passed_over: self.passed_over,
        }
    }
}

impl Account {
    /// Adds another clone of the same group.
    pub(crate) fn merge(&mut self, other: Self) {
        for (side, more) in self.sides.iter_mut().zip(&other.sides) {
            side.merge(more);
        }
        for (own, more) in self.windows.iter_mut().zip(other.windows) {
            own.merge(more);
        }
        self.sync.merge(&other.sync);
        self.commit.merge(&other.commit);
        self.series.merge(other.series);
        self.usage += other.usage;
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        for (counts, more) in [
            (&mut self.depths, other.depths),
            (&mut self.submits, other.submits),
            (&mut self.completes, other.completes),
        ] {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
        self.passed_over += other.passed_over;
        self.in_flight.0 += other.in_flight.0;
        self.in_flight.1 += other.in_flight.1;
    }

    /// I/Os that a clone had in flight on average while it began more.
    pub(crate) fn in_flight(&self) -> Option<f64> {
        let (sum, clones) = self.in_flight;
        (clones > 0).then(|| sum / f64::from(clones))
    }

    pub(crate) fn done(&self) -> (DirectionReport, DirectionReport) {
        (self.sides[0].done(self.elapsed_ns), self.sides[1].done(self.elapsed_ns))
    }

    pub(crate) fn sync(&self) -> Option<disklab_sample::Latency> {
        (self.sync.count() > 0).then(|| self.sync.latency())
    }

    pub(crate) fn commit(&self) -> Option<disklab_sample::Latency> {
        (self.commit.count() > 0).then(|| self.commit.latency())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of 10 µs for a second and writes of 1 ms for three, as they end; then what
    /// a group of two such clones did.
    fn group() -> Account {
        let one = || {
            let began = 5_000_000_000;
            let mut tally = IoTally::new(0);
            // What the ramp does is forgotten.
            tally.call(false, 1, 0, 7);
            tally.restart(began);
            let mut now = began;
            while now < began + 1_000_000_000 {
                tally.call(false, 4096, now, now + 10_000);
                now += 10_000;
            }
            while now < began + 4_000_000_000 {
                tally.call(true, 512, now, now + 1_000_000);
                now += 1_000_000;
            }
            tally.finish(now)
        };
        let mut both = one();
        both.merge(one());
        both
    }

    #[test]
    fn windows_hold_all_and_parts_of_it() {
        let account = group();
        let (read, write) = account.done();
        let [reads, writes] = &account.windows;
        assert_eq!((reads.since(0).operations, reads.since(0).bytes), (200_000, read.bytes));
        assert_eq!((writes.since(0).operations, writes.since(0).bytes), (6000, write.bytes));
        // The second second, and what comes later.
        let mark = reads.mark(1_000_000_001).max(writes.mark(1_000_000_001));
        assert_eq!(reads.since(mark).operations, 0);
        let later = writes.since(mark);
        let expected = 2 * (4_000_000_000 - mark) / 1_000_000;
        assert!(later.operations.abs_diff(expected) <= 2, "{later:?} {expected}");
        assert_eq!(later.bytes, later.operations * 512);
        let median = later.histogram.quantile(0.5);
        assert!((0.996..1.004).contains(&(median as f64 / 1e6)), "{median}");
    }
}
