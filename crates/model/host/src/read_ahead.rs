//! What Linux reads ahead of a file's readers.
//!
//! After `ondemand_readahead` of mm/readahead.c (Linux 2.6.23 to 6.x; Wu Fengguang,
//! 'On the design of a new Linux readahead framework', 2008). The state is that of an
//! open file. QEMU opens an image once: all that a guest does shares one state, and
//! streams side by side are told apart only by what is cached before each
//! ('context read-ahead', since 2.6.31).

/// Pages that are to be read, as far as they are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadAheadWindow {
    /// The first page.
    pub start: u64,
    /// How many.
    pub pages: u64,
    /// The page at whose reading the next window is read, where there is one.
    pub marker: Option<u64>,
}

/// The read-ahead of an open file, in pages.
#[derive(Debug, Clone)]
pub(crate) struct ReadAhead {
    max: u64,
    start: u64,
    size: u64,
    async_size: u64,
    /// The page that was read last.
    previous: Option<u64>,
}

impl ReadAhead {
    /// A file just opened, of which at most `max` pages are read ahead at a time.
    pub fn new(max: u64) -> Self {
        Self { max, start: 0, size: 0, async_size: 0, previous: None }
    }

    /// `page` was read last.
    pub fn read(&mut self, page: u64) {
        self.previous = Some(page);
    }

    /// What to read where `page` is missing, of which and whose followers `wanted` are
    /// asked for.
    pub fn on_miss(
        &mut self,
        page: u64,
        wanted: u64,
        holds: impl Fn(u64) -> bool,
    ) -> ReadAheadWindow {
        if self.max == 0 {
            return ReadAheadWindow { start: page, pages: 1, marker: None };
        }
        if page == 0 {
            return self.begin(page, wanted);
        }
        if self.continues(page) {
            return self.next(page);
        }
        let follows = self.previous.is_some_and(|last| page.wrapping_sub(last) <= 1);
        if wanted > self.max || follows {
            return self.begin(page, wanted);
        }
        // As many pages before it are cached as a stream would have left: more than are
        // wanted now (mm/readahead.c since 3.12; before, one was enough).
        let history = (1..=self.max.min(page)).take_while(|back| holds(page - back)).count() as u64;
        if history > wanted {
            // A history that reaches the beginning says that all of it was read.
            let history = if history >= page { history * 2 } else { history };
            self.start = page;
            self.size = (history + wanted).min(self.max);
            self.async_size = 1;
            return self.submit(page);
        }
        ReadAheadWindow { start: page, pages: wanted, marker: None }
    }

    /// What to read where `page`, a marker, is read.
    pub fn on_marker(
        &mut self,
        page: u64,
        wanted: u64,
        holds: impl Fn(u64) -> bool,
    ) -> Option<ReadAheadWindow> {
        if self.max == 0 {
            return None;
        }
        if self.continues(page) {
            return Some(self.next(page));
        }
        // Another stream's: the state is made up from where its pages end.
        let hole = (page + 1..page + 1 + self.max).find(|next| !holds(*next))?;
        self.start = hole;
        self.size = self.following(hole - page + wanted);
        self.async_size = self.size;
        Some(self.submit(page))
    }

    fn continues(&self, page: u64) -> bool {
        let end = self.start + self.size;
        self.size > 0 && (page == end || page == end - self.async_size)
    }

    fn begin(&mut self, page: u64, wanted: u64) -> ReadAheadWindow {
        self.start = page;
        self.size = self.initial(wanted);
        self.async_size = if self.size > wanted { self.size - wanted } else { self.size };
        self.submit(page)
    }

    fn next(&mut self, page: u64) -> ReadAheadWindow {
        self.start += self.size;
        self.size = self.following(self.size);
        self.async_size = self.size;
        self.submit(page)
    }

    fn submit(&mut self, page: u64) -> ReadAheadWindow {
        // A marker in the first page would be reached at once: both windows are read now.
        if page == self.start && self.size == self.async_size {
            let more = self.following(self.size);
            if self.size + more <= self.max {
                self.async_size = more;
                self.size += more;
            } else {
                self.size = self.max;
                self.async_size = self.max / 2;
            }
        }
        let marker = self.start + self.size - self.async_size;
        let marker = (self.async_size > 0).then_some(marker);
        ReadAheadWindow { start: self.start, pages: self.size, marker }
    }

    /// `get_init_ra_size`: four times what is asked for, twice where that is much.
    fn initial(&self, wanted: u64) -> u64 {
        let size = wanted.max(1).next_power_of_two();
        match size {
            _ if size <= self.max / 32 => size * 4,
            _ if size <= self.max / 4 => size * 2,
            _ => self.max,
        }
    }

    /// `get_next_ra_size`: twice the last, four times where that was little.
    fn following(&self, size: u64) -> u64 {
        let factor = if size < self.max / 16 { 4 } else { 2 };
        (size.saturating_mul(factor)).clamp(1, self.max)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A file's reader and what is cached of it.
    struct Reader {
        ahead: ReadAhead,
        cached: BTreeSet<u64>,
        markers: BTreeSet<u64>,
        windows: Vec<(u64, u64)>,
    }

    impl Reader {
        fn new(max: u64) -> Self {
            let (cached, markers) = (BTreeSet::new(), BTreeSet::new());
            Self { ahead: ReadAhead::new(max), cached, markers, windows: Vec::new() }
        }

        fn enter(&mut self, window: ReadAheadWindow) {
            self.windows.push((window.start, window.pages));
            let new = |page: &u64| !self.cached.contains(page);
            if let Some(marker) = window.marker.filter(new) {
                self.markers.insert(marker);
            }
            self.cached.extend(window.start..window.start + window.pages);
        }

        fn read(&mut self, start: u64, pages: u64) {
            for page in start..start + pages {
                let wanted = start + pages - page;
                let cached = self.cached.clone();
                if !cached.contains(&page) {
                    let window = self.ahead.on_miss(page, wanted, |p| cached.contains(&p));
                    self.enter(window);
                }
                if self.markers.remove(&page) {
                    let cached = self.cached.clone();
                    if let Some(window) =
                        self.ahead.on_marker(page, wanted, |p| cached.contains(&p))
                    {
                        self.enter(window);
                    }
                }
            }
            self.ahead.read(start + pages - 1);
        }
    }

    #[test]
    fn a_stream_has_windows_that_double_up_to_the_limit() {
        let mut reader = Reader::new(32);
        (0..200).for_each(|page| reader.read(page, 1));
        // 16 KiB, then 32, 64, 128 KiB and on.
        assert_eq!(reader.windows[..5], [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32)]);
    }

    #[test]
    fn random_reads_read_what_is_asked_for() {
        let mut reader = Reader::new(32);
        for page in [500, 70, 9000, 333, 4000] {
            reader.read(page, 2);
        }
        assert_eq!(reader.windows, [(500, 2), (70, 2), (9000, 2), (333, 2), (4000, 2)]);
    }

    #[test]
    fn streams_side_by_side_are_distinguished() {
        let mut reader = Reader::new(32);
        for page in 0..300 {
            for stream in 1..4 {
                reader.read(stream * 100_000 + page, 1);
            }
        }
        let long = reader.windows.iter().filter(|(_, pages)| *pages == 32).count();
        assert!(long >= 3 * 7, "{:?}", reader.windows);
    }

    #[test]
    fn without_read_ahead_pages_are_read_one_by_one() {
        let mut reader = Reader::new(0);
        reader.read(10, 3);
        assert_eq!(reader.windows, [(10, 1), (11, 1), (12, 1)]);
    }

    proptest! {
        #[test]
        fn windows_are_never_empty_and_never_larger_than_the_limit_or_the_request(
            max in 0..600_u64,
            reads in prop::collection::vec((0..5000_u64, 1..40_u64), 1..60),
        ) {
            let mut reader = Reader::new(max);
            for (start, pages) in reads {
                reader.read(start, pages);
                for (_, size) in reader.windows.drain(..) {
                    prop_assert!(size >= 1 && size <= max.max(pages));
                }
            }
        }
    }
}
