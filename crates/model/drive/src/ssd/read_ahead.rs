//! Reading ahead of a sequential reader: what it will ask for next leaves the flash before it
//! asks, so that a single request at a time keeps more than its own dies at work.

use std::collections::{HashMap, VecDeque};

/// Readers that are followed at a time.
const READERS: usize = 8;
/// Requests that must have followed each other before anything is read ahead. Some do so by
/// chance within a small range, or are a test's pairs of neighbours: these are no reader.
const FOLLOWED: u32 = 5;

/// A reader, which would continue at byte `next`.
#[derive(Debug, Clone, Copy, Default)]
struct Reader {
    next: u64,
    /// Up to where was read for it.
    ahead: u64,
    requests: u32,
    used: u64,
}

/// Sequential readers, and the pages that were read for them.
#[derive(Debug, Clone)]
pub(crate) struct Prefetch {
    bytes: u64,
    most_pages: usize,
    readers: [Reader; READERS],
    clock: u64,
    /// When a page that was read ahead has left the flash.
    ready: HashMap<u32, u64>,
    order: VecDeque<u32>,
}

impl Prefetch {
    /// Reads `bytes` ahead of each reader, in pages of `page` bytes; nothing if 0.
    pub(crate) fn new(bytes: u64, page: u64) -> Self {
        let most_pages = READERS * 4 * (bytes.div_ceil(page.max(1)) as usize + 1);
        let (readers, ready) = (<[Reader; READERS]>::default(), HashMap::new());
        Self { bytes, most_pages, readers, clock: 0, ready, order: VecDeque::new() }
    }

    /// Notes a read of bytes `begin..end`; gives the bytes to read ahead of it, if it continues
    /// a reader.
    pub(crate) fn follow(&mut self, begin: u64, end: u64) -> Option<(u64, u64)> {
        if self.bytes == 0 {
            return None;
        }
        self.clock += 1;
        let known = self.readers.iter_mut().find(|r| r.requests > 0 && r.next == begin);
        let Some(reader) = known else {
            let oldest = self.readers.iter_mut().min_by_key(|reader| reader.used)?;
            *oldest = Reader { next: end, ahead: end, requests: 1, used: self.clock };
            return None;
        };
        reader.requests = reader.requests.saturating_add(1);
        (reader.next, reader.used) = (end, self.clock);
        if reader.requests < FOLLOWED {
            return None;
        }
        let from = reader.ahead.max(end);
        // Many pages at a time, of which small requests would cut each.
        if from - end > self.bytes / 2 {
            return None;
        }
        reader.ahead = end + self.bytes;
        Some((from, reader.ahead))
    }

    /// When a page that was read ahead has left the flash; `None` if it was not.
    pub(crate) fn ready(&self, page: u32) -> Option<u64> {
        self.ready.get(&page).copied()
    }

    /// Notes that a page was read ahead.
    pub(crate) fn enter(&mut self, page: u32, ready: u64) {
        if self.ready.insert(page, ready).is_none() {
            self.order.push_back(page);
        }
        while self.order.len() > self.most_pages {
            if let Some(oldest) = self.order.pop_front() {
                self.ready.remove(&oldest);
            }
        }
    }

    /// Forgets what was read: pages are erased, and hold other data later.
    pub(crate) fn forget(&mut self) {
        self.ready.clear();
        self.order.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifth_in_sequence_is_read_ahead_of() {
        let mut ahead = Prefetch::new(1000, 100);
        for begin in [0, 50, 100, 150] {
            assert_eq!(ahead.follow(begin, begin + 50), None);
        }
        assert_eq!(ahead.follow(200, 300), Some((300, 1300)));
        // Another reader in between.
        assert_eq!(ahead.follow(90_000, 90_100), None);
        assert_eq!(ahead.follow(300, 400), None, "more than half is left");
        assert_eq!(ahead.follow(400, 800), Some((1300, 1800)), "only what is new");
        assert_eq!(Prefetch::new(0, 100).follow(0, 100), None);
    }

    #[test]
    fn random_reads_trigger_no_read_ahead() {
        let mut ahead = Prefetch::new(1000, 100);
        for n in 0..100 {
            let at = n * 7919 % 1000 * 4096;
            assert_eq!(ahead.follow(at, at + 4096), None);
        }
    }

    #[test]
    fn pages_are_remembered_until_there_are_too_many() {
        let mut ahead = Prefetch::new(100, 100);
        let most = ahead.most_pages as u32;
        for page in 0..=most {
            ahead.enter(page, u64::from(page));
        }
        assert_eq!((ahead.ready(0), ahead.ready(1)), (None, Some(1)));
        ahead.forget();
        assert_eq!(ahead.ready(most), None);
    }
}
