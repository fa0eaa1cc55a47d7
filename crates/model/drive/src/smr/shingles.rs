//! What a shingled drive decides: where data go, and when bands are cleaned.

use super::bands::{Band, Bands, Stretch};
use super::cache::PersistentCache;
use super::parameters::Parameters;
use super::streams::Streams;
use super::transaction::Transaction;
use crate::ShingledStatistics;
use crate::hdd::{SECTOR, WriteCache};

/// What the medium does next for the data that were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShingleStep {
    /// `start..end` go home, as part of a band that is written in sequence.
    Stream { start: u64, end: u64 },
    /// `start..end` go to the end of the log.
    Append { start: u64, end: u64 },
    /// The band is rewritten with what the log holds of it.
    Clean(Band),
    /// The map is written.
    FlushMap,
    /// Nothing before this time.
    Wait(u64),
}

/// How a band is cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cleaning {
    /// It is read, and written with the new data.
    Rewrite,
    /// All of it is new: it is only written.
    Overwrite,
    /// Its few small extents are written one by one, in so many ns.
    Small(u64),
}

/// Bands that are written in sequence at the same time. Inferred: what is known of the
/// drive does not tell; file systems write one to three streams.
const OPEN_BANDS: usize = 4;

/// A band that is written in sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenBand {
    /// Where it continues: its write pointer.
    next: u64,
    /// The sector behind its last.
    end: u64,
}

impl OpenBand {
    /// Whether a write that begins at `start`, at most `skip` behind the pointer, goes
    /// on with it.
    fn takes(&self, start: u64, skip: u64) -> bool {
        (self.next..self.end).contains(&start) && start - self.next <= skip
    }
}

/// The translation layer of a drive-managed shingled drive. It keeps the places of
/// all sectors and decides; the arm's way and the time belong to the disk. Sectors
/// are counted on the medium: the log comes first, then the bands.
#[derive(Debug, Clone)]
pub(crate) struct Shingles {
    pub(crate) bands: Bands,
    pub(crate) cache: PersistentCache,
    pub(crate) streams: Streams,
    pub(crate) transaction: Transaction,
    pub(crate) counts: ShingledStatistics,
    /// When the host was last heard of or answered.
    pub(crate) active: u64,
    /// How much of the write past the cache that is admitted next was passed on.
    pub(crate) passed: u64,
    /// The bands that are written in sequence, the one longest without a write first.
    open: Vec<OpenBand>,
    /// Where appending continues among the data that wait.
    sweep: u64,
    map_changes: u64,
    appended: u64,
    padding: u64,
    entries: u64,
    map_flush_every: u64,
    pub(crate) map_flush: u64,
    stream_after: u64,
    stream_skip: u64,
    stream_least: u64,
    patience: u64,
    pub(crate) cleaning_overhead: u64,
    small_extent: u64,
    small_cleaning: u64,
    pub(crate) idle_delay: u64,
    step: u64,
    physical: u64,
}

impl Shingles {
    /// A drive whose log is empty. `stretches` is its medium.
    pub(crate) fn new(parameters: &Parameters, stretches: &[Stretch]) -> Self {
        let log = parameters.log_size / SECTOR;
        let end = log + parameters.disk.capacity / SECTOR;
        Self {
            bands: Bands::new(stretches, parameters.band_tracks, log, end),
            cache: PersistentCache::new(log),
            streams: Streams::new(parameters.stream_skip / SECTOR),
            transaction: Transaction::new(&parameters.commit),
            counts: ShingledStatistics::default(),
            active: 0,
            passed: 0,
            open: Vec::with_capacity(OPEN_BANDS),
            sweep: 0,
            map_changes: 0,
            appended: u64::MAX,
            padding: parameters.log_padding / SECTOR,
            entries: parameters.map_entries,
            map_flush_every: parameters.map_flush_every,
            map_flush: parameters.map_flush,
            stream_after: parameters.stream_after / SECTOR,
            stream_skip: parameters.stream_skip / SECTOR,
            stream_least: parameters.stream_least / SECTOR,
            patience: parameters.disk.destage_age,
            cleaning_overhead: parameters.cleaning_overhead,
            small_extent: parameters.small_extent / SECTOR,
            small_cleaning: parameters.small_cleaning,
            idle_delay: parameters.idle_delay,
            step: parameters.disk.destage_step / SECTOR,
            physical: parameters.disk.sectors.physical() / SECTOR,
        }
    }

    /// Notes a write that was admitted; it came at `arrived`.
    pub(crate) fn note_write(&mut self, start: u64, end: u64, now: u64, arrived: u64) {
        self.streams.note(start, end, now);
        self.transaction.note_write(arrived);
    }

    /// What to do for the data in `writes`; `None` where there are none and nothing
    /// is due. Where somebody waits for them (`pressed`), or the run has paused, a short
    /// piece of a sequential run is not kept back until it has grown.
    pub(crate) fn plan(&self, now: u64, writes: &WriteCache, pressed: bool) -> Option<ShingleStep> {
        if self.map_changes >= self.map_flush_every {
            return Some(ShingleStep::FlushMap);
        }
        let (mut wait, mut kept) = (u64::MAX, 0..0);
        for (start, end) in writes.waiting_from(self.sweep) {
            if kept.contains(&start) {
                continue;
            }
            let Some((last, stop)) = self.goes_home(start) else {
                let band = self.bands.at(start);
                return Some(self.append_to_log(now, start, end.min(band.end)));
            };
            let (end, reach) = (end.min(stop), self.reach(writes, start, stop));
            if reach == stop || reach - start >= self.stream_least {
                return Some(ShingleStep::Stream { start, end: self.step_end(start, end) });
            }
            if pressed || last + self.patience <= now {
                return Some(self.append_to_log(now, start, end));
            }
            wait = wait.min(last + self.patience);
            kept = start..reach;
        }
        (wait < u64::MAX).then_some(ShingleStep::Wait(wait))
    }

    /// How far what waits from `start` on reaches without a hole too long for a run, up
    /// to `stop` at most.
    fn reach(&self, writes: &WriteCache, start: u64, stop: u64) -> u64 {
        let mut reach = start;
        for (next, end) in writes.waiting_from(start) {
            if next < start || next > reach.saturating_add(self.stream_skip) || reach >= stop {
                break;
            }
            reach = end;
        }
        reach.min(stop)
    }

    /// Whether what waits from `start` on may go home: when its run was last written to,
    /// and where its band ends. It must continue at the pointer of an open band, or open one
    /// at its beginning.
    fn goes_home(&self, start: u64) -> Option<(u64, u64)> {
        let last = self.streaming(start)?;
        if let Some(open) = self.open_at(start) {
            return Some((last, open.end));
        }
        let band = self.bands.at(start);
        (start >= band.start && start - band.start <= self.stream_skip).then_some((last, band.end))
    }

    fn open_at(&self, start: u64) -> Option<&OpenBand> {
        self.open.iter().find(|open| open.takes(start, self.stream_skip))
    }

    fn append_to_log(&self, now: u64, start: u64, end: u64) -> ShingleStep {
        let end = self.step_end(start, end).min(start + self.cache.until_revolution());
        let (first, last) = self.whole(start, end);
        // An extent in the middle of another makes three of one.
        let full = self.cache.room() < last - first + self.padding
            || self.cache.entries() + 2 > self.entries;
        if full && let Some(home) = self.cache.oldest() {
            return ShingleStep::Clean(self.bands.at(home));
        }
        if now < self.transaction.ready() {
            return ShingleStep::Wait(self.transaction.ready());
        }
        ShingleStep::Append { start, end }
    }

    /// The end of a step of the destage that begins at `start`.
    fn step_end(&self, start: u64, end: u64) -> u64 {
        let last = start + self.step;
        let last = last - last % self.physical;
        if last <= start { end } else { last.min(end) }
    }

    /// `start..end` and the rest of the physical sectors that it cuts.
    pub(crate) fn whole(&self, start: u64, end: u64) -> (u64, u64) {
        (start - start % self.physical, end.next_multiple_of(self.physical))
    }

    /// When the sequential run that holds `sector`, if it is long enough to go
    /// straight to its bands, was last written to.
    fn streaming(&self, sector: u64) -> Option<u64> {
        let run = self.streams.run(sector)?;
        (run.end - run.start > self.stream_after).then_some(run.last)
    }

    /// Where a step home that has data from `start` on must begin, so that nothing of the
    /// band before them is left unwritten.
    pub(crate) fn home_from(&self, start: u64) -> u64 {
        self.open_at(start).map_or(self.bands.at(start).start.min(start), |open| open.next)
    }

    /// Notes that a step home begins.
    pub(crate) fn begin_stream(&mut self, start: u64, end: u64) {
        let band = self.bands.at(start);
        self.close(band);
        if end < band.end {
            if self.open.len() >= OPEN_BANDS {
                self.open.remove(0);
            }
            self.open.push(OpenBand { next: end, end: band.end });
        } else {
            self.counts.bands_streamed += 1;
        }
        self.cache.remove(start, end);
        self.sweep = end;
    }

    /// Notes that a step to the log begins. Gives the log's sector on the medium.
    pub(crate) fn begin_append(&mut self, now: u64, start: u64, end: u64) -> u64 {
        let (first, last) = self.whole(start, end);
        // The pointer cannot pass what went to the log.
        self.open.retain(|open| !(first..last).contains(&open.next));
        let place = self.cache.next_sector();
        self.cache.append(first, last, self.bands.at(first).start != first);
        self.map_changes += u64::from(first != self.appended);
        self.appended = last;
        self.sweep = end;
        self.transaction.grow(now, last - first);
        place
    }

    /// Where writing the map begins: it lies with the log.
    pub(crate) fn begin_map_flush(&mut self) -> u64 {
        self.map_changes = 0;
        self.counts.map_flushes += 1;
        self.cache.next_sector()
    }

    /// Ends the transaction, if there is one. Gives when it is committed.
    pub(crate) fn commit(&mut self) -> u64 {
        if self.transaction.close() {
            self.cache.pad(self.padding);
        }
        self.transaction.ready()
    }

    /// How a band would be cleaned, if rewriting it takes `rewrite` ns.
    pub(crate) fn cleaning(&self, band: Band, rewrite: u64) -> Cleaning {
        let (mut extents, mut sectors, mut largest) = (0, 0, 0);
        for length in self.cache.lengths(band.start, band.end) {
            extents += 1;
            sectors += length;
            largest = largest.max(length);
        }
        let small = self.small_cleaning.saturating_mul(extents);
        if sectors >= band.sectors() {
            Cleaning::Overwrite
        } else if largest <= self.small_extent && small < rewrite {
            Cleaning::Small(small)
        } else {
            Cleaning::Rewrite
        }
    }

    /// Notes that a band is clean.
    pub(crate) fn cleaned(&mut self, band: Band, how: Cleaning) {
        self.counts.bands_cleaned += 1;
        match how {
            Cleaning::Rewrite => {}
            Cleaning::Overwrite => self.counts.bands_overwritten += 1,
            Cleaning::Small(_) => self.counts.bands_patched += 1,
        }
        self.cache.remove(band.start, band.end);
        self.close(band);
    }

    fn close(&mut self, band: Band) {
        self.open.retain(|open| open.end != band.end);
    }

    /// The band that would be cleaned next.
    pub(crate) fn oldest(&self) -> Option<Band> {
        self.cache.oldest().map(|home| self.bands.at(home))
    }

    /// What was counted, and what the log holds now.
    pub(crate) fn statistics(&self) -> ShingledStatistics {
        ShingledStatistics {
            cached_bytes: self.cache.cached() * SECTOR,
            cached_extents: self.cache.entries(),
            ..self.counts
        }
    }
}
