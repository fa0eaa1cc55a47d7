//! A map from numbers to numbers, of which most follow one another.

/// Entries that are kept together.
const CHUNK: usize = 1024;

/// The most runs of a chunk: more take as much memory as all entries one by one,
/// with room to grow.
const MOST_RUNS: usize = 256;

/// Few enough runs for a chunk that was just written to its end to be kept as runs
/// again.
const FEW_RUNS: usize = 64;

/// No entry.
const NONE: u32 = u32::MAX;

/// Entries `start..start + length` of a chunk, which have the values from `value` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    start: u16,
    length: u16,
    value: u32,
}

impl Run {
    fn end(self) -> u16 {
        self.start + self.length
    }

    /// What of it lies before `end`.
    fn before(self, end: u16) -> Self {
        Self { length: end - self.start, ..self }
    }

    /// What of it lies from `start` on.
    fn from(self, start: u16) -> Self {
        let skipped = start - self.start;
        Self { start, length: self.length - skipped, value: self.value + u32::from(skipped) }
    }

    fn is_followed_by(self, next: Self) -> bool {
        self.end() == next.start && self.value + u32::from(self.length) == next.value
    }
}

#[derive(Debug, Clone)]
enum Chunk {
    /// Runs in order, without overlap.
    Runs(Vec<Run>),
    /// Every entry.
    Each(Box<[u32; CHUNK]>),
}

/// Maps the numbers from 0 to its length to others below 2³² − 1. What is written
/// in order costs some bytes for each 1024 entries, and anything else at most 8 bytes
/// for each (4 once most of a chunk is scattered).
#[derive(Debug, Clone)]
pub(crate) struct Map {
    chunks: Vec<Chunk>,
}

impl Map {
    /// A map of `length` entries, all without a value.
    pub(crate) fn new(length: u32) -> Self {
        let chunks = (length as usize).div_ceil(CHUNK);
        Self { chunks: vec![Chunk::Runs(Vec::new()); chunks] }
    }

    /// The value of an entry.
    pub(crate) fn get(&self, index: u32) -> Option<u32> {
        let (chunk, at) = split(index);
        match &self.chunks[chunk] {
            Chunk::Runs(runs) => find(runs, at).and_then(|run| run.ok().map(|r| r.from(at).value)),
            Chunk::Each(values) => Some(values[usize::from(at)]).filter(|value| *value != NONE),
        }
    }

    /// The value of an entry, and how many from it on, of at most `most` (and at
    /// least 1), either have the values that follow or have none either.
    pub(crate) fn span(&self, index: u32, most: u32) -> (Option<u32>, u32) {
        let (chunk, at) = split(index);
        let room = most.min(u32::from(CHUNK as u16 - at)).max(1);
        let (value, length) = match &self.chunks[chunk] {
            Chunk::Runs(runs) => match find(runs, at) {
                Some(Ok(run)) => (Some(run.from(at).value), u32::from(run.end() - at)),
                Some(Err(next)) => (None, u32::from(next - at)),
                None => (None, room),
            },
            Chunk::Each(values) => {
                let rest = &values[usize::from(at)..usize::from(at) + room as usize];
                let first = rest[0];
                let follows = |(value, n): (&u32, u32)| {
                    if first == NONE { *value == NONE } else { *value == first + n }
                };
                let length = rest.iter().zip(0..).take_while(|pair| follows(*pair)).count();
                (Some(first).filter(|value| *value != NONE), length as u32)
            }
        };
        (value, length.min(room))
    }

    /// Gives the entries from `index` on the values from `value` on.
    pub(crate) fn set(&mut self, index: u32, count: u32, value: u32) {
        self.each_chunk(index, count, |chunk, run, skipped| {
            chunk.replace(run.start, run.end(), Some(value + skipped));
        });
    }

    /// Takes the values of entries away.
    pub(crate) fn clear(&mut self, index: u32, count: u32) {
        self.each_chunk(index, count, |chunk, run, _| chunk.replace(run.start, run.end(), None));
    }

    fn each_chunk(&mut self, index: u32, count: u32, mut act: impl FnMut(&mut Chunk, Run, u32)) {
        let mut done = 0;
        while done < count {
            let (chunk, start) = split(index + done);
            let length = (count - done).min(u32::from(CHUNK as u16 - start)) as u16;
            act(&mut self.chunks[chunk], Run { start, length, value: 0 }, done);
            done += u32::from(length);
        }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory(&self) -> u64 {
        let held = |chunk: &Chunk| match chunk {
            Chunk::Runs(runs) => runs.capacity() * size_of::<Run>(),
            Chunk::Each(_) => CHUNK * size_of::<u32>(),
        };
        let chunks = self.chunks.capacity() * size_of::<Chunk>();
        (chunks + self.chunks.iter().map(held).sum::<usize>()) as u64
    }
}

fn split(index: u32) -> (usize, u16) {
    (index as usize / CHUNK, (index as usize % CHUNK) as u16)
}

/// The run that holds an entry, or where the next one starts.
fn find(runs: &[Run], at: u16) -> Option<Result<Run, u16>> {
    let next = runs.partition_point(|run| run.end() <= at);
    let run = runs.get(next)?;
    Some(if run.start <= at { Ok(*run) } else { Err(run.start) })
}

impl Chunk {
    fn replace(&mut self, start: u16, end: u16, value: Option<u32>) {
        match self {
            Self::Runs(runs) => {
                replace_run(runs, start, end, value);
                if runs.len() > MOST_RUNS {
                    *self = Self::Each(each(runs));
                }
            }
            Self::Each(values) => {
                let entries = &mut values[usize::from(start)..usize::from(end)];
                match value {
                    Some(value) => entries.iter_mut().zip(value..).for_each(|(e, v)| *e = v),
                    None => entries.fill(NONE),
                }
                if usize::from(end) == CHUNK
                    && let Some(runs) = few_runs(values)
                {
                    *self = Self::Runs(runs);
                }
            }
        }
    }
}

fn replace_run(runs: &mut Vec<Run>, start: u16, end: u16, value: Option<u32>) {
    // Those that end after the beginning, and begin before the end.
    let first = runs.partition_point(|run| run.end() <= start);
    let last = first + runs[first..].partition_point(|run| run.start < end);
    let left = runs[first..last].first().filter(|run| run.start < start).map(|r| r.before(start));
    let right = runs[first..last].last().filter(|run| run.end() > end).map(|run| run.from(end));
    let new = value.map(|value| Run { start, length: end - start, value });
    // Written sequentially: only the last run grows.
    if first == last
        && let Some(new) = new
        && let Some(before) = first.checked_sub(1).and_then(|before| runs.get_mut(before))
        && before.is_followed_by(new)
    {
        before.length += new.length;
        return;
    }
    let mut parts = [left, new, right].into_iter().flatten();
    let mut merged: [Option<Run>; 3] = [None; 3];
    let mut count = 0_usize;
    for part in parts.by_ref() {
        if let Some(before) = count.checked_sub(1).and_then(|at| merged[at].as_mut())
            && before.is_followed_by(part)
        {
            before.length += part.length;
        } else {
            merged[count] = Some(part);
            count += 1;
        }
    }
    runs.splice(first..last, merged.into_iter().flatten());
}

fn each(runs: &[Run]) -> Box<[u32; CHUNK]> {
    let mut values = Box::new([NONE; CHUNK]);
    for run in runs {
        let entries = &mut values[usize::from(run.start)..usize::from(run.end())];
        entries.iter_mut().zip(run.value..).for_each(|(entry, value)| *entry = value);
    }
    values
}

/// The entries as runs, if these are few.
fn few_runs(values: &[u32; CHUNK]) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for (start, value) in (0..).zip(values).filter(|(_, value)| **value != NONE) {
        let one = Run { start, length: 1, value: *value };
        let known = runs.len();
        match runs.last_mut() {
            Some(last) if last.is_followed_by(one) => last.length += 1,
            _ if known == FEW_RUNS => return None,
            _ => runs.push(one),
        }
    }
    runs.shrink_to_fit();
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same as a plain list of values.
        #[test]
        fn holds_what_a_list_would(
            steps in prop::collection::vec((0_u32..3000, 1_u32..400, 0_u8..8, 0_u32..100_000), 1..80),
            scatter in 0_u32..3000,
        ) {
            let mut map = Map::new(3400);
            let mut list = vec![None; 3400];
            for n in 0..scatter {
                let (at, value) = (n * 7 % 3400, n * 13);
                map.set(at, 1, value);
                list[at as usize] = Some(value);
            }
            for (start, count, kind, value) in steps {
                for (n, entry) in list[start as usize..(start + count) as usize].iter_mut().enumerate() {
                    *entry = (kind > 0).then_some(value + n as u32);
                }
                if kind > 0 { map.set(start, count, value) } else { map.clear(start, count) }
            }
            for chunk in &map.chunks {
                let Chunk::Runs(runs) = chunk else { continue };
                prop_assert!(runs.iter().all(|run| run.length > 0), "{runs:?}");
                prop_assert!(runs.is_sorted_by(|a, b| a.end() <= b.start), "{runs:?}");
            }
            let mut at = 0;
            while at < 3400 {
                let (value, length) = map.span(at, 3400 - at);
                prop_assert!(length >= 1);
                for n in 0..length {
                    let expected = list[(at + n) as usize];
                    prop_assert_eq!(value.map(|v| v + n), expected);
                    prop_assert_eq!(map.get(at + n), expected);
                }
                at += length;
            }
        }
    }

    #[test]
    fn sequential_mappings_take_little_memory() {
        let mut map = Map::new(1 << 20);
        for at in 0..1 << 20 {
            map.set(at, 1, at + 5);
        }
        assert!(map.memory() < 1 << 17, "{}", map.memory());
        for at in 0..1 << 20 {
            map.set(at, 1, at.wrapping_mul(7919) % (1 << 20));
        }
        assert!(map.memory() > 4 << 20, "{}", map.memory());
        for at in 0..1 << 20 {
            map.set(at, 1, at + 9);
        }
        assert!(map.memory() < 1 << 17, "{}", map.memory());
    }
}
