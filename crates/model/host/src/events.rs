//! What will happen in the host, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostEvent {
    /// QEMU's main thread has understood a request.
    Arrived(usize),
    /// A thread takes a request up.
    Taken(usize),
    /// Data were copied between the guest's memory and the page cache.
    Copied(usize),
    /// The host's kernel looks for pages that have been dirty for long.
    Look,
}

/// Events that wait for their time; those of one time come in the order in which they
/// were entered.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostEvents {
    heap: BinaryHeap<Reverse<(u64, u64, HostEvent)>>,
    entered: u64,
}

impl HostEvents {
    /// Enters an event at a time, ns.
    pub fn push(&mut self, at: u64, event: HostEvent) {
        self.heap.push(Reverse((at, self.entered, event)));
        self.entered += 1;
    }

    /// The time of the first.
    pub fn next(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the first, if it is not later than `now`.
    pub fn pop_until(&mut self, now: u64) -> Option<HostEvent> {
        self.next().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse((.., event))| event)
    }
}
