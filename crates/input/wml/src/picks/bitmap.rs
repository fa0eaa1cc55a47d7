//! A set of numbers that many threads take from at once.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Bits with summaries: a bit of each higher level says that a word of the level
/// below is not empty. Finding the next bit looks at one or two words per level,
/// of which a million bits have four.
///
/// A summary can be behind for a moment: set although its word has just become
/// empty, which a search sees and passes; or cleared although its word has just been
/// filled, which the thread that cleared it sees and fixes. So a search can miss
/// what another thread is just putting in, but nothing is ever lost.
#[derive(Debug)]
pub(super) struct Bitmap {
    levels: Vec<Box<[AtomicU64]>>,
}

impl Bitmap {
    /// `len` bits, set where `set` says so.
    pub(super) fn new(len: usize, set: impl Fn(usize) -> bool) -> Self {
        let word = |w: usize| {
            (w * 64..len.min(w * 64 + 64))
                .filter(|i| set(*i))
                .fold(0, |word, i| word | 1_u64 << (i % 64))
        };
        let mut levels: Vec<Box<[AtomicU64]>> =
            vec![(0..len.div_ceil(64).max(1)).map(|w| AtomicU64::new(word(w))).collect()];
        while let Some(below) = levels.last()
            && below.len() > 1
        {
            let filled: Vec<bool> = below.iter().map(|w| w.load(SeqCst) != 0).collect();
            let summary = |chunk: &[bool]| {
                chunk.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit))
            };
            let level = filled.chunks(64).map(|chunk| AtomicU64::new(summary(chunk))).collect();
            levels.push(level);
        }
        Self { levels }
    }

    fn word(&self, level: usize, word: usize) -> Option<&AtomicU64> {
        self.levels.get(level)?.get(word)
    }

    /// Whether `i` is in.
    pub(super) fn contains(&self, i: usize) -> bool {
        self.word(0, i / 64).is_some_and(|word| word.load(SeqCst) & 1 << (i % 64) != 0)
    }

    /// Puts `i` in.
    pub(super) fn put(&self, i: usize) {
        let Some(word) = self.word(0, i / 64) else { return };
        if word.fetch_or(1 << (i % 64), SeqCst) == 0 {
            self.filled(0, i / 64);
        }
    }

    /// Takes `i` out; false where it was not in. Of two threads that try, one has it.
    pub(super) fn take(&self, i: usize) -> bool {
        let Some(word) = self.word(0, i / 64) else { return false };
        let bit = 1 << (i % 64);
        let before = word.fetch_and(!bit, SeqCst);
        if before == bit {
            self.emptied(0, i / 64);
        }
        before & bit != 0
    }

    /// A word is no longer empty: says so above.
    fn filled(&self, level: usize, word: usize) {
        if let Some(above) = self.word(level + 1, word / 64)
            && above.fetch_or(1 << (word % 64), SeqCst) == 0
        {
            self.filled(level + 1, word / 64);
        }
    }

    /// A word has become empty: says so above, and takes it back where the word has
    /// been filled meanwhile. The thread that filled it before the summary was cleared set
    /// the summary for nothing, so it is this thread's to fix.
    fn emptied(&self, level: usize, word: usize) {
        let Some(above) = self.word(level + 1, word / 64) else { return };
        let bit = 1 << (word % 64);
        if above.fetch_and(!bit, SeqCst) == bit {
            self.emptied(level + 1, word / 64);
        }
        if self.word(level, word).is_some_and(|word| word.load(SeqCst) != 0) {
            self.filled(level, word);
        }
    }

    /// The first number in the set from `from` on. Another thread may take it.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        self.next_at(0, from)
    }

    fn next_at(&self, level: usize, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut mask = u64::MAX << (from % 64);
        loop {
            let bits = self.word(level, word)?.load(SeqCst) & mask;
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
            if level + 1 == self.levels.len() {
                return None;
            }
            word = self.next_at(level + 1, word + 1)?;
            mask = u64::MAX;
        }
    }

    /// Like [`next`](Self::next), without the summaries: finds also what is just
    /// being put in.
    pub(super) fn next_slowly(&self, from: usize) -> Option<usize> {
        let words = self.levels.first()?;
        let mut mask = u64::MAX << (from % 64);
        for (w, word) in words.iter().enumerate().skip(from / 64) {
            let bits = word.load(SeqCst) & mask;
            if bits != 0 {
                return Some(w * 64 + bits.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// Bytes that `len` bits take.
    pub(super) fn memory_for(len: usize) -> usize {
        let mut words = len.div_ceil(64).max(1);
        let mut all = words;
        while words > 1 {
            words = words.div_ceil(64);
            all += words;
        }
        all * 8
    }

    /// Whether all summaries are right: only while nobody else is at it.
    #[cfg(test)]
    pub(super) fn is_consistent(&self) -> bool {
        self.levels.windows(2).all(|pair| {
            pair[0].iter().enumerate().all(|(w, word)| {
                let summary = pair[1][w / 64].load(SeqCst) >> (w % 64) & 1 == 1;
                summary == (word.load(SeqCst) != 0)
            })
        })
    }
}
