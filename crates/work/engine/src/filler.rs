//! What goes into the buffers of writes.

use disklab_content::{Base, Compression, Content, Duplicates, Repeats, Share, Spec, SpecError};
use disklab_jobfile::{DedupeMode, Filling, Job, PatternPart};

use crate::fio_words;
use crate::random::{Random, mix};

/// A stream that no data of a job come from: what is laid out beforehand.
pub(crate) const LAYOUT_STREAM: u64 = 1 << 62;

/// Fills the buffers of one clone.
#[derive(Debug)]
pub(crate) struct BufferFiller {
    content: Content,
    stream: u64,
    at: u64,
    parts: Option<Vec<PatternPart>>,
    refill: bool,
    scramble: Option<Random>,
    /// Where nothing is asked of the data and buffers are filled once, they hold what fio's do.
    once: Option<Random>,
    duplicated: bool,
}

impl BufferFiller {
    /// That of a clone of a job. `seed` decides the bytes.
    ///
    /// # Errors
    /// [`SpecError`] if the job's buffers ask for what data cannot be.
    pub(crate) fn new(job: &Job, clone: u32, seed: u64) -> Result<Self, SpecError> {
        let buffers = &job.buffers;
        let parts = match &buffers.filling {
            Filling::Pattern(parts) => Some(parts.clone()),
            Filling::Random | Filling::Zeros => None,
        };
        let compress = buffers.compress.map(|c| Compression {
            share: Share::percent(u32::from(c.percent)),
            chunk: usize::try_from(c.chunk).unwrap_or(usize::MAX),
            filler: parts.as_deref().map(flat).unwrap_or_default(),
        });
        let block = usize::try_from(job.blocks.min()).unwrap_or(usize::MAX);
        let duplicates = buffers.dedupe.map(|d| Duplicates {
            share: Share::percent(u32::from(d.percent)),
            block: block.max(16),
            repeats: match d.mode {
                DedupeMode::Repeat => Repeats::Last,
                DedupeMode::WorkingSet { percent } => Repeats::WorkingSet {
                    blocks: (job.length.size / 100 * u64::from(percent) / block as u64).max(1),
                    streams: if d.global { u64::from(job.process.clones) } else { 1 },
                },
            },
        });
        let base = match &buffers.filling {
            Filling::Zeros => Base::Zeros,
            Filling::Pattern(parts) if compress.is_none() && duplicates.is_none() => {
                Base::Pattern(flat(parts))
            }
            Filling::Random | Filling::Pattern(_) => Base::Random,
        };
        let is_random = base == Base::Random;
        let (compress, duplicates) = if is_random { (compress, duplicates) } else { (None, None) };
        let duplicated = duplicates.is_some();
        let refill = is_random && (buffers.refill || duplicated);
        let once = is_random && !refill && compress.is_none();
        // A block of compressible data must not be torn: fio begins each buffer with
        // a chunk, and so do we, since buffers are multiples of the smallest block.
        let content = Content::new(Spec { base, compress, duplicates }, seed)?;
        let scrambles = buffers.scramble && once;
        let random = |number: u64| Random::new(seed, mix(u64::from(clone)).wrapping_add(number));
        let has_offset = parts.as_deref().is_some_and(|p| p.contains(&PatternPart::Offset));
        Ok(Self {
            content,
            stream: u64::from(clone),
            at: 0,
            parts: parts.filter(|_| has_offset && !is_random),
            refill,
            scramble: scrambles.then(|| random(0)),
            once: once.then(|| random(1)),
            duplicated,
        })
    }

    /// Whether a write costs anything here.
    pub(crate) fn is_idle(&self) -> bool {
        !self.refill && self.scramble.is_none() && self.parts.is_none()
    }

    /// Fills a buffer as it is at the start.
    pub(crate) fn begin(&mut self, buffer: &mut [u8]) {
        if let Some(random) = &mut self.once {
            return fio_words::fill(random, buffer);
        }
        self.content.fill_at(self.stream, self.at, buffer);
        // Repeats are counted from block to block, which begin at the start.
        if !self.duplicated || self.refill {
            self.at = self.at.wrapping_add(buffer.len() as u64);
        }
    }

    /// Makes a buffer ready for a write at an offset of its file.
    #[inline]
    pub(crate) fn write(&mut self, buffer: &mut [u8], offset: u64) {
        if self.refill {
            self.begin(buffer);
        } else if let Some(random) = &mut self.scramble {
            fio_words::scramble(random, offset, buffer);
        } else if let Some(parts) = &self.parts {
            repeat(parts, offset, buffer);
        }
    }

    /// Fills what is laid out before the job, at an offset of file number `file`.
    pub(crate) fn lay_out(&self, file: u64, offset: u64, buffer: &mut [u8]) {
        match &self.parts {
            Some(parts) => repeat(parts, offset, buffer),
            None => self.content.fill_at(LAYOUT_STREAM + file, offset, buffer),
        }
    }
}

/// Parts as bytes; an offset stands as zeros.
fn flat(parts: &[PatternPart]) -> Vec<u8> {
    let mut bytes = Vec::new();
    repeat_once(parts, 0, &mut bytes);
    bytes
}

fn repeat_once(parts: &[PatternPart], offset: u64, into: &mut Vec<u8>) {
    for part in parts {
        match part {
            PatternPart::Bytes(bytes) => into.extend_from_slice(bytes),
            PatternPart::Offset => into.extend_from_slice(&offset.to_le_bytes()),
        }
    }
}

/// Fills a block that lies at `offset` of its file with a pattern.
pub(crate) fn repeat(parts: &[PatternPart], offset: u64, buffer: &mut [u8]) {
    let mut once = Vec::new();
    repeat_once(parts, offset, &mut once);
    if once.is_empty() {
        return;
    }
    for piece in buffer.chunks_mut(once.len()) {
        piece.copy_from_slice(&once[..piece.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::job;

    fn written(options: &str, writes: usize) -> Vec<Vec<u8>> {
        let mut filler = BufferFiller::new(&job(options), 0, 1).expect("valid");
        let mut buffer = vec![0; 4096];
        filler.begin(&mut buffer);
        (0..writes)
            .map(|n| {
                filler.write(&mut buffer, n as u64 * 4096);
                buffer.clone()
            })
            .collect()
    }

    #[test]
    fn buffers_are_scrambled_by_default() {
        let scrambled = written("rw=write\nsize=1m", 2);
        let changed = scrambled[0].iter().zip(&scrambled[1]).filter(|(a, b)| a != b).count();
        // The offset may lie in another cache line than before.
        assert!((8 * 3..=8 * 32).contains(&changed), "{changed}");
        for piece in 0..8 {
            let range = piece * 512..piece * 512 + 512;
            assert_ne!(scrambled[0][range.clone()], scrambled[1][range]);
        }
        let same = written("rw=write\nsize=1m\nscramble_buffers=0", 2);
        assert!(same[0] == same[1] && same[0].iter().any(|b| *b != 0));
    }

    #[test]
    fn refilled_buffers_are_new() {
        let refilled = written("rw=write\nsize=1m\nrefill_buffers", 2);
        let equal = refilled[0].iter().zip(&refilled[1]).filter(|(a, b)| a == b).count();
        assert!(equal < 100, "{equal}");
    }

    #[test]
    fn zeros_and_patterns() {
        let zeros = written("rw=write\nsize=1m\nzero_buffers", 2);
        assert!(zeros.iter().flatten().all(|b| *b == 0));
        let pattern = written("rw=write\nsize=1m\nbuffer_pattern=0x414243", 1);
        assert_eq!(&pattern[0][..7], b"ABCABCA");
    }

    #[test]
    fn a_share_compresses() {
        let options = "rw=write\nsize=1m\nrefill_buffers\nbuffer_compress_percentage=50";
        let written = written(options, 4);
        let zeros = written.iter().flatten().filter(|b| **b == 0).count() as f64 / 16384.0;
        assert!((0.48..0.53).contains(&zeros), "{zeros}");
    }

    #[test]
    fn a_share_repeats() {
        let written = written("rw=write\nsize=1m\ndedupe_percentage=50", 200);
        let mut distinct = written.clone();
        distinct.sort();
        distinct.dedup();
        assert!((90..=112).contains(&distinct.len()), "{}", distinct.len());
    }

    /// Blocks that repeats are drawn from are blocks that are written anyway.
    #[test]
    fn a_share_repeats_a_working_set() {
        for (percent, share, distinct) in [(50, 10, 500), (50, 40, 500), (80, 5, 200)] {
            let written = written(
                &format!(
                    "rw=write\nsize=4000k\ndedupe_percentage={percent}\ndedupe_mode=working_set\n\
                     dedupe_working_set_percentage={share}"
                ),
                1000,
            );
            let mut all = written.clone();
            all.sort();
            all.dedup();
            assert!(all.len().abs_diff(distinct) < 40, "{percent} {share}: {}", all.len());
        }
    }

    #[test]
    fn an_offset_in_a_pattern_is_that_of_the_block() {
        let parts = [PatternPart::Bytes(vec![7]), PatternPart::Offset];
        let mut buffer = [0; 10];
        repeat(&parts, 0x1000, &mut buffer);
        assert_eq!(buffer, [7, 0, 0x10, 0, 0, 0, 0, 0, 0, 7]);
    }
}
