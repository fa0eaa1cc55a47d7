//! What happens when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::command::Command;

/// Something that happens inside the drive.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// The controller has understood a command.
    Decoded(Command),
    /// A cached write's data are in the drive's memory.
    Received(Command),
    /// A part of a write past the cache, `start..end`, is in the drive's memory.
    Passed(u64, u64),
    /// An uncached write may begin on the medium.
    Writable(Command),
    /// A read's last byte has reached the host.
    Sent(Command),
    /// The medium's work is done.
    MediumDone,
    /// It is time to look whether to destage.
    Wake,
}

#[derive(Debug, Clone)]
struct Entry {
    at: u64,
    order: u64,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// Events to come, earliest first; those of the same time in the order in which
/// they were entered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<Entry>>,
    order: u64,
}

impl Events {
    /// Enters an event.
    pub(crate) fn push(&mut self, at: u64, event: Event) {
        self.order += 1;
        self.heap.push(Reverse(Entry { at, order: self.order, event }));
    }

    /// When the earliest happens.
    pub(crate) fn next(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Takes the earliest event, if it happens at `now` or before.
    pub(crate) fn pop_until(&mut self, now: u64) -> Option<(u64, Event)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }
}
