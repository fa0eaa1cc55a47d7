//! Sequential runs among the writes that come in.

/// Runs that are followed at the same time.
const RUNS: usize = 16;

/// A run of writes, each of which began where the one before ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WriteRun {
    /// Its first sector.
    pub(crate) start: u64,
    /// The sector behind its last.
    pub(crate) end: u64,
    /// When it was last written to.
    pub(crate) last: u64,
    used: u64,
}

/// The sequential runs among the writes, whatever else came between them: reads,
/// other writes, flushes. Where one is long, the next writes will likely continue with it.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    runs: [WriteRun; RUNS],
    clock: u64,
    /// Sectors that may be left out between a write and the next of its run.
    skip: u64,
}

impl Streams {
    /// None so far.
    pub(crate) fn new(skip: u64) -> Self {
        Self { runs: [WriteRun::default(); RUNS], clock: 0, skip }
    }

    /// Notes a write of `start..end`. Where it fills what lay between two runs, they
    /// are one from then on.
    pub(crate) fn note(&mut self, start: u64, end: u64, now: u64) {
        self.clock += 1;
        let mut run = WriteRun { start, end, last: now, used: self.clock };
        let skip = self.skip;
        let near = |before: u64, behind: u64| before <= behind && behind - before <= skip;
        let place = |wanted: &dyn Fn(&WriteRun) -> bool| {
            self.runs.iter().position(|other| other.used > 0 && wanted(other))
        };
        let before = place(&|other| near(other.end, start));
        let behind = place(&|other| near(end, other.start));
        if let Some(index) = behind {
            run.end = self.runs[index].end;
            self.runs[index] = WriteRun::default();
        }
        if let Some(index) = before {
            run.start = self.runs[index].start;
            self.runs[index] = run;
        } else if let Some(oldest) = self.runs.iter_mut().min_by_key(|run| run.used) {
            *oldest = run;
        }
    }

    /// The longest run that holds `sector`.
    pub(crate) fn run(&self, sector: u64) -> Option<WriteRun> {
        let holds = |run: &&WriteRun| run.used > 0 && (run.start..run.end).contains(&sector);
        self.runs.iter().filter(holds).max_by_key(|run| run.end - run.start).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(streams: &Streams, sector: u64) -> Option<(u64, u64, u64)> {
        streams.run(sector).map(|run| (run.start, run.end, run.last))
    }

    #[test]
    fn runs_grow_side_by_side() {
        let mut streams = Streams::new(0);
        for step in 0..100 {
            streams.note(2000 + step * 10, 2010 + step * 10, step);
            streams.note(step * 10, step * 10 + 10, step);
            streams.note(1_000_001 - step * 50, 1_000_010 - step * 50, step);
        }
        assert_eq!(span(&streams, 500), Some((0, 1000, 99)));
        assert_eq!(span(&streams, 2000), Some((2000, 3000, 99)));
        assert_eq!(span(&streams, 3000), None);
    }

    #[test]
    fn short_gaps_do_not_end_a_run() {
        let mut streams = Streams::new(8);
        streams.note(0, 100, 1);
        streams.note(108, 200, 2);
        assert_eq!(span(&streams, 104), Some((0, 200, 2)));
        streams.note(209, 300, 3);
        assert_eq!(span(&streams, 250), Some((209, 300, 3)));
        // A write between two runs makes one of them.
        streams.note(200, 205, 4);
        assert_eq!(span(&streams, 250), Some((0, 300, 4)));
        // What comes before a run's beginning lengthens it, too.
        streams.note(1008, 1100, 5);
        streams.note(1000, 1008, 6);
        assert_eq!(span(&streams, 1050), Some((1000, 1100, 6)));
    }

    #[test]
    fn of_two_runs_that_hold_a_sector_the_longer_counts() {
        let mut streams = Streams::new(0);
        streams.note(0, 1000, 1);
        streams.note(990, 1020, 2);
        assert_eq!(span(&streams, 995), Some((0, 1000, 1)));
        assert_eq!(span(&streams, 1010), Some((990, 1020, 2)));
    }

    #[test]
    fn the_run_longest_without_a_write_is_forgotten() {
        let mut streams = Streams::new(0);
        for place in 0..=RUNS as u64 {
            streams.note(place * 100, place * 100 + 8, place);
        }
        assert_eq!(span(&streams, 0), None);
        assert_eq!(span(&streams, 100), Some((100, 108, 1)));
    }
}
