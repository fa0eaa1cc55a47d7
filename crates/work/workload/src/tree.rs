//! A tree of small files.

use std::fs::{self, File};
use std::path::Path;

use disklab_exec::Interrupt;
use disklab_units::Bytes;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::syncfs;

use crate::WorkloadError;
use crate::data::ByteStream;

/// File sizes spread over so many doublings, evenly in their logarithm, as
/// sizes in real file systems roughly do around their middle (Agrawal and
/// others, 'A five-year study of file-system metadata', FAST 2007).
const OCTAVES: u32 = 7;

/// A tree of files in directories: `00001/0000001` and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    /// How many files.
    pub files: u64,
    /// How many directories they are dealt out to, all next to each other.
    pub directories: u64,
    /// The size of all files together, exactly.
    pub size: Bytes,
}

impl Tree {
    /// A tree of `files` files, from 1, `size` together, with its number of files
    /// scaled; their mean size stays. One directory for each 100 where `directories` does not
    /// say otherwise.
    pub fn scaled(files: u64, directories: Option<u64>, size: Bytes, scale: f64) -> Self {
        let scaled = Bytes(files).scaled(scale, Bytes(1)).0;
        let size = size.scaled(scaled as f64 / files as f64, Bytes(1));
        // No more directories than files: an empty one is no work.
        let directories = directories.unwrap_or(scaled.div_ceil(100)).clamp(1, scaled);
        Self { files: scaled, directories, size }
    }

    /// The files' sizes: the same for the same seed, on every machine.
    pub fn sizes(&self, seed: u64) -> Vec<Bytes> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Whole numbers only, so that no platform's rounding plays a part. A
        // weight is a power of two times 64 to 127 sixty-fourths.
        let weights: Vec<u128> = (0..self.files)
            .map(|_| {
                u128::from(random.random_range(64..128_u64) << random.random_range(0..OCTAVES))
            })
            .collect();
        let total: u128 = weights.iter().sum();
        let size = u128::from(self.size.0);
        // Rounding the running sum, not each size, makes the total exact.
        let (mut sum, mut given) = (0_u128, 0_u128);
        weights
            .iter()
            .map(|weight| {
                sum += weight;
                let until = size * sum / total;
                let bytes = u64::try_from(until - given).unwrap_or(u64::MAX);
                given = until;
                Bytes(bytes)
            })
            .collect()
    }

    /// Writes the tree at `directory`, and returns once it is on the disk.
    ///
    /// # Errors
    /// Where a file or directory cannot be made, or the user asked to stop.
    pub fn write(
        &self,
        directory: &Path,
        stream: &mut ByteStream,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<(), WorkloadError> {
        self.make_directories(directory, interrupt)?;
        for (number, size) in (0..).zip(self.sizes(seed)) {
            stream.write_file(&directory.join(self.file(number)), size, false, interrupt)?;
        }
        sync_tree(directory)
    }

    /// Makes the directories at `directory`, and `directory` itself.
    ///
    /// # Errors
    /// Where one cannot be made, or the user asked to stop.
    pub fn make_directories(
        &self,
        directory: &Path,
        interrupt: &Interrupt,
    ) -> Result<(), WorkloadError> {
        for number in 0..self.directories {
            interrupt.check()?;
            let directory = directory.join(Self::directory(number));
            fs::create_dir_all(&directory).map_err(WorkloadError::io("cannot make", &directory))?;
        }
        Ok(())
    }

    /// The name of a directory; they count from 0.
    pub fn directory(number: u64) -> String {
        format!("{:05}", number + 1)
    }

    /// The name of a file with its directory; they count from 0.
    pub fn file(&self, number: u64) -> String {
        format!("{}/{:07}", Self::directory(number % self.directories.max(1)), number + 1)
    }
}

/// Returns once all of the file system of `directory` is on the disk: one sync for
/// all files, since one for each would take hours on a hard disk.
///
/// # Errors
/// [`WorkloadError::Io`] if the directory cannot be opened or synced.
pub(crate) fn sync_tree(directory: &Path) -> Result<(), WorkloadError> {
    let file = File::open(directory).map_err(WorkloadError::io("cannot open", directory))?;
    syncfs(&file).map_err(|e| WorkloadError::io("cannot sync", directory)(e.into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::FileContent;

    #[test]
    fn the_tree_matches_its_description() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Tree { files: 50, directories: 4, size: Bytes(300_000) };
        let mut stream = ByteStream::new(FileContent::Random, 3);
        let root = directory.path().join("tree");
        tree.write(&root, &mut stream, 3, &Interrupt::new()).expect("written");
        let (mut files, mut bytes) = (0, 0);
        for inner in fs::read_dir(&root).expect("tree") {
            for file in fs::read_dir(inner.expect("entry").path()).expect("directory") {
                files += 1;
                bytes += file.expect("entry").metadata().expect("file").len();
            }
        }
        assert_eq!((files, bytes), (50, 300_000));
        assert_eq!(fs::read_dir(&root).expect("tree").count(), 4);
    }

    #[test]
    fn sizes_spread_and_depend_on_the_seed() {
        let tree = Tree { files: 10_000, directories: 1, size: Bytes::gib(1) };
        let mut sizes = tree.sizes(1);
        assert_eq!(sizes, tree.sizes(1));
        assert_ne!(sizes, tree.sizes(2));
        sizes.sort_unstable();
        let spread = sizes[9999].0 as f64 / sizes[0].0 as f64;
        assert!((100.0..130.0).contains(&spread), "{spread}");
        // Evenly in the logarithm: a quarter of the files per quarter of the octaves.
        let quarter = sizes[2500].0 as f64 / sizes[0].0 as f64;
        assert!((2.8..4.5).contains(&quarter), "{quarter}");
    }

    proptest! {
        #[test]
        fn the_total_is_exact(files in 1_u64..2000, size in any::<u64>(), seed in any::<u64>()) {
            let sizes = Tree { files, directories: 1, size: Bytes(size) }.sizes(seed);
            prop_assert_eq!(sizes.len() as u64, files);
            prop_assert_eq!(sizes.iter().map(|s| u128::from(s.0)).sum::<u128>(), u128::from(size));
        }
    }
}
