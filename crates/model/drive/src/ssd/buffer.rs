//! The memory that writes wait in until they are on the flash.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Programmed pages that are remembered before the past is forgotten.
const REMEMBERED: usize = 1024;

/// Room for units, and when it becomes free.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    free: u32,
    /// When the pages in flight are programmed, and their units.
    releases: BinaryHeap<Reverse<(u64, u32)>>,
    /// The same by page, for reads that find their data still here.
    pages: HashMap<u32, u64>,
    /// When all that is in flight is on the flash.
    drained: u64,
}

impl Buffer {
    /// An empty memory for so many units.
    pub(crate) fn new(units: u32) -> Self {
        Self { free: units, releases: BinaryHeap::new(), pages: HashMap::new(), drained: 0 }
    }

    /// Takes room for units; gives when there is some, from `now` on. There must be
    /// some once all pages in flight are programmed.
    pub(crate) fn take(&mut self, now: u64, units: u32) -> u64 {
        let mut at = now;
        while let Some(Reverse((end, released))) = self.releases.peek().copied()
            && (end <= now || self.free < units)
        {
            self.releases.pop();
            self.free += released;
            at = at.max(end);
        }
        self.free = self.free.saturating_sub(units);
        at
    }

    /// A page is in flight to the flash, with so many units of the host.
    pub(crate) fn program(&mut self, now: u64, page: u32, units: u32, end: u64) {
        if units > 0 {
            self.releases.push(Reverse((end, units)));
            self.drained = self.drained.max(end);
        }
        if self.pages.len() > REMEMBERED {
            self.pages.retain(|_, end| *end > now);
        }
        self.pages.insert(page, end);
    }

    /// Whether a page is still on its way.
    pub(crate) fn holds(&self, now: u64, page: u32) -> bool {
        self.pages.get(&page).is_some_and(|end| *end > now)
    }

    /// When all that is in flight is on the flash.
    pub(crate) fn drained(&self) -> u64 {
        self.drained
    }

    /// Units that are in flight at `now`.
    pub(crate) fn waiting(&self, now: u64) -> u64 {
        let in_flight = self.releases.iter().filter(|Reverse((end, _))| *end > now);
        in_flight.map(|Reverse((_, units))| u64::from(*units)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_comes_back_when_pages_are_programmed() {
        let mut buffer = Buffer::new(16);
        assert_eq!(buffer.take(0, 8), 0);
        buffer.program(0, 1, 8, 500);
        assert_eq!(buffer.take(10, 8), 10);
        buffer.program(10, 2, 8, 300);
        assert_eq!((buffer.drained(), buffer.waiting(299), buffer.waiting(300)), (500, 16, 8));
        assert!(buffer.holds(299, 2) && !buffer.holds(300, 2));
        assert_eq!(buffer.take(20, 1), 300);
        assert_eq!(buffer.take(20, 7), 20);
        assert_eq!(buffer.take(20, 1), 500);
    }

    #[test]
    fn pages_that_are_on_the_flash_are_forgotten() {
        let mut buffer = Buffer::new(16);
        let many = 2 * REMEMBERED as u32;
        (0..many).for_each(|page| buffer.program(0, page, 0, 500));
        assert!((0..many).all(|page| buffer.holds(499, page)), "those in flight are not");
        buffer.program(500, many, 0, 900);
        assert_eq!(buffer.pages.len(), 1);
    }
}
