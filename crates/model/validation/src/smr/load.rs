//! What a shingled drive's figures are measured with: loads in virtual time, as a
//! host would make them. Pure; the same drive gives the same figures.

use disklab_content::next_splitmix64;
use disklab_drive::hdd::HardDisk;
use disklab_drive::smr::Parameters;
use disklab_drive::{Completion, Drive, Nanos, Operation, Request, ShingledStatistics};
use disklab_stats::median;

/// Bytes of a sector, in which requests count.
const SECTOR: u64 = 512;

/// The requests into which the host's kernel cuts a long write: 512 KiB, which is
/// what drives of that time announced (`max_sectors_kb` of Linux before 4.2).
const REQUEST: u64 = 512 << 10;

/// The chunk sizes at which the drive was measured and published, B.
pub const CHUNKS: [u64; 7] = [1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20];

/// Where a chunk of a load goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Places {
    /// To a random multiple of its size, anywhere on the drive, by this seed.
    Random(u64),
    /// Behind the chunk before it, from the drive's beginning on.
    Sequential,
}

/// A part of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Bytes written when it was over.
    pub written: u64,
    /// When it was over, ns.
    pub at: u64,
    /// Its rate, B/s.
    pub rate: f64,
}

/// A load of synchronous chunks, and what the persistent cache made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cliff {
    /// Size of a chunk, B.
    pub chunk: u64,
    /// The load in windows of equal size.
    pub windows: Vec<Window>,
    /// What had been written when the rate broke in, B; `None` where it never did.
    pub at: Option<u64>,
    /// Mean time of a chunk before that, ns.
    pub before: f64,
    /// Mean rate after that, B/s; the same as before where it never broke in.
    pub after: f64,
    /// What the drive counted.
    pub counts: ShingledStatistics,
}

/// A host with one drive, and what time it is.
#[derive(Debug)]
pub struct Host {
    /// Its state follows from all requests so far.
    pub drive: HardDisk,
    /// Virtual time, ns.
    pub now: u64,
    done: Vec<Completion>,
}

impl Host {
    /// A host with a fresh drive.
    pub fn new(parameters: &Parameters, seed: u64) -> Self {
        Self { drive: HardDisk::shingled(parameters, seed), now: 0, done: Vec::new() }
    }

    /// Carries out one operation over `bytes` from `from` on, in the requests that a
    /// kernel would make of it, all at once; gives the time it took, ns.
    pub fn carry_out(&mut self, operation: Operation, from: u64, bytes: u64) -> u64 {
        let begun = self.now;
        let (mut offset, mut left) = (0, 0);
        while offset < bytes || left == 0 {
            let length = REQUEST.min(bytes - offset);
            let request = Request {
                id: left,
                operation,
                sector: (from + offset) / SECTOR,
                sectors: length / SECTOR,
            };
            self.drive.submit(Nanos(self.now), request);
            offset += length;
            left += 1;
        }
        while left > 0 {
            // Requests are outstanding, so something will happen.
            let Some(next) = self.drive.next_event() else { break };
            self.drive.advance(next, &mut self.done);
            for completion in self.done.drain(..) {
                self.now = self.now.max(completion.at.0);
                left -= 1;
            }
        }
        self.now - begun
    }

    /// Writes a chunk as with `O_SYNC`: its data, then a flush. Gives the time, ns.
    pub fn write_synchronously(&mut self, from: u64, bytes: u64) -> u64 {
        self.carry_out(Operation::Write, from, bytes) + self.carry_out(Operation::Flush, 0, 0)
    }

    /// Lets time go by.
    pub fn rest(&mut self, time: u64) {
        self.now += time;
        self.drive.advance(Nanos(self.now), &mut self.done);
        self.done.clear();
    }
}

/// Writes `total` bytes in chunks, each with a flush behind it (`O_SYNC` on the raw
/// device), one after the other, on a fresh drive.
pub fn cliff(parameters: &Parameters, chunk: u64, total: u64, places: Places) -> Cliff {
    let mut host = Host::new(parameters, 1);
    let room = (parameters.disk.visible / chunk).max(1);
    let mut state = match places {
        Places::Random(seed) => seed,
        Places::Sequential => 0,
    };
    let count = total / chunk;
    let per_window = (count / 160).max(1);
    let mut windows: Vec<Window> = Vec::new();
    let (mut begun, mut first) = (0, 0);
    for number in 0..count {
        let place = match places {
            Places::Random(_) => next_splitmix64(&mut state) % room,
            Places::Sequential => number % room,
        };
        host.write_synchronously(place * chunk, chunk);
        if (number + 1) % per_window == 0 {
            let bytes = (number + 1 - first) * chunk;
            let rate = bytes as f64 * 1e9 / (host.now - begun).max(1) as f64;
            windows.push(Window { written: (number + 1) * chunk, at: host.now, rate });
            (begun, first) = (host.now, number + 1);
        }
    }
    summary(chunk, windows, host.drive.statistics().shingled)
}

/// Finds where the rate broke in: there the windows before and those behind are each
/// most alike (least squares of the time that a byte takes), and their medians differ
/// by a tenth at least. (One window in which the map was written is no cliff.)
fn summary(chunk: u64, windows: Vec<Window>, counts: ShingledStatistics) -> Cliff {
    let times: Vec<f64> = windows.iter().map(|window| 1e9 / window.rate).collect();
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let spread = |part: &[f64]| {
        let mean = mean(part);
        part.iter().map(|time| (time - mean).powi(2)).sum::<f64>()
    };
    let error = |cut: usize| spread(&times[..cut]) + spread(&times[cut..]);
    let cut = (1..times.len()).min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(0);
    let (before, after) = times.split_at(cut);
    let middle = |part: &[f64]| median(part).unwrap_or(0.0);
    let breaks = cut > 0 && middle(after) > 1.1 * middle(before);
    let (before, after) = if breaks { (before, after) } else { (&times[..], &times[..]) };
    Cliff {
        chunk,
        at: breaks.then(|| windows[cut - 1].written),
        before: mean(before) * chunk as f64,
        after: 1e9 / mean(after),
        windows,
        counts,
    }
}

/// A sequential write of `total` bytes without a flush, `depth` requests at a time,
/// from the drive's beginning on: the rates in windows of 1 GiB.
pub fn sequential(parameters: &Parameters, total: u64, depth: u64) -> (Vec<Window>, Host) {
    let mut host = Host::new(parameters, 1);
    let (mut windows, mut begun, mut written, mut next): (Vec<Window>, _, _, _) =
        (Vec::new(), 0, 0, 0);
    let (count, sectors) = (total / REQUEST, REQUEST / SECTOR);
    let request =
        |id: u64| Request { id, operation: Operation::Write, sector: id * sectors, sectors };
    while next < depth.min(count) {
        host.drive.submit(Nanos(0), request(next));
        next += 1;
    }
    while let Some(event) = host.drive.next_event().filter(|_| written < count * REQUEST) {
        host.drive.advance(event, &mut host.done);
        for completion in std::mem::take(&mut host.done) {
            host.now = host.now.max(completion.at.0);
            written += REQUEST;
            if next < count {
                host.drive.submit(completion.at, request(next));
                next += 1;
            }
            if written % (1 << 30) == 0 {
                let rate = (1u64 << 30) as f64 * 1e9 / (host.now - begun).max(1) as f64;
                windows.push(Window { written, at: host.now, rate });
                begun = host.now;
            }
        }
    }
    (windows, host)
}

/// Random writes of `bytes` each, one after the other, each with a flush behind it
/// where they are `synchronous`: operations per second, over `count` of them that
/// follow when the persistent cache is full of such writes.
pub fn small_writes_when_full(
    parameters: &Parameters,
    bytes: u64,
    count: u64,
    synchronous: bool,
) -> f64 {
    let mut host = Host::new(parameters, 1);
    let (mut state, places) = (7, (parameters.disk.visible / bytes).max(1));
    let mut write = |host: &mut Host| {
        host.carry_out(Operation::Write, next_splitmix64(&mut state) % places * bytes, bytes);
        if synchronous {
            host.carry_out(Operation::Flush, 0, 0);
        }
    };
    while host.drive.statistics().shingled.bands_cleaned == 0 {
        write(&mut host);
    }
    let begun = host.now;
    (0..count).for_each(|_| write(&mut host));
    count as f64 * 1e9 / (host.now - begun).max(1) as f64
}
