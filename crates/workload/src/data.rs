//! Data to write beforehand: seeded, and of no use to compression or
//! deduplication.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use disklab_exec::Interrupt;
use disklab_units::Bytes;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::WorkloadError;

/// Data is made and written in pieces of this size.
const PIECE: usize = 1 << 20;
/// So many pieces are drawn from ChaCha8; later ones are these, each altered by
/// a key of its own, which is several times faster. 16 MiB lies beyond the
/// window of every compressor in a Linux file system (Btrfs and ZFS compress
/// records of 128 KiB to 16 MiB).
const DRAWN: usize = 16;
const WORDS: usize = PIECE / size_of::<u64>();

/// What files are filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Content {
    /// Bytes that look random.
    #[default]
    Random,
    /// Zeros, which a compressing file system does not store.
    Zeros,
}

impl Content {
    /// Its words in a study file.
    pub const WORDS: [(&'static str, Self); 2] = [("random", Self::Random), ("zeros", Self::Zeros)];
}

/// An endless stream of bytes, the same for the same seed.
#[derive(Debug)]
pub(crate) struct Stream {
    content: Content,
    random: ChaCha8Rng,
    drawn: Vec<u64>,
    pieces: u64,
    piece: Vec<u8>,
    used: usize,
}

impl Stream {
    /// The stream of `seed`.
    pub fn new(content: Content, seed: u64) -> Self {
        Self {
            content,
            random: ChaCha8Rng::seed_from_u64(seed),
            drawn: Vec::new(),
            pieces: 0,
            piece: vec![0; PIECE],
            used: PIECE,
        }
    }

    /// The next bytes: at least one, at most `most` or 1 MiB.
    fn next(&mut self, most: usize) -> &[u8] {
        if self.used == PIECE || (most >= PIECE && self.used > 0) {
            self.refill();
        }
        let from = self.used;
        self.used += most.clamp(1, PIECE - from);
        &self.piece[from..self.used]
    }

    fn refill(&mut self) {
        self.used = 0;
        if self.content == Content::Zeros {
            return;
        }
        let number = (self.pieces % DRAWN as u64) as usize;
        if self.drawn.len() < (number + 1) * WORDS {
            self.drawn.extend((0..WORDS).map(|_| self.random.next_u64()));
        }
        // The golden ratio's odd multiple makes a different key for every round.
        let key = (self.pieces / DRAWN as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.pieces += 1;
        let words = &self.drawn[number * WORDS..(number + 1) * WORDS];
        for (bytes, word) in self.piece.chunks_exact_mut(size_of::<u64>()).zip(words) {
            bytes.copy_from_slice(&(word ^ key).to_le_bytes());
        }
    }

    /// Makes the file at `path` anew with `size` bytes of the stream. With
    /// `durable`, returns once they are on the disk.
    ///
    /// # Errors
    /// Where the file cannot be written, or the user asked to stop.
    pub fn write_file(
        &mut self,
        path: &Path,
        size: Bytes,
        durable: bool,
        interrupt: &Interrupt,
    ) -> Result<(), WorkloadError> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .map_err(WorkloadError::io("cannot make", path))?;
        let mut left = size.0;
        while left > 0 {
            interrupt.check()?;
            let bytes = self.next(usize::try_from(left).unwrap_or(PIECE).min(PIECE));
            file.write_all(bytes).map_err(WorkloadError::io("cannot write", path))?;
            left -= bytes.len() as u64;
        }
        if durable {
            file.sync_all().map_err(WorkloadError::io("cannot sync", path))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn written(seed: u64, sizes: &[u64]) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().expect("temp");
        let mut stream = Stream::new(Content::Random, seed);
        sizes
            .iter()
            .enumerate()
            .map(|(number, size)| {
                let path = folder.path().join(number.to_string());
                stream.write_file(&path, Bytes(*size), true, &Interrupt::new()).expect("written");
                std::fs::read(path).expect("read back")
            })
            .collect()
    }

    #[test]
    fn no_block_repeats_and_all_bytes_are_equally_frequent() {
        // More than is drawn, so that altered pieces are among them.
        let files = written(7, &[18 << 20, 12345, 2 << 20]);
        assert_eq!(files.iter().map(Vec::len).collect::<Vec<_>>(), [18 << 20, 12345, 2 << 20]);
        let blocks: Vec<&[u8]> = files.iter().flat_map(|f| f.chunks_exact(4096)).collect();
        let distinct: HashSet<&[u8]> = blocks.iter().copied().collect();
        assert_eq!(distinct.len(), blocks.len());
        // Per block as well as in total: compressors look at single blocks.
        for file in &files {
            let mut counts = [0_u64; 256];
            file.iter().for_each(|b| counts[usize::from(*b)] += 1);
            let expected = file.len() as f64 / 256.0;
            let chi_squared: f64 =
                counts.iter().map(|c| (*c as f64 - expected).powi(2) / expected).sum();
            // 255 degrees of freedom: mean 255, deviation 22.6.
            assert!((130.0..400.0).contains(&chi_squared), "{chi_squared}");
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(written(7, &[100_000]), written(7, &[100_000]));
        assert_ne!(written(7, &[100_000]), written(8, &[100_000]));
    }

    #[test]
    fn an_interrupt_stops_it() {
        let folder = tempfile::tempdir().expect("temp");
        let interrupt = Interrupt::new();
        interrupt.raise();
        let error = Stream::new(Content::Zeros, 0)
            .write_file(&folder.path().join("f"), Bytes::gib(100), false, &interrupt)
            .expect_err("stopped");
        assert!(error.is_interrupt());
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let error = Stream::new(Content::Zeros, 0)
            .write_file(Path::new("/no/such/place"), Bytes(1), false, &Interrupt::new())
            .expect_err("no such folder");
        assert!(error.to_string().contains("cannot make /no/such/place"), "{error}");
    }
}
