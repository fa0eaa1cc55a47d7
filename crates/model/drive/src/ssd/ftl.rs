//! The flash translation layer: what lies where, without times.

use std::collections::VecDeque;

use super::layout::Layout;
use super::map::Map;
use super::ranks::Ranks;

/// Something that the flash has to do, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Read so many units of a page, to write them elsewhere.
    Read {
        page: u32,
        units: u32,
        cached: bool,
    },
    /// Program a page, of which so many units came from the host.
    Program {
        page: u32,
        stream: Stream,
        host_units: u32,
    },
    Erase {
        line: u32,
    },
}

/// Where data come from, each of which fills a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The host, past the SLC cache.
    Host,
    /// The host, into the SLC cache.
    Cache,
    /// The flash itself.
    Copy,
}

/// What was written to the flash, in units of the map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wear {
    /// Units that the host wrote.
    pub host: u64,
    /// Units that were copied, to empty a line or the SLC cache.
    pub copied: u64,
    /// Units that were left empty, because a flush could not wait until their page
    /// was full.
    pub padded: u64,
}

impl Wear {
    /// Units programmed for each that the host wrote; 1 before it wrote any.
    pub fn write_amplification(&self) -> f64 {
        if self.host == 0 {
            return 1.0;
        }
        (self.host + self.copied + self.padded) as f64 / self.host as f64
    }

    /// What was written since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host: self.host - earlier.host,
            copied: self.copied - earlier.copied,
            padded: self.padded - earlier.padded,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Free,
    Open,
    /// Full, and ranked.
    Closed,
    /// Full, and being emptied.
    Leaving,
}

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) state: State,
    /// Whether it is in use with one bit for each cell.
    pub(super) cached: bool,
    /// Units of it that are mapped.
    pub(super) valid: u32,
    /// Pages that were programmed or left empty since it was erased.
    pub(super) pages: u32,
    /// Which opening of a line this was.
    pub(super) opened: u64,
    /// By offset, the host's units that were written there.
    pub(super) owners: Map,
}

/// A line that is being filled, and how far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frontier {
    pub(super) line: u32,
    /// The next unit in the line.
    pub(super) offset: u32,
    /// Units of the page that is being filled that came from the host.
    host_units: u32,
}

/// A line that is being emptied, page by page.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReclaimJob {
    pub(super) line: u32,
    /// The next page to look at.
    pub(super) page: u32,
    /// Units that were in use when it began: what it costs at most.
    pub(super) cost: u32,
    /// Units that are won: those of an empty line less the cost.
    pub(super) gain: u32,
    /// What the host's writes have paid for, in units × gain.
    pub(super) paid: i64,
}

/// Maps the host's units to places on the flash, and reclaims lines: greedily, those
/// with the fewest units in use first, at the pace at which the host writes.
#[derive(Debug, Clone)]
pub(crate) struct Ftl {
    pub(super) layout: Layout,
    pub(super) map: Map,
    pub(super) lines: Vec<Line>,
    pub(super) free: VecDeque<u32>,
    pub(super) ranks: Ranks,
    pub(super) frontiers: [Option<Frontier>; 3],
    /// The line that is being emptied because free ones are few.
    pub(super) reclaim: Option<ReclaimJob>,
    /// The line of the SLC cache that is being folded.
    pub(super) fold: Option<ReclaimJob>,
    /// Full lines of the SLC cache, oldest first, with their opening.
    pub(super) cached: VecDeque<(u32, u64)>,
    /// Lines of the SLC cache, full or not.
    pub(super) cache_lines: u32,
    /// Whether the SLC cache was full, and the host has not been quiet since.
    pub(super) cache_full: bool,
    /// Units to be folded for each unit of the host while the cache is full, and
    /// how many of them are due.
    pub(super) fold_ratio: f64,
    pub(super) fold_due: f64,
    openings: u64,
    pub(super) work: Vec<Work>,
    pub(super) wear: Wear,
}

impl Ftl {
    /// An erased flash. `fold_share` is the part of all programming that folds the
    /// SLC cache while it is full, from 0 up to but not 1.
    pub(crate) fn new(layout: Layout, fold_share: f64) -> Self {
        debug_assert!(layout.is_sound(), "{layout:?}");
        let line = || Line {
            state: State::Free,
            cached: false,
            valid: 0,
            pages: 0,
            opened: 0,
            owners: Map::new(0),
        };
        Self {
            map: Map::new(layout.units),
            lines: (0..layout.lines).map(|_| line()).collect(),
            free: (0..layout.lines).collect(),
            ranks: Ranks::new(layout.lines, layout.line_units()),
            frontiers: [None; 3],
            reclaim: None,
            fold: None,
            cached: VecDeque::new(),
            cache_lines: 0,
            cache_full: false,
            fold_ratio: fold_share / (1.0 - fold_share),
            fold_due: 0.0,
            openings: 0,
            work: Vec::new(),
            wear: Wear::default(),
            layout,
        }
    }

    /// What was written so far.
    pub(crate) fn wear(&self) -> Wear {
        self.wear
    }

    /// Where a unit lies, and how many from it on, of at most `most`, lie behind it
    /// on the same page; or how many have no place.
    pub(crate) fn locate(&self, unit: u32, most: u32) -> (Option<u32>, u32) {
        match self.map.span(unit, most) {
            (Some(place), length) => {
                let rest = self.layout.page_units - place % self.layout.page_units;
                (Some(place), length.min(rest))
            }
            nowhere => nowhere,
        }
    }

    pub(super) fn open(&mut self, stream: Stream) {
        // There is one: FREE_LINES and SPARE_LINES see to it.
        let Some(line) = self.free.pop_front() else { return };
        self.openings += 1;
        let cached = stream == Stream::Cache;
        self.cache_lines += u32::from(cached);
        self.lines[line as usize] = Line {
            state: State::Open,
            cached,
            valid: 0,
            pages: 0,
            opened: self.openings,
            owners: Map::new(self.layout.line_units()),
        };
        self.frontiers[stream as usize] = Some(Frontier { line, offset: 0, host_units: 0 });
    }

    /// Puts units where the stream's line is filled, all of them on one page, and
    /// lets go of where they were.
    pub(super) fn append(&mut self, stream: Stream, unit: u32, count: u32) {
        if self.frontiers[stream as usize].is_none() {
            self.open(stream);
        }
        let Some(mut frontier) = self.frontiers[stream as usize] else { return };
        self.release(unit, count);
        let place = frontier.line * self.layout.line_units() + frontier.offset;
        self.map.set(unit, count, place);
        let line = &mut self.lines[frontier.line as usize];
        line.owners.set(frontier.offset, count, unit);
        line.valid += count;
        frontier.offset += count;
        if stream != Stream::Copy {
            frontier.host_units += count;
        }
        self.frontiers[stream as usize] = Some(frontier);
        if frontier.offset.is_multiple_of(self.layout.page_units) {
            self.end_page(stream, frontier);
        }
    }

    /// Has the page programmed that ends where the frontier stands.
    fn end_page(&mut self, stream: Stream, frontier: Frontier) {
        let Frontier { line, offset, host_units } = frontier;
        let pages = offset / self.layout.page_units;
        let page = line * self.layout.line_pages + pages - 1;
        self.work.push(Work::Program { page, stream, host_units });
        self.lines[line as usize].pages = pages;
        let cached = stream == Stream::Cache;
        let full = if cached { self.layout.cache_line_pages } else { self.layout.line_pages };
        self.frontiers[stream as usize] =
            (pages < full).then_some(Frontier { line, offset, host_units: 0 });
        if pages == full {
            self.close(line);
        }
    }

    pub(super) fn close(&mut self, line: u32) {
        let closed = &mut self.lines[line as usize];
        closed.state = State::Closed;
        self.ranks.insert(line, closed.valid);
        if closed.cached {
            self.cached.push_back((line, closed.opened));
        }
    }

    /// Fills up and programs the pages that the host's data wait in.
    pub(crate) fn pad(&mut self) {
        for stream in [Stream::Host, Stream::Cache] {
            let page = self.layout.page_units;
            if let Some(mut frontier) = self.frontiers[stream as usize]
                && !frontier.offset.is_multiple_of(page)
            {
                let whole = frontier.offset.next_multiple_of(page);
                self.wear.padded += u64::from(whole - frontier.offset);
                frontier.offset = whole;
                self.end_page(stream, frontier);
            }
        }
    }

    /// Whether a page is still being filled.
    pub(crate) fn is_open(&self, page: u32) -> bool {
        self.frontiers.iter().flatten().any(|frontier| {
            let place = frontier.line * self.layout.line_units() + frontier.offset;
            !frontier.offset.is_multiple_of(self.layout.page_units)
                && self.layout.page_of(place) == page
        })
    }

    /// The host's units that a page holds and that were not written elsewhere since.
    pub(crate) fn owners(&self, page: u32) -> impl Iterator<Item = u32> {
        let units = self.layout.page_units;
        let line = &self.lines[(page / self.layout.line_pages) as usize];
        let first = page % self.layout.line_pages * units;
        // A page may be left and erased before its programming is seen to.
        let units = if line.state == State::Free { 0 } else { units };
        (0..units).filter_map(move |at| {
            let unit = line.owners.get(first + at)?;
            (self.map.get(unit) == Some(page * self.layout.page_units + at)).then_some(unit)
        })
    }

    /// Whether a page belongs to the SLC cache.
    pub(crate) fn is_cached(&self, page: u32) -> bool {
        self.lines[(page / self.layout.line_pages) as usize].cached
    }

    /// Forgets units: they have no place any more.
    pub(crate) fn discard(&mut self, unit: u32, count: u32) {
        self.release(unit, count);
        self.map.clear(unit, count);
    }

    /// Takes units off the counts of the lines that hold them.
    fn release(&mut self, unit: u32, count: u32) {
        let mut done = 0;
        while done < count {
            let (place, length) = self.map.span(unit + done, count - done);
            done += length;
            let Some(mut place) = place else { continue };
            let end = place + length;
            while place < end {
                let line = self.layout.line_of(place);
                let next = end.min((line + 1) * self.layout.line_units());
                let holder = &mut self.lines[line as usize];
                holder.valid -= next - place;
                if holder.state == State::Closed {
                    self.ranks.change(line, holder.valid);
                }
                place = next;
            }
        }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory(&self) -> u64 {
        let lines: u64 = self.lines.iter().map(|line| line.owners.memory()).sum();
        let each = (self.lines.capacity() * size_of::<Line>()) as u64;
        self.map.memory() + self.ranks.memory() + each + lines
    }
}
