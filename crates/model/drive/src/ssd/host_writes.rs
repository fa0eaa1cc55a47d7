//! Writes of the host, and what reclaiming and folding each of them calls for.

use super::ftl::{Ftl, Stream};
use super::layout::FREE_LINES;

impl Ftl {
    /// Writes units of the host from `unit` on, as many of `most` as the page holds
    /// that is being filled; gives how many these are, and the stream they went to.
    pub(crate) fn write(&mut self, unit: u32, most: u32) -> (u32, Stream) {
        let stream = self.host_stream();
        let room = self.room(stream);
        let count = most.min(room);
        self.keep_up(count, stream);
        self.append(stream, unit, count);
        self.wear.host += u64::from(count);
        (count, stream)
    }

    /// The stream that the host writes to now, whose line is open.
    fn host_stream(&mut self) -> Stream {
        if self.layout.cache_lines == 0 {
            return self.opened(Stream::Host);
        }
        if self.frontiers[Stream::Cache as usize].is_some() {
            return Stream::Cache;
        }
        // Folding needs free lines too, and a nearly full drive has few.
        let spare = self.free.len() as u32 > 2 * FREE_LINES;
        if !self.cache_full && self.cache_lines < self.layout.cache_lines && spare {
            return self.opened(Stream::Cache);
        }
        self.cache_full |= self.cache_lines > 0;
        self.opened(Stream::Host)
    }

    /// The host is quiet: what has become free of the SLC cache is used again. While the host
    /// writes on it is not, even when the cache is empty: reviews that fill whole drives see the
    /// lower rate until the end or until a pause (techpowerup.com on the Samsung 980 and 980 PRO,
    /// WD SN580, Adata Atom 50).
    pub(crate) fn rest(&mut self) {
        if self.cache_lines < self.layout.cache_lines {
            self.cache_full = false;
            self.fold_due = 0.0;
        }
    }

    /// Whether there is something to do when the host is quiet.
    pub(crate) fn awaits_rest(&self) -> bool {
        self.cache_lines > 0 || self.cache_full
    }

    fn opened(&mut self, stream: Stream) -> Stream {
        if self.frontiers[stream as usize].is_none() {
            // The last free line is for copies: without it, none could be won.
            while self.free.len() < 2 && self.reclaim_page() {}
            self.open(stream);
        }
        stream
    }

    /// Units for which the page that is being filled has room.
    fn room(&self, stream: Stream) -> u32 {
        let page = self.layout.page_units;
        self.frontiers[stream as usize].map_or(page, |frontier| page - frontier.offset % page)
    }

    /// Does the part of reclaiming and folding that writing `count` units calls for.
    fn keep_up(&mut self, count: u32, stream: Stream) {
        self.reclaim_for(count);
        if self.cache_full && stream == Stream::Host {
            self.fold_due += f64::from(count) * self.fold_ratio;
            while self.fold_due >= f64::from(self.layout.page_units) {
                match self.fold_page() {
                    Some(folded) => self.fold_due -= f64::from(folded),
                    None => self.fold_due = 0.0,
                }
            }
        }
    }
}
