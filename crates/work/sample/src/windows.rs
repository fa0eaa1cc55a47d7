//! What was done, window by window: bytes and sparse histograms of latencies, so that
//! a part of the work has figures of its own.

use crate::LatencyHistogram;

/// At most so many windows are kept; before there are more, each two become one.
const MOST: u64 = 128;

/// Bins per doubling. A bin is at most 1/128 of its value wide, so its middle is
/// within 0.4 % of what was measured.
const FINE: u64 = 128;
const FINE_BITS: u32 = FINE.trailing_zeros();
/// Longer latencies are counted as this one: 2⁴¹ ns are 37 minutes.
const HIGHEST_NS: u64 = (1 << 41) - 1;

/// Number of bins: 2 · 128 exact ones, then 128 for each doubling.
pub const BINS: usize = bin(HIGHEST_NS) + 1;

/// The bin of a latency in nanoseconds, below [`BINS`].
pub const fn bin(ns: u64) -> usize {
    let ns = if ns > HIGHEST_NS { HIGHEST_NS } else { ns };
    if ns < 2 * FINE {
        return ns as usize;
    }
    let shift = u64::BITS - 1 - ns.leading_zeros() - FINE_BITS;
    (shift as u64 * FINE + (ns >> shift)) as usize
}

/// The middle of a bin in nanoseconds; of bins from [`BINS`] on, that of the last one.
pub fn middle(bin: usize) -> u64 {
    let bin = bin.min(BINS - 1) as u64;
    if bin < 2 * FINE {
        return bin;
    }
    let shift = bin / FINE - 1;
    let lowest = (bin - shift * FINE) << shift;
    lowest + (1 << shift >> 1)
}

/// What is done in the current window: a few nanoseconds for each operation,
/// 16 KiB once something is recorded.
#[derive(Debug, Clone, Default)]
pub struct OpenWindow {
    bins: Vec<u32>,
    /// Bins that hold something.
    touched: Vec<u16>,
    bytes: u64,
}

impl OpenWindow {
    /// Adds an operation of so many bytes and nanoseconds.
    #[inline]
    pub fn record(&mut self, bytes: u64, ns: u64) {
        if self.bins.is_empty() {
            self.bins = vec![0; BINS];
        }
        let bin = bin(ns);
        // `bin` is below BINS, which is below 2¹⁶.
        let entries = &mut self.bins[bin];
        if *entries == 0 {
            self.touched.push(bin as u16);
        }
        *entries = entries.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// What was recorded; nothing is left behind.
    fn take(&mut self) -> Window {
        self.touched.sort_unstable();
        let take = |bin: &u16| (u32::from(*bin), std::mem::take(&mut self.bins[usize::from(*bin)]));
        let entries = self.touched.iter().map(take).collect();
        self.touched.clear();
        Window { bytes: std::mem::take(&mut self.bytes), entries }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Window {
    bytes: u64,
    /// (bin, operations) by bin; none is empty.
    entries: Vec<(u32, u32)>,
}

impl Window {
    fn merge(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        if other.entries.is_empty() {
            return;
        }
        self.entries.extend(other.entries);
        // Two sorted runs, which the sort finds.
        self.entries.sort_by_key(|(bin, _)| *bin);
        self.entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
    }
}

/// Windows of equal length, one after the other: of an hour's work as of a second's,
/// 128 at most, since they get twice as long whenever there would be more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    window_ns: u64,
    list: Vec<Window>,
}

/// What was done from a mark between two windows on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Since {
    /// Completed since the mark.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Their latencies, within 0.4 %.
    pub histogram: LatencyHistogram,
}

impl Windows {
    /// None yet; the first ones will last `finest_ns` nanoseconds, at least 1.
    pub fn new(finest_ns: u64) -> Self {
        Self { window_ns: finest_ns.max(1), list: Vec::new() }
    }

    /// How long each lasts, in nanoseconds.
    pub fn window_ns(&self) -> u64 {
        self.window_ns
    }

    /// When the window ends that would hold `at_ns`, in nanoseconds from where
    /// counting began; windows get longer where they must.
    pub fn end_of(&mut self, at_ns: u64) -> u64 {
        while at_ns / self.window_ns >= MOST {
            self.coarsen();
        }
        (at_ns / self.window_ns + 1).saturating_mul(self.window_ns)
    }

    /// Adds what was done in the window that holds `at_ns`, or in a part of it.
    pub fn add(&mut self, at_ns: u64, open: &mut OpenWindow) {
        if open.touched.is_empty() {
            return;
        }
        let end_ns = self.end_of(at_ns);
        // Below MOST.
        let index = (end_ns / self.window_ns - 1) as usize;
        if self.list.len() <= index {
            self.list.resize_with(index + 1, Window::default);
        }
        self.list[index].merge(open.take());
    }

    /// Each two become one.
    fn coarsen(&mut self) {
        self.window_ns = self.window_ns.saturating_mul(2);
        let mut old = std::mem::take(&mut self.list).into_iter();
        while let Some(mut first) = old.next() {
            first.merge(old.next().unwrap_or_default());
            self.list.push(first);
        }
    }

    /// Adds others that began to count at the same time, with the same finest window;
    /// all get the longer windows.
    pub fn merge(&mut self, mut other: Self) {
        while self.window_ns < other.window_ns {
            self.coarsen();
        }
        while other.window_ns < self.window_ns {
            other.coarsen();
        }
        self.list.resize_with(self.list.len().max(other.list.len()), Window::default);
        self.list.iter_mut().zip(other.list).for_each(|(own, more)| own.merge(more));
    }

    /// The first mark between two windows that is not before `from_ns`.
    pub fn mark(&self, from_ns: u64) -> u64 {
        from_ns.div_ceil(self.window_ns).saturating_mul(self.window_ns)
    }

    /// What was done from that mark on.
    pub fn since(&self, from_ns: u64) -> Since {
        let skip = usize::try_from(self.mark(from_ns) / self.window_ns).unwrap_or(usize::MAX);
        let mut since = Since::default();
        for window in self.list.iter().skip(skip) {
            since.bytes = since.bytes.saturating_add(window.bytes);
            for (bin, operations) in &window.entries {
                since.histogram.record(middle(*bin as usize), u64::from(*operations));
            }
        }
        since.operations = since.histogram.count();
        since
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bins_follow_one_another() {
        let mut last = 0;
        for ns in 0..100_000_u64 {
            let now = bin(ns);
            assert!(now == last || now == last + 1, "{ns}");
            last = now;
        }
        assert_eq!(bin(u64::MAX), BINS - 1);
        assert_eq!(middle(usize::MAX), middle(BINS - 1));
    }

    fn filled(finest_ns: u64, operations: &[(u64, u64)]) -> Windows {
        let mut windows = Windows::new(finest_ns);
        for (at_ns, ns) in operations {
            let mut open = OpenWindow::default();
            open.record(*at_ns, *ns);
            windows.add(*at_ns, &mut open);
            assert_eq!(open.bytes, 0);
        }
        windows
    }

    #[test]
    fn a_part_is_what_came_later() {
        let windows = filled(100, &[(10, 5), (20, 7), (150, 9), (230, 9), (299, 200)]);
        let whole = windows.since(0);
        assert_eq!((whole.operations, whole.bytes), (5, 709));
        let part = windows.since(101);
        assert_eq!((windows.mark(101), part.operations, part.bytes), (200, 2, 529));
        assert_eq!(part.histogram.bins(), [(9, 1), (200, 1)]);
        assert_eq!(windows.since(100).operations, 3);
        assert_eq!(windows.since(u64::MAX), Since::default());
    }

    #[test]
    fn long_work_has_long_windows() {
        let mut windows = filled(10, &[(0, 1), (1279, 1)]);
        assert_eq!(windows.window_ns(), 10);
        assert_eq!(windows.end_of(1279), 1280);
        assert_eq!((windows.end_of(1280), windows.window_ns()), (1300, 20));
        assert_eq!(filled(10, &[(0, 1), (100_000, 1)]).window_ns(), 1280);
        assert!(filled(1, &[(u64::MAX, 1)]).list.len() as u64 <= MOST);
    }

    proptest! {
        #[test]
        fn middles_are_near(ns in 0..HIGHEST_NS) {
            let near = middle(bin(ns));
            prop_assert_eq!(bin(near), bin(ns));
            prop_assert!(near.abs_diff(ns) as f64 <= ns as f64 * 0.004);
        }

        #[test]
        fn merging_is_recording_together(
            a in prop::collection::vec((0_u64..1 << 20, 0_u64..5000), 0..60),
            b in prop::collection::vec((0_u64..1 << 14, 0_u64..5000), 0..60),
            from in 0_u64..1 << 20,
        ) {
            let mut merged = filled(16, &a);
            merged.merge(filled(16, &b));
            let together: Vec<_> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged.since(0), filled(16, &together).since(0));
            prop_assert!(merged.list.len() as u64 <= MOST);
            let mark = merged.mark(from);
            let later = together.iter().filter(|(at, _)| *at >= mark);
            let part = merged.since(from);
            prop_assert_eq!(part.bytes, later.clone().map(|(at, _)| at).sum::<u64>());
            prop_assert_eq!(part.operations, later.count() as u64);
        }
    }
}
