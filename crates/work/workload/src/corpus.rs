//! A tree of files of which a set share compresses and a set share is there twice,
//! and which changes from time to time.

#[cfg(test)]
use std::fs;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use disklab_content::{Share, Spec, SpecError};
use disklab_exec::Interrupt;
use disklab_units::Bytes;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::WorkloadError;
use crate::data::ByteStream;
use crate::tree::{Tree, sync_tree};

/// Compressible data and random data take turns in pieces of this size, so that
/// small files compress like large ones. In smaller ones, compressors would spend
/// more on telling them apart.
const CHUNK: usize = 1024;

/// When the files were written: 2025-01-01 00:00 UTC, in seconds since 1970. Fixed,
/// so that archives are the same whenever they are made.
const WRITTEN: u64 = 1_735_689_600;

/// A tree of files whose content follows from the seed.
#[derive(Debug)]
pub(crate) struct Corpus {
    tree: Tree,
    files: Vec<CorpusFile>,
    stream: ByteStream,
    random: ChaCha8Rng,
    /// How often it has changed.
    age: u64,
}

/// One of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CorpusFile {
    size: Bytes,
    /// The stream of its content. Files of the same have the same size.
    stream: u64,
    /// The [`Corpus::age`] when it was written.
    age: u64,
}

/// Seed that is not the one of the files' sizes, though made from the same.
fn order_seed(seed: u64) -> u64 {
    !seed
}

impl Corpus {
    /// Files like those of `tree`, of which compression saves `compressible`, and of
    /// whose bytes `repeated` lie in files that are copies of others. The number of
    /// files comes near that of `tree`, and so does their size: it is too small by
    /// less than the smallest file.
    ///
    /// # Errors
    /// None with shares from 0 to 1, as these are.
    pub fn new(
        tree: &Tree,
        compressible: Share,
        repeated: Share,
        seed: u64,
    ) -> Result<Self, SpecError> {
        let spec = Spec::random().with_compress(compressible, CHUNK);
        let mut random = ChaCha8Rng::seed_from_u64(order_seed(seed));
        let distinct = |all: u64| ((all as f64 * repeated.rest().part()).round() as u64).max(1);
        let originals =
            Tree { files: distinct(tree.files), size: Bytes(distinct(tree.size.0)), ..*tree };
        let mut files: Vec<_> = (0..)
            .zip(originals.sizes(seed))
            .map(|(stream, size)| CorpusFile { size, stream, age: 0 })
            .collect();
        shuffle(&mut files, &mut random);
        let left = tree.size.saturating_sub(originals.size);
        let copies = copies(&files, left);
        files.extend(copies);
        shuffle(&mut files, &mut random);
        let count = files.len() as u64;
        let tree = Tree {
            files: count,
            directories: tree.directories.clamp(1, count),
            size: files.iter().map(|f| f.size).sum(),
        };
        Ok(Self { tree, files, stream: ByteStream::like(spec, seed)?, random, age: 0 })
    }

    /// How many files there are, and how large they are together.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Gives `share` of the files, and at least one where it is not nothing, other
    /// content of the same size, which no other file has. Says how many files, and
    /// how large they are together.
    pub fn change(&mut self, share: Share) -> (u64, Bytes) {
        self.age += 1;
        let count = share.of(self.files.len()).max(usize::from(share != Share::NONE));
        let mut numbers: Vec<usize> = (0..self.files.len()).collect();
        shuffle(&mut numbers, &mut self.random);
        numbers.truncate(count);
        let mut size = Bytes::ZERO;
        for number in &numbers {
            let file = &mut self.files[*number];
            // Streams of originals are below 2^40: a tree has far fewer files.
            file.stream = (self.age << 40) | *number as u64;
            file.age = self.age;
            size += file.size;
        }
        (numbers.len() as u64, size)
    }

    /// Writes the files that changed last, or all at first, at `directory`, and returns
    /// once they are on the disk.
    ///
    /// # Errors
    /// Where a file or directory cannot be made, or the user asked to stop.
    pub fn write(&mut self, directory: &Path, interrupt: &Interrupt) -> Result<(), WorkloadError> {
        if self.age == 0 {
            self.tree.make_directories(directory, interrupt)?;
        }
        for (number, file) in (0..).zip(&self.files) {
            if file.age != self.age {
                continue;
            }
            let path = directory.join(self.tree.file(number));
            self.stream.go_to(file.stream);
            self.stream.write_file(&path, file.size, false, interrupt)?;
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(written(file.age));
            File::options()
                .write(true)
                .open(&path)
                .and_then(|opened| opened.set_modified(time))
                .map_err(WorkloadError::io("cannot date", &path))?;
        }
        sync_tree(directory)
    }

    /// Writes all files and directories to `to` as a tar archive.
    ///
    /// # Errors
    /// The first error of `to`; what was written before it stays.
    pub fn write_tar(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let mut archive = tar::Builder::new(to);
        let mut header = tar::Header::new_gnu();
        // The user that restores it can own it.
        header.set_uid(rustix::process::getuid().as_raw().into());
        header.set_gid(rustix::process::getgid().as_raw().into());
        header.set_entry_type(tar::EntryType::Directory);
        header.set_mode(0o755);
        header.set_mtime(written(0));
        header.set_size(0);
        for number in 0..self.tree.directories {
            archive.append_data(&mut header, Tree::directory(number), io::empty())?;
        }
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o644);
        for (number, file) in (0..).zip(&self.files) {
            header.set_size(file.size.0);
            header.set_mtime(written(file.age));
            header.set_path(self.tree.file(number))?;
            header.set_cksum();
            let to = archive.get_mut();
            to.write_all(header.as_bytes())?;
            self.stream.go_to(file.stream);
            self.stream.give(file.size, |bytes| to.write_all(bytes))?;
            // Files begin at multiples of a header's size.
            let padding = file.size.0.next_multiple_of(512) - file.size.0;
            to.write_all(&[0; 512][..padding as usize])?;
        }
        archive.finish()
    }

    /// Whether `directory` holds these files with this content, and no others; the
    /// first that differs is named.
    ///
    /// # Errors
    /// That of the first directory or file that cannot be read.
    #[cfg(test)]
    pub fn first_difference(&mut self, directory: &Path) -> io::Result<Option<String>> {
        let mut found = 0;
        for inner in fs::read_dir(directory)? {
            found += fs::read_dir(inner?.path())?.count();
        }
        if found != self.files.len() {
            return Ok(Some(format!("{found} files instead of {}", self.files.len())));
        }
        for (number, file) in (0..).zip(&self.files) {
            let path = directory.join(self.tree.file(number));
            let mut expected = Vec::new();
            self.stream.go_to(file.stream);
            self.stream.give(file.size, |bytes| {
                expected.extend_from_slice(bytes);
                Ok::<(), io::Error>(())
            })?;
            if fs::read(&path)? != expected {
                return Ok(Some(path.display().to_string()));
            }
        }
        Ok(None)
    }
}

/// When a file of this age was written, in seconds since 1970: a day later each
/// time, so that what changed is newer, even where a file system counts in days.
fn written(age: u64) -> u64 {
    WRITTEN + 86_400 * age
}

/// Copies of `files`, in their order and around again, that together come as near
/// to `size` as they can without exceeding it.
fn copies(files: &[CorpusFile], size: Bytes) -> Vec<CorpusFile> {
    let mut copies = Vec::new();
    let mut left = size;
    let mut found = true;
    while found {
        found = false;
        for file in files {
            if file.size > Bytes::ZERO && file.size <= left {
                left = left.saturating_sub(file.size);
                copies.push(*file);
                found = true;
            }
        }
    }
    copies
}

/// Fisher and Yates's shuffle with numbers of 64 bits, so that every machine has
/// the same order.
fn shuffle<T>(items: &mut [T], random: &mut ChaCha8Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.random_range(0..=last as u64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use disklab_content::measure;
    use proptest::prelude::*;

    use super::*;

    fn corpus(files: u64, size: u64, compressible: f64, repeated: f64) -> Corpus {
        let tree = Tree { files, directories: 3, size: Bytes(size) };
        Corpus::new(&tree, Share::new(compressible), Share::new(repeated), 7).expect("valid")
    }

    #[test]
    fn corpus_compresses_and_repeats_as_asked() {
        let directory = tempfile::tempdir().expect("temp");
        let mut corpus = corpus(200, 8_000_000, 0.29, 0.19);
        corpus.write(directory.path(), &Interrupt::new()).expect("written");
        assert_eq!(corpus.first_difference(directory.path()).expect("read"), None);
        let (mut distinct, mut compressed) = (HashSet::new(), 0.0);
        for inner in fs::read_dir(directory.path()).expect("tree") {
            for file in fs::read_dir(inner.expect("entry").path()).expect("directory") {
                let data = fs::read(file.expect("entry").path()).expect("file");
                let makeup = measure(&data[..], u64::MAX, &[]).expect("slice");
                compressed += makeup.lz4_share * data.len() as f64;
                distinct.insert(data);
            }
        }
        // LZ4 jumps ahead in random data, and so misses some of each filler.
        assert!((compressed / 8e6 - 0.71).abs() < 0.02, "{compressed}");
        let distinct: usize = distinct.iter().map(Vec::len).sum();
        assert!((distinct as f64 / 8e6 - 0.81).abs() < 0.01, "{distinct}");
    }

    #[test]
    fn changed_files_have_new_content_and_times() {
        let directory = tempfile::tempdir().expect("temp");
        let mut corpus = corpus(100, 400_000, 0.5, 0.5);
        let stop = Interrupt::new();
        corpus.write(directory.path(), &stop).expect("written");
        let before = corpus.files.clone();
        let (files, size) = corpus.change(Share::percent(10));
        corpus.write(directory.path(), &stop).expect("written");
        assert_eq!(corpus.first_difference(directory.path()).expect("read"), None);
        assert_eq!(files, Share::percent(10).of(before.len()) as u64);
        let changed: Vec<_> =
            (0..).zip(&corpus.files).filter(|(n, f)| before[*n as usize] != **f).collect();
        assert_eq!(changed.len() as u64, files);
        assert_eq!(changed.iter().map(|(_, f)| f.size).sum::<Bytes>(), size);
        for (number, _) in changed {
            let path = directory.path().join(corpus.tree.file(number));
            let time = path.metadata().and_then(|m| m.modified()).expect("time");
            let since = time.duration_since(SystemTime::UNIX_EPOCH).expect("later");
            assert_eq!(since.as_secs(), written(1));
        }
        assert_eq!(corpus.change(Share::NONE), (0, Bytes::ZERO));
        assert_eq!(corpus.change(Share::new(1e-6)).0, 1);
    }

    #[test]
    fn the_archive_holds_the_same_as_the_directory() {
        let directory = tempfile::tempdir().expect("temp");
        let mut corpus = corpus(50, 300_000, 0.3, 0.3);
        let mut archive = Vec::new();
        corpus.write_tar(&mut archive).expect("memory");
        tar::Archive::new(&archive[..]).unpack(directory.path()).expect("an archive");
        assert_eq!(corpus.first_difference(directory.path()).expect("read"), None);
        let mut again = Vec::new();
        corpus.write_tar(&mut again).expect("memory");
        assert!(archive == again);
    }

    proptest! {
        #[test]
        fn its_size_is_as_asked(
            files in 1_u64..300, size in 1_u64..1 << 40, repeated in 0.0_f64..0.95, seed in any::<u64>(),
        ) {
            let tree = Tree { files, directories: 3, size: Bytes(size) };
            let corpus =
                Corpus::new(&tree, Share::NONE, Share::new(repeated), seed).expect("valid");
            let largest = corpus.files.iter().map(|f| f.size.0).max().unwrap_or(0);
            prop_assert!(corpus.tree().size.0.abs_diff(size) <= largest);
            prop_assert!(corpus.tree().directories <= corpus.tree().files);
            let mut streams = HashSet::new();
            let distinct: Bytes =
                corpus.files.iter().filter(|f| streams.insert(f.stream)).map(|f| f.size).sum();
            let asked = size as f64 * (1.0 - repeated);
            prop_assert!((distinct.0 as f64 - asked).abs() < 2.0 + size as f64 * 1e-6);
        }
    }
}
