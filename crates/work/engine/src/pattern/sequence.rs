//! The I/Os of one clone of a job, one after another.

use disklab_jobfile::{Extent, IoDirection, Job, Sequence, Sequencer};

use super::blocks::Lengths;
use super::file::{PatternRules, Position};
use super::mix::Mix;
use super::order::FilePicker;
use super::{IoRequest, RequestKind, side};
use crate::random::{Random, mix};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextIo {
    /// An I/O.
    Io(IoRequest),
    /// All files are done, but `io_size` asks for more: they begin again.
    PassDone,
    /// A loop is done. The next call begins another one.
    Done,
}

/// The I/Os of one clone.
#[derive(Debug, Clone)]
pub(crate) struct IoSequence {
    rules: PatternRules,
    places: Vec<Position>,
    files: FilePicker,
    mix: Mix,
    lengths: Lengths,
    /// By direction: percent of I/Os whose offset is random.
    random_percent: [u32; 2],
    random: Random,
    choice: Random,
    is_random: bool,
    /// I/Os between two random offsets, and how many there were since.
    run: Option<(u32, u32)>,
    sequencer: Sequencer,
    fsync: u64,
    fdatasync: u64,
    flushed: bool,
    /// Bytes of a loop; how many of them are done, in this pass and before it.
    limit: u64,
    more_than_size: bool,
    done: u64,
    in_pass: u64,
    largest: u64,
    number_ios: u64,
    /// What lies behind a file's end is done once: passes continue where the last one ended.
    appends: bool,
    issued: u64,
    wrapped: Option<u32>,
}

impl IoSequence {
    /// The I/Os of a clone whose files have these extents and these lengths.
    pub(crate) fn new(job: &Job, files: &[(Extent, u64)], seed: u64) -> Self {
        let pattern = &job.pattern;
        let is_random = pattern.access.random;
        let percent = [pattern.random_percent.read, pattern.random_percent.write].map(u32::from);
        let (skip, run) = match pattern.sequence {
            Sequence::None => (0, None),
            Sequence::Skip(bytes) => (bytes, None),
            Sequence::Run(ios) => (0, Some((ios.max(1), 0))),
        };
        let mut rules = PatternRules::of(job, skip);
        let mixed = pattern.access.reads && pattern.access.writes;
        let more = job.length.io_given.is_some() && job.length.io_size > job.length.size;
        rules.wraps = (job.timing.time_based && files.len() == 1) || (mixed && more);
        let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
        let places = files
            .iter()
            .zip(0_u64..)
            .map(|((extent, real), n)| {
                let seed = is_random.then(|| mix(seed ^ mix(n + 1000)));
                Position::new(*extent, *real, &rules, seed)
            })
            .collect();
        Self {
            rules,
            places,
            files: FilePicker::new(job.files.order, count, job.files.open, seed),
            mix: Mix::new(pattern.access, pattern.read_percent, seed),
            lengths: Lengths::new(&job.blocks, seed),
            random_percent: percent,
            random: Random::new(seed, 12),
            choice: Random::new(seed, 13),
            is_random,
            run,
            sequencer: pattern.sequencer,
            fsync: job.flushing.fsync,
            fdatasync: job.flushing.fdatasync,
            flushed: false,
            limit: job.length.io_size,
            more_than_size: job.length.io_given.is_some(),
            done: 0,
            in_pass: 0,
            largest: job.blocks.max(),
            // Of each loop, but counted over all of them: fio's exceeds_number_ios.
            number_ios: job
                .length
                .number_ios
                .map_or(u64::MAX, |ios| ios.saturating_mul(job.length.loops.max(1))),
            appends: false,
            issued: 0,
            wrapped: None,
        }
    }

    /// The same for what lies behind the ends of files (`file_append`): it is gone through
    /// once, as fio does, whatever `loops`, `io_size` and `time_based` ask for.
    pub(crate) fn appending(mut self) -> Self {
        self.appends = true;
        self.rules.wraps = false;
        self.rules.revisits = false;
        self
    }

    /// Whether it reads and writes.
    pub(crate) fn is_mixed(&self) -> bool {
        self.mix.is_mixed()
    }

    /// What comes next. `due` may choose the other direction of a mixed job,
    /// where the one drawn has to wait for its rate.
    #[inline]
    pub(crate) fn next(&mut self, due: impl FnOnce(IoDirection) -> IoDirection) -> NextIo {
        if self.done + self.in_pass >= self.limit && !self.rules.revisits {
            return self.end();
        }
        if let Some(kind) = self.flush()
            && let Some(file) = self.files.next()
        {
            self.flushed = true;
            return NextIo::Io(IoRequest { kind, file, offset: 0, length: 0 });
        }
        self.flushed = false;
        let direction = self.mix.draw(due);
        while let Some(file) = self.files.next() {
            if let Some((offset, length)) = self.in_file(file, direction) {
                if self.places[file as usize].take_wrapped() {
                    self.wrapped = Some(file);
                }
                self.mix.issued(direction);
                self.issued += 1;
                self.in_pass += length;
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                return NextIo::Io(IoRequest { kind: direction.into(), file, offset, length });
            }
            self.files.finish(file);
        }
        self.end()
    }

    /// A file that has just begun again from its start within a pass.
    pub(crate) fn take_wrapped(&mut self) -> Option<u32> {
        self.wrapped.take()
    }

    /// Whether it ends when all of its files are done, whatever asks for more.
    pub(crate) fn appends(&self) -> bool {
        self.appends
    }

    /// Whether `number_ios` allows no more.
    pub(crate) fn is_spent(&self) -> bool {
        self.issued >= self.number_ios
    }

    /// A flush, where it is time for one. As in fio (get_rw_ddir), it goes to the
    /// file whose turn it is, not to the one written last.
    fn flush(&self) -> Option<RequestKind> {
        let writes = self.mix.writes();
        let due = |every: u64| every > 0 && writes > 0 && writes.is_multiple_of(every);
        match () {
            () if self.flushed => None,
            () if due(self.fsync) => Some(RequestKind::Sync),
            () if due(self.fdatasync) => Some(RequestKind::DataSync),
            () => None,
        }
    }

    fn end(&mut self) -> NextIo {
        let idle = self.in_pass == 0;
        self.done += self.in_pass;
        self.in_pass = 0;
        self.files.restart();
        if !self.appends {
            self.places.iter_mut().for_each(Position::restart);
        }
        let left = self.limit.saturating_sub(self.done);
        if self.more_than_size && left >= self.largest && !idle {
            return NextIo::PassDone;
        }
        self.done = 0;
        NextIo::Done
    }

    fn in_file(&mut self, file: u32, direction: IoDirection) -> Option<(u64, u64)> {
        let place = self.places.get_mut(file as usize)?;
        let drawn = &mut self.random;
        // A drawn place can turn out to be visited for the most part.
        loop {
            let (offset, random) = if !self.is_random {
                (place.sequential(direction, &self.rules), false)
            } else {
                let continues = match &mut self.run {
                    Some((every, since)) if *since < *every => {
                        *since += 1;
                        true
                    }
                    Some((_, since)) => {
                        *since = 1;
                        false
                    }
                    None => false,
                };
                if continues && self.sequencer == Sequencer::Identical {
                    (place.repeated(direction), false)
                } else if continues || !self.choice.percent(self.random_percent[side(direction)]) {
                    match place.sequential(direction, &self.rules) {
                        None => (place.random(direction, &self.rules, drawn), true),
                        found => (found, false),
                    }
                } else {
                    (place.random(direction, &self.rules, drawn), true)
                }
            };
            let offset = offset?;
            let length = self.lengths.draw(direction, random, place.room(offset))?;
            if let Some(length) = place.take(direction, offset, length, random, &self.rules) {
                return Some((offset, length));
            }
        }
    }
}
