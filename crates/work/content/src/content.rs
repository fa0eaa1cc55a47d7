//! Bytes by their place.

use crate::blocks::ContentBlocks;
use crate::words::WORD;
use crate::{Base, Spec, SpecError};

/// Data without duplicates are made in blocks of this size. Any multiple of a word
/// gives the same bytes.
const PLAIN_BLOCK: usize = 1 << 20;

/// Bytes are compared in pieces of this size.
const COMPARED: usize = 4096;

/// Data by stream and offset: the same for the same [`Spec`] and seed, on every
/// machine, in any order, from any thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    base: Base,
    seed: u64,
    duplicates: Option<crate::Duplicates>,
    /// Bytes of a block; blocks are made each from words of its own.
    block: usize,
    chunk: usize,
    /// Bytes of a chunk that are random; the rest is filler.
    random: usize,
    filler: Vec<u8>,
}

impl Content {
    /// Data like `spec`.
    ///
    /// # Errors
    /// Where `spec` asks for what cannot be; see [`Spec::check`].
    pub fn new(spec: Spec, seed: u64) -> Result<Self, SpecError> {
        spec.check()?;
        let chunk = spec.compress.as_ref().map(|c| c.chunk);
        let block = spec.duplicates.map(|d| d.block).or(chunk).unwrap_or(PLAIN_BLOCK);
        let chunk = chunk.unwrap_or(block).min(block);
        let (random, filler) = match spec.compress {
            Some(compress) => (compress.share.rest().of(chunk), compress.filler),
            None => (chunk, Vec::new()),
        };
        Ok(Self {
            base: spec.base,
            seed,
            duplicates: spec.duplicates,
            block,
            chunk,
            random,
            filler,
        })
    }

    /// Data that are made from `base` and nothing else. A pattern without bytes gives
    /// zeros.
    pub fn plain(base: Base, seed: u64) -> Self {
        let (block, chunk, random) = (PLAIN_BLOCK, PLAIN_BLOCK, PLAIN_BLOCK);
        Self { base, seed, duplicates: None, block, chunk, random, filler: Vec::new() }
    }

    /// Fills `buffer` with the bytes of `stream` from `offset` on. Streams are what
    /// a workload makes of them: a file, a job. Data of different streams differ,
    /// but for what [`Repeats`](crate::Repeats) lets them share; all numbers but
    /// `u64::MAX` are free.
    pub fn fill_at(&self, stream: u64, offset: u64, buffer: &mut [u8]) {
        match &self.base {
            Base::Zeros => buffer.fill(0),
            Base::Pattern(pattern) => repeat(pattern, offset, buffer),
            Base::Random => self.fill_random(stream, offset, buffer),
        }
    }

    /// Fills `buffer` with the bytes of block number `index` of `stream`, where all
    /// blocks are as long as `buffer`.
    pub fn fill_block(&self, stream: u64, index: u64, buffer: &mut [u8]) {
        self.fill_at(stream, index.wrapping_mul(buffer.len() as u64), buffer);
    }

    /// Where `data`, read from `stream` at `offset`, first differs from what was
    /// written: an index into `data`, or none.
    pub fn first_difference(&self, stream: u64, offset: u64, data: &[u8]) -> Option<usize> {
        let mut expected = [0; COMPARED];
        let mut from = 0;
        for piece in data.chunks(COMPARED) {
            let expected = &mut expected[..piece.len()];
            self.fill_at(stream, offset.wrapping_add(from as u64), expected);
            if expected != piece {
                let within = expected.iter().zip(piece).position(|(a, b)| a != b);
                return within.map(|within| from + within);
            }
            from += piece.len();
        }
        None
    }

    fn fill_random(&self, stream: u64, offset: u64, buffer: &mut [u8]) {
        let words_per_block = self.block.div_ceil(WORD) as u64;
        let blocks = ContentBlocks::new(self.seed, stream, words_per_block, self.duplicates);
        let size = self.block as u64;
        let (mut block, mut within) = (offset / size, (offset % size) as usize);
        let mut left = buffer;
        while !left.is_empty() {
            let most = (self.block - within).min(left.len());
            let (now, later) = left.split_at_mut(most);
            self.fill_part(&blocks, block, within, now);
            (block, within, left) = (block.wrapping_add(1), 0, later);
        }
    }

    /// Fills `buffer` with a block's bytes from `within` on; it ends in the block.
    fn fill_part(&self, blocks: &ContentBlocks, block: u64, within: usize, buffer: &mut [u8]) {
        let place = blocks.place(block);
        let mut within = within;
        let mut left = buffer;
        while !left.is_empty() {
            let in_chunk = within % self.chunk;
            let is_random = in_chunk < self.random;
            let end = if is_random { self.random } else { self.chunk };
            let (now, later) = left.split_at_mut((end - in_chunk).min(left.len()));
            if is_random {
                let word = place.at.wrapping_add((within / WORD) as u64);
                place.words.fill(word, within % WORD, now);
            } else if self.filler.is_empty() {
                now.fill(0);
            } else {
                repeat(&self.filler, in_chunk as u64, now);
            }
            within += now.len();
            left = later;
        }
    }
}

/// Fills `buffer` with `pattern`, again and again, as if it had begun `offset`
/// bytes before.
fn repeat(pattern: &[u8], offset: u64, buffer: &mut [u8]) {
    if pattern.is_empty() {
        return buffer.fill(0);
    }
    let begun = (offset % pattern.len() as u64) as usize;
    let head = (pattern.len() - begun).min(buffer.len());
    let (first, rest) = buffer.split_at_mut(head);
    first.copy_from_slice(&pattern[begun..begun + head]);
    // Then what is there is doubled again and again: fast for short patterns too.
    let period = pattern.len().min(rest.len());
    rest[..period].copy_from_slice(&pattern[..period]);
    let mut done = period;
    while done < rest.len() {
        let more = done.min(rest.len() - done);
        rest.copy_within(..more, done);
        done += more;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::{Compression, Repeats, Share};

    fn bytes(spec: Spec, seed: u64, stream: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        Content::new(spec, seed).expect("valid").fill_at(stream, 0, &mut buffer);
        buffer
    }

    #[test]
    fn random_data_are_unbiased_and_do_not_repeat() {
        let data = bytes(Spec::random(), 7, 0, 8 << 20);
        let blocks: HashSet<&[u8]> = data.chunks_exact(512).collect();
        assert_eq!(blocks.len(), data.len() / 512);
        for part in data.chunks(1 << 20) {
            let mut counts = [0_u32; 256];
            part.iter().for_each(|b| counts[usize::from(*b)] += 1);
            let expected = part.len() as f64 / 256.0;
            let chi_squared: f64 =
                counts.iter().map(|c| (f64::from(*c) - expected).powi(2) / expected).sum();
            // 255 degrees of freedom: mean 255, deviation 22.6.
            assert!((150.0..380.0).contains(&chi_squared), "{chi_squared}");
        }
    }

    #[test]
    fn seed_and_stream_decide() {
        let one = bytes(Spec::random(), 1, 1, 4096);
        assert_eq!(one, bytes(Spec::random(), 1, 1, 4096));
        assert_ne!(one, bytes(Spec::random(), 2, 1, 4096));
        assert_ne!(one, bytes(Spec::random(), 1, 2, 4096));
        // Nor is one the other, shifted.
        let words = |data: Vec<u8>| data.chunks(8).map(<[u8]>::to_vec).collect::<HashSet<_>>();
        let (a, b) = (bytes(Spec::random(), 1, 3, 1 << 20), bytes(Spec::random(), 1, 4, 1 << 20));
        assert!(words(a).is_disjoint(&words(b)));
    }

    #[test]
    fn chunks_end_with_their_filler() {
        let compress =
            Compression { share: Share::percent(75), chunk: 64, filler: b"abc".to_vec() };
        let spec = Spec { compress: Some(compress), ..Spec::default() };
        for chunk in bytes(spec, 1, 1, 640).chunks(64) {
            assert_eq!(&chunk[16..22], b"bcabca");
            assert!(chunk[60..].iter().all(|b| b"abc".contains(b)));
        }
        let zeros = bytes(Spec::random().with_compress(Share::ALL, 512), 1, 1, 4096);
        assert_eq!(zeros, vec![0; 4096]);
    }

    #[test]
    fn streams_share_a_pool() {
        let pages = |stream| {
            let data = bytes(Spec::pool(), 1, stream, 5 << 20);
            data.chunks(4096).map(<[u8]>::to_vec).collect::<HashSet<_>>()
        };
        assert_eq!(pages(1).len() as u64, crate::POOL_BLOCKS);
        assert_eq!(pages(1), pages(2));
    }

    #[test]
    fn a_difference_is_found() {
        let content = Content::new(Spec::random(), 1).expect("valid");
        let mut data = vec![0; 10_000];
        content.fill_at(5, 77, &mut data);
        assert_eq!(content.first_difference(5, 77, &data), None);
        data[9_000] ^= 1;
        assert_eq!(content.first_difference(5, 77, &data), Some(9_000));
        assert_eq!(content.first_difference(5, 78, &data), Some(0));
    }

    fn any_spec() -> impl Strategy<Value = Spec> {
        let base = prop_oneof![
            Just(Base::Random),
            Just(Base::Zeros),
            prop::collection::vec(any::<u8>(), 0..20).prop_map(Base::Pattern),
        ];
        let share = (0.0_f64..=1.0).prop_map(Share::new);
        let compress = (share.clone(), 0_usize..3000, prop::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(share, chunk, filler)| Compression { share, chunk, filler });
        let repeats = prop_oneof![
            Just(Repeats::Last),
            (0_u64..9, 0_u64..5)
                .prop_map(|(blocks, streams)| Repeats::WorkingSet { blocks, streams }),
            (0_u64..9).prop_map(|blocks| Repeats::Pool { blocks }),
        ];
        let duplicates =
            (0_u32..=100, 0_usize..3000, repeats).prop_map(|(percent, block, repeats)| {
                crate::Duplicates { share: Share::percent(percent), block, repeats }
            });
        (base, prop::option::of(compress), prop::option::of(duplicates))
            .prop_map(|(base, compress, duplicates)| Spec { base, compress, duplicates })
    }

    proptest! {
        #[test]
        fn any_part_is_that_part_of_the_whole(
            spec in any_spec(), offset in any::<u64>(), from in 0_usize..9000, length in 0_usize..9000,
        ) {
            let Ok(content) = Content::new(spec.clone(), 9) else {
                prop_assert!(spec.check().is_err());
                return Ok(());
            };
            // The last byte of a stream has no successor.
            let offset = offset.min(u64::MAX - 20_000);
            let mut whole = vec![0; 20_000];
            content.fill_at(3, offset, &mut whole);
            let mut part = vec![0; length];
            content.fill_at(3, offset + from as u64, &mut part);
            prop_assert!(part == whole[from..from + length]);
            prop_assert_eq!(content.first_difference(3, offset, &whole), None);
        }

        #[test]
        fn a_block_has_its_number(block in 1_usize..9000, index in 0_u64..1 << 40) {
            let content = Content::new(Spec::random(), 9).expect("valid");
            let (mut one, mut other) = (vec![0; block], vec![0; block]);
            content.fill_block(3, index, &mut one);
            content.fill_at(3, index * block as u64, &mut other);
            prop_assert_eq!(one, other);
        }
    }
}
