//! Sequential runs among the writes that come in.

/// Runs that are followed at the same time.
const RUNS: usize = 16;

/// A run of writes, each of which began where the one before ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// Its first sector.
    pub(crate) start: u64,
    /// The sector behind its last.
    pub(crate) end: u64,
    /// When it was last written to.
    pub(crate) last: u64,
    used: u64,
}

/// The sequential runs of writes since the last flush. Where one is long, the next
/// writes will likely go on with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    runs: [Run; RUNS],
    clock: u64,
}

impl Streams {
    /// Notes a write of `start..end`.
    pub(crate) fn note(&mut self, start: u64, end: u64, now: u64) {
        self.clock += 1;
        let (last, used) = (now, self.clock);
        if let Some(run) = self.runs.iter_mut().find(|run| run.used > 0 && run.end == start) {
            *run = Run { start: run.start, end, last, used };
        } else if let Some(oldest) = self.runs.iter_mut().min_by_key(|run| run.used) {
            *oldest = Run { start, end, last, used };
        }
    }

    /// The longest run that holds `sector`.
    pub(crate) fn run(&self, sector: u64) -> Option<Run> {
        let holds = |run: &&Run| run.used > 0 && (run.start..run.end).contains(&sector);
        self.runs.iter().filter(holds).max_by_key(|run| run.end - run.start).copied()
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(streams: &Streams, sector: u64) -> Option<(u64, u64, u64)> {
        streams.run(sector).map(|run| (run.start, run.end, run.last))
    }

    #[test]
    fn runs_grow_side_by_side_until_cleared() {
        let mut streams = Streams::default();
        for step in 0..100 {
            streams.note(1000 + step * 10, 1010 + step * 10, step);
            streams.note(step * 10, step * 10 + 10, step);
            streams.note(1_000_000 - step * 50, 1_000_010 - step * 50, step);
        }
        assert_eq!(span(&streams, 500), Some((0, 1000, 99)));
        assert_eq!(span(&streams, 1000), Some((1000, 2000, 99)));
        assert_eq!(span(&streams, 2000), None);
        streams.clear();
        assert_eq!(span(&streams, 500), None);
        streams.note(0, 8, 5);
        assert_eq!(span(&streams, 0), Some((0, 8, 5)));
    }

    #[test]
    fn the_run_longest_without_a_write_is_forgotten() {
        let mut streams = Streams::default();
        for place in 0..=RUNS as u64 {
            streams.note(place * 100, place * 100 + 8, place);
        }
        assert_eq!(span(&streams, 0), None);
        assert_eq!(span(&streams, 100), Some((100, 108, 1)));
    }
}
