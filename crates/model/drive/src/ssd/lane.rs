//! Something that does one thing at a time.

use std::collections::VecDeque;

/// A die, a channel or one direction of a link: the times at which it is busy.
///
/// Work is entered ahead of its time, when it is known that it will come; work that
/// comes later and is ready earlier takes the gaps before. So a lane never idles while
/// something could be done, as if each piece had queued when it became ready.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lane {
    /// From–until, in order, with gaps between.
    busy: VecDeque<(u64, u64)>,
}

impl Lane {
    /// When `time` can begin that is not to begin before `from`.
    pub(crate) fn find(&self, from: u64, time: u64) -> u64 {
        let first = self.busy.partition_point(|(_, until)| *until <= from);
        let mut at = from;
        for (begin, until) in self.busy.range(first..) {
            if at + time <= *begin {
                break;
            }
            at = at.max(*until);
        }
        at
    }

    /// Makes it busy from `begin` to `until`, whatever it was there before.
    pub(crate) fn occupy(&mut self, begin: u64, until: u64) {
        if begin >= until {
            return;
        }
        let first = self.busy.partition_point(|(_, end)| *end < begin);
        let last =
            first + self.busy.range(first..).take_while(|(start, _)| *start <= until).count();
        if first == last {
            self.busy.insert(first, (begin, until));
            return;
        }
        let (low, high) = (self.busy[first].0.min(begin), self.busy[last - 1].1.max(until));
        self.busy[first] = (low, high);
        self.busy.drain(first + 1..last);
    }

    /// Finds room for `time` and takes it; gives when it ends.
    pub(crate) fn reserve(&mut self, from: u64, time: u64) -> u64 {
        let end = self.find(from, time) + time;
        self.occupy(end - time, end);
        end
    }

    /// Forgets what lies before `now`; nothing is asked for before it any more.
    pub(crate) fn forget(&mut self, now: u64) {
        while self.busy.front().is_some_and(|(_, until)| *until <= now) {
            self.busy.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gaps_are_filled() {
        let mut lane = Lane::default();
        assert_eq!(lane.reserve(100, 10), 110);
        assert_eq!(lane.reserve(0, 50), 50);
        assert_eq!(lane.reserve(0, 50), 100);
        assert_eq!(lane.reserve(0, 5), 115);
        assert_eq!(lane.busy, [(0, 115)]);
        lane.forget(115);
        assert!(lane.busy.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_overlaps(works in prop::collection::vec((0_u64..500, 1_u64..30), 1..60)) {
            let mut lane = Lane::default();
            let mut taken = vec![false; 4000];
            for (from, time) in works {
                let end = lane.reserve(from, time);
                prop_assert!(end >= from + time);
                // The earliest room there is.
                let fits = |at: u64| (at..at + time).all(|t| !taken[t as usize]);
                prop_assert_eq!((from..).find(|at| fits(*at)), Some(end - time));
                taken[(end - time) as usize..end as usize].fill(true);
            }
        }
    }
}
