//! What lies in a file system before a workload's own files: directories and small files, drawn
//! anew for each repeat.
//!
//! On a fresh XFS on RAID 10 the first file in the root directory makes three times as many
//! synchronous writes a second as the next one, in every repeat: it is on other drives than the
//! log. Users do not choose that file, nor the drives: a repeat draws the workload's directory,
//! what was there before, and how much space it takes.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use disklab_exec::Interrupt;
use disklab_units::Bytes;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::io::Errno;

use crate::WorkloadError;
use crate::data::{ByteStream, FileContent};
use crate::tree::sync_tree;

/// Of ChaCha8's streams of a seed, this one: what a workload draws from the same seed has nothing
/// to do with it.
const STREAM: u64 = 0x6561_726c;

/// The largest file has 2 to the power of this, in bytes: all together are a few hundred KiB.
const LARGEST: u32 = 16;

/// Space that is reserved in a directory, at most: more than a stripe of any array.
const MOST_RESERVED: Bytes = Bytes(256 << 20);
/// Of what is free, at most one part of so many.
const RESERVED_PART: u64 = 256;

/// Directories and files, in the order in which they are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierFiles {
    steps: Vec<Creation>,
    /// Those that are deleted again.
    deleted: Vec<PathBuf>,
    /// The workload's directory.
    home: PathBuf,
}

/// One thing that is made, by its path below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Creation {
    Directory(PathBuf),
    File(PathBuf, Bytes),
    /// A file whose space is reserved in that directory and never written: so many of 65,536
    /// parts of the most. It is moved to the root, so that what a workload finds in its directory
    /// is its own.
    Reserved(PathBuf, PathBuf, u16),
}

impl EarlierFiles {
    /// What a seed draws: the same on every machine.
    pub fn draw(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM);
        let mut directories: Vec<PathBuf> = Vec::new();
        for number in 1..=random.random_range(3..=10_u32) {
            let directory = PathBuf::from(format!("dir-{number:02}"));
            let below = random.random_range(0..=2_u32);
            directories.push(directory.clone());
            directories.extend((1..=below).map(|number| directory.join(format!("sub-{number}"))));
        }
        let home = directories[random.random_range(0..directories.len())].clone();
        let mut steps: Vec<Creation> = Vec::new();
        let mut files: Vec<PathBuf> = Vec::new();
        for (at, directory) in directories.iter().enumerate() {
            steps.push(Creation::Directory(directory.clone()));
            if *directory == home || random.random_ratio(1, 4) {
                let kept = PathBuf::from(format!("reserved-{:02}", at + 1));
                steps.push(Creation::Reserved(directory.join(&kept), kept, random.random()));
            }
            // Into any other directory that is there by now, or the root.
            for _ in 0..random.random_range(0..=3_u32) {
                let into = random.random_range(0..=at + 1);
                let into = directories.get(into).filter(|dir| into <= at && **dir != home);
                let name = format!("file-{:02}", files.len() + 1);
                let path = into.map_or_else(|| PathBuf::from(&name), |into| into.join(&name));
                let most = 1_u64 << random.random_range(0..=LARGEST);
                files.push(path.clone());
                steps.push(Creation::File(path, Bytes(random.random_range(most / 2..=most))));
            }
        }
        files.shuffle(&mut random);
        files.truncate(files.len() / 4);
        Self { steps, deleted: files, home }
    }

    /// The directories from the root to the workload's, relative to the root, each with the names
    /// of all that is made in it: a file of another name there is the user's.
    pub fn names(&self) -> Vec<(&Path, Vec<String>)> {
        let mut way: Vec<&Path> = self.home.ancestors().collect();
        way.reverse();
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        way.into_iter()
            .map(|directory| {
                let paths = self.steps.iter().flat_map(Creation::paths);
                let inside = paths.filter(|path| path.parent() == Some(directory));
                (directory, inside.filter_map(name).collect())
            })
            .collect()
    }

    /// The workload's directory, below the root.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Makes them in `root`, which nobody else writes to, deletes some again, and returns once
    /// that is on the disk. Space is reserved only if `reserves`, and only if the file system
    /// can do so without writing.
    ///
    /// # Errors
    /// [`WorkloadError::Io`] if something of that name is there, or cannot be made;
    /// or the user asked to stop.
    pub fn make(
        &self,
        root: &Path,
        seed: u64,
        reserves: bool,
        interrupt: &Interrupt,
    ) -> Result<(), WorkloadError> {
        let mut stream = ByteStream::new(FileContent::Random, seed);
        let most = if reserves { most_reserved(root)? } else { Bytes::ZERO };
        for step in &self.steps {
            interrupt.check()?;
            let path = root.join(step.paths()[0]);
            match step {
                Creation::Directory(_) => fs::create_dir(&path),
                Creation::File(_, size) => write_new(&path, *size, &mut stream),
                Creation::Reserved(_, kept, part) => {
                    let size = most.0 / (1 << 16) * (u64::from(*part) + 1);
                    reserve_new(&path, size).and_then(|()| fs::rename(&path, root.join(kept)))
                }
            }
            .map_err(WorkloadError::io("cannot make", &path))?;
        }
        for path in &self.deleted {
            let path = root.join(path);
            fs::remove_file(&path).map_err(WorkloadError::io("cannot delete", &path))?;
        }
        sync_tree(root)
    }

    /// In one line, for the record.
    pub fn describe(&self) -> String {
        let directories = |step: &&Creation| matches!(step, Creation::Directory(_));
        let directories = self.steps.iter().filter(directories).count();
        format!(
            "{directories} directories and {} files, {} of them deleted again; the workload in '{}'",
            self.steps.len() - directories,
            self.deleted.len(),
            self.home.display()
        )
    }
}

impl Creation {
    /// Where it is made, and where it is at last.
    fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Directory(path) | Self::File(path, _) => vec![path],
            Self::Reserved(made, kept, _) => vec![made, kept],
        }
    }
}

fn most_reserved(root: &Path) -> Result<Bytes, WorkloadError> {
    let space = statvfs(root)
        .map_err(|e| WorkloadError::io("cannot read the free space of", root)(e.into()))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    Ok(MOST_RESERVED.min(Bytes(free / RESERVED_PART)))
}

fn write_new(path: &Path, size: Bytes, stream: &mut ByteStream) -> std::io::Result<()> {
    // Whatever has this name, a link included, is another's.
    let mut file = File::create_new(path)?;
    stream.give(size, |bytes| file.write_all(bytes))
}

fn reserve_new(path: &Path, size: u64) -> std::io::Result<()> {
    let file = File::create_new(path)?;
    if size == 0 {
        return Ok(());
    }
    match fallocate(&file, FallocateFlags::empty(), 0, size) {
        // NILFS2, ext3, and file systems over a network.
        Err(Errno::OPNOTSUPP) => Ok(()),
        result => Ok(result?),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn draws_are_few_and_the_workload_has_a_directory(seed: u64) {
            let earlier = EarlierFiles::draw(seed);
            prop_assert_eq!(&earlier, &EarlierFiles::draw(seed));
            prop_assert!(earlier.steps.len() <= 120);
            let home = Creation::Directory(earlier.home.clone());
            prop_assert!(earlier.steps.contains(&home));
            let paths: Vec<&Path> = earlier.steps.iter().flat_map(Creation::paths).collect();
            let different: BTreeSet<&Path> = paths.iter().copied().collect();
            prop_assert_eq!(paths.len(), different.len());
            prop_assert!(paths.iter().all(|path| path.is_relative()));
            let files = earlier.steps.iter().filter(|step| matches!(step, Creation::File(..)));
            prop_assert!(files.flat_map(Creation::paths).all(|p| p.parent() != Some(&earlier.home)));
        }
    }

    #[test]
    fn seeds_differ_in_what_they_draw() {
        let draws: BTreeSet<String> =
            (0..50).map(|seed| EarlierFiles::draw(seed).describe()).collect();
        assert!(draws.len() > 45, "{draws:?}");
        let homes: BTreeSet<PathBuf> = (0..50).map(|seed| EarlierFiles::draw(seed).home).collect();
        assert!(homes.len() > 10, "{homes:?}");
        let size = |step: &Creation| match step {
            Creation::File(_, size) => size.0,
            _ => 0,
        };
        let total = |seed| EarlierFiles::draw(seed).steps.iter().map(size).sum::<u64>();
        assert!((0..50).all(|seed| total(seed) < 2 << 20));
    }

    #[test]
    fn same_seed_makes_the_same_to_the_byte_under_the_names_it_says() {
        let made = |seed| {
            let root = tempfile::tempdir().expect("temp");
            let earlier = EarlierFiles::draw(seed);
            let names = earlier.names();
            assert_eq!(names[0].0, Path::new(""));
            assert_eq!(names.last().map(|(directory, _)| *directory), Some(earlier.home()));
            earlier.make(root.path(), seed, true, &Interrupt::new()).expect("made");
            let reserved = earlier.steps.iter().filter(|s| matches!(s, Creation::Reserved(..)));
            let reserved: Vec<_> = reserved.map(|step| root.path().join(step.paths()[1])).collect();
            assert!(!reserved.is_empty() && reserved.iter().all(|path| path.is_file()));
            reserved.iter().for_each(|path| fs::write(path, "").expect("emptied"));
            assert!(root.path().join(earlier.home()).is_dir());
            let mut found: Vec<(PathBuf, Vec<u8>)> = Vec::new();
            let mut left = vec![root.path().to_owned()];
            while let Some(next) = left.pop() {
                for entry in fs::read_dir(next).expect("read").flatten() {
                    let path = entry.path();
                    let below = path.strip_prefix(root.path()).expect("below").to_owned();
                    if let Some((_, names)) =
                        names.iter().find(|(directory, _)| below.parent() == Some(directory))
                    {
                        let name = path.file_name().expect("a name").to_string_lossy();
                        assert!(names.iter().any(|known| *known == name), "{}", below.display());
                    }
                    if path.is_dir() {
                        left.push(path);
                        found.push((below, Vec::new()));
                    } else {
                        found.push((below, fs::read(path).expect("read")));
                    }
                }
            }
            found.sort();
            assert_eq!(found.len(), earlier.steps.len() - earlier.deleted.len());
            found
        };
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
    }

    #[test]
    fn what_is_there_is_neither_followed_nor_written() {
        let (root, other) =
            (tempfile::tempdir().expect("temp"), tempfile::tempdir().expect("temp"));
        let earlier = EarlierFiles::draw(3);
        symlink(other.path(), root.path().join("dir-01")).expect("linked");
        let error =
            earlier.make(root.path(), 3, false, &Interrupt::new()).expect_err("it is there");
        assert!(error.to_string().contains("dir-01"), "{error}");
        assert_eq!(fs::read_dir(other.path()).expect("read").count(), 0);
    }
}
