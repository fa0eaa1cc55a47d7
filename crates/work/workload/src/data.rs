//! Data to write into files: seeded, and of the makeup that is asked for.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use disklab_content::{ContentBuffers, Spec, SpecError};
use disklab_exec::Interrupt;
use disklab_sample::{ContentProfile, FileSet, StepProfile};
use disklab_units::Bytes;
use rustix::fs::OFlags;

use crate::WorkloadError;

/// Data is made and written in pieces of at most this size.
const PIECE: usize = 1 << 20;

/// What files are filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FileContent {
    /// Bytes that look random: of no use to compression or deduplication.
    #[default]
    Random,
    /// Zeros, which a compressing file system does not store.
    Zeros,
}

impl FileContent {
    /// Its words in a study file.
    pub const WORDS: [(&'static str, Self); 2] = [("random", Self::Random), ("zeros", Self::Zeros)];

    /// What a step's profile says of it.
    pub fn profile(self) -> ContentProfile {
        match self {
            Self::Random => ContentProfile::Random,
            Self::Zeros => ContentProfile::Zeros,
        }
    }

    fn spec(self) -> Spec {
        match self {
            Self::Random => Spec::random(),
            Self::Zeros => Spec::zeros(),
        }
    }
}

/// What a step does that one job takes with one file, from beginning to end through the page cache.
pub(crate) fn one_file(size: Bytes) -> StepProfile {
    StepProfile {
        direct: Some(false),
        files: Some(FileSet { files: 1, bytes: size.0 }),
        jobs: Some(1),
        depth: Some(1),
        stream: true,
        ..StepProfile::default()
    }
}

/// An endless stream of bytes, the same for the same seed.
#[derive(Debug)]
pub(crate) struct ByteStream {
    buffers: ContentBuffers,
    piece: Vec<u8>,
}

impl ByteStream {
    /// The stream of `seed`.
    pub fn new(content: FileContent, seed: u64) -> Self {
        // Random and zeros have no numbers that could be wrong.
        Self { buffers: ContentBuffers::plain(content.spec().base, seed), piece: Vec::new() }
    }

    /// Streams of data like `spec`, the first of them now.
    ///
    /// # Errors
    /// [`SpecError`] if a number of `spec` is out of range, or its parts do not go together.
    pub fn like(spec: Spec, seed: u64) -> Result<Self, SpecError> {
        Ok(Self { buffers: ContentBuffers::new(spec, seed)?, piece: Vec::new() })
    }

    /// Continues at the start of stream `number`.
    pub fn go_to(&mut self, number: u64) {
        self.buffers.go_to(number, 0);
    }

    /// Gives the next `size` bytes to `to`, in pieces.
    ///
    /// # Errors
    /// The first error of `to`, which is then not called again.
    pub fn give<E>(
        &mut self,
        size: Bytes,
        mut to: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left = size.0;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            if self.piece.len() < length {
                self.piece.resize(length, 0);
            }
            let piece = &mut self.piece[..length];
            self.buffers.fill(piece);
            to(piece)?;
            left -= length as u64;
        }
        Ok(())
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
        self.write(path, size, durable, true, interrupt)
    }

    /// As [`write_file`](Self::write_file), but over what the file has, which is as long.
    ///
    /// # Errors
    /// Where the file cannot be written, or the user asked to stop.
    pub fn fill_file(
        &mut self,
        path: &Path,
        size: Bytes,
        durable: bool,
        interrupt: &Interrupt,
    ) -> Result<(), WorkloadError> {
        self.write(path, size, durable, false, interrupt)
    }

    fn write(
        &mut self,
        path: &Path,
        size: Bytes,
        durable: bool,
        truncate: bool,
        interrupt: &Interrupt,
    ) -> Result<(), WorkloadError> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(truncate)
            // A link could lead out of the measured directory.
            .custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default())
            .open(path)
            .map_err(WorkloadError::io("cannot make", path))?;
        self.give(size, |bytes| {
            interrupt.check()?;
            file.write_all(bytes).map_err(WorkloadError::io("cannot write", path))
        })?;
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
        let directory = tempfile::tempdir().expect("temp");
        let mut stream = ByteStream::new(FileContent::Random, seed);
        sizes
            .iter()
            .enumerate()
            .map(|(number, size)| {
                let path = directory.path().join(number.to_string());
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
        let directory = tempfile::tempdir().expect("temp");
        let interrupt = Interrupt::new();
        interrupt.raise();
        let error = ByteStream::new(FileContent::Zeros, 0)
            .write_file(&directory.path().join("f"), Bytes::gib(100), false, &interrupt)
            .expect_err("stopped");
        assert!(error.is_interrupt());
    }

    #[test]
    fn no_link_is_followed() {
        let directory = tempfile::tempdir().expect("temp");
        let (precious, link) = (directory.path().join("precious"), directory.path().join("f"));
        std::fs::write(&precious, "data").expect("written");
        std::os::unix::fs::symlink(&precious, &link).expect("linked");
        let written = ByteStream::new(FileContent::Zeros, 0).write_file(
            &link,
            Bytes(9),
            false,
            &Interrupt::new(),
        );
        assert!(written.is_err());
        assert_eq!(std::fs::read(&precious).expect("read"), b"data");
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let error = ByteStream::new(FileContent::Zeros, 0)
            .write_file(Path::new("/no/such/place"), Bytes(1), false, &Interrupt::new())
            .expect_err("no such directory");
        assert!(error.to_string().contains("cannot make /no/such/place"), "{error}");
    }
}
