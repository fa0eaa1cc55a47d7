//! Laying out a large file over a share of its file system, without writing what lies between.
//!
//! People's data lie all over their drives. On a fresh file system a file of 2 GiB lies in one
//! place, where a hard disk's arm hardly moves: random reads are several times as many as over
//! the whole. So the file is laid out in pieces, before it is written:
//!
//! - XFS: it is allocated over the whole share (`fallocate`), and what lies between the pieces is
//!   cut out again (`FALLOC_FL_COLLAPSE_RANGE`). XFS allocates terabytes in some hundred extents.
//! - ext4 would write the bitmap of each group of 128 MiB for that. It is asked for the pieces alone,
//!   each as far from the first as it is to lie on the disk: `ext4_ext_find_goal` predicts the
//!   place of a block by its place in the file. Large requests ignore that goal and continue at the
//!   last group used (`ext4_mb_group_or_file`), unless `mb_stream_req` calls them small; a small
//!   request gets a run of `mb_group_prealloc` blocks. Both are in sysfs, and restored. The holes
//!   are then collapsed.
//! - Btrfs: a file without a name is allocated over the whole share, which is 256 MiB an extent and
//!   some megabytes of metadata. The pieces are cloned out of it, and it goes. An extent of which a
//!   piece is left stays reserved until the piece goes, too.
//!
//! Other file systems allocate only what is written (ZFS, NILFS2; F2FS's segments take a node for
//! each block): there a file is laid out as it comes, and the sample says so.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use disklab_measure::{BlockDevice, SystemRoot, mounts_of};
use disklab_units::Bytes;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{
    FallocateFlags, FsWord, OFlags, copy_file_range, fallocate, fstatfs, fstatvfs, major, minor,
    syncfs,
};

/// Smaller files are laid out as they come.
const LEAST: Bytes = Bytes(128 << 20);
/// Pieces of a file, at least, unless it has fewer of the smallest.
const PIECES: u64 = 32;
/// The largest piece: half of a group of ext4.
const LARGEST_PIECE: u64 = 64 << 20;
/// Pieces and what lies between them are multiples of this, as are the blocks of all file systems.
const UNIT: u64 = 1 << 20;
/// Of ChaCha8's streams of a seed, this one.
const STREAM: u64 = 0x7370_7264;

// include/uapi/linux/magic.h
const EXT4: FsWord = 0xEF53;
const XFS: FsWord = 0x5846_5342;
const BTRFS: FsWord = 0x9123_683E;

/// How the large files of a workload are laid out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FileSpread {
    /// The share of the file system over which a file lies.
    pub share: f64,
}

/// Why a file is laid out as it comes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotSpread {
    #[error("it is small")]
    Small,
    #[error("it takes much of the file system")]
    Large,
    #[error("the file system has no way to spread it without writing")]
    Unsupported,
    #[error("what is reserved before it is written would not be compressed")]
    Compresses,
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<rustix::io::Errno> for NotSpread {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// Where the pieces of a file begin, if the file were as long as the share of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pieces {
    /// Bytes of each.
    piece: u64,
    starts: Vec<u64>,
    /// The bytes over which they lie.
    region: u64,
}

impl Pieces {
    /// `size` bytes over `region` bytes: each piece at a drawn place in its part of it.
    fn draw(size: u64, region: u64, largest: u64, seed: u64) -> Result<Self, NotSpread> {
        let most = LARGEST_PIECE.min(largest).max(UNIT) / UNIT * UNIT;
        let piece = size.div_ceil(PIECES).next_multiple_of(UNIT).min(most);
        let count = size.div_ceil(piece);
        let part = region / count / UNIT * UNIT;
        if part < 2 * piece {
            return Err(NotSpread::Large);
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM);
        let free = (part - piece) / UNIT;
        let starts = (0..count).map(|at| at * part + random.random_range(0..=free) * UNIT);
        Ok(Self { piece, starts: starts.collect(), region: part * count })
    }

    /// Cuts out of `file`, in which the pieces lie at their starts, all between them.
    fn collapse(&self, file: &File, size: u64) -> io::Result<()> {
        let last = self.starts.last().copied().unwrap_or_default();
        rustix::fs::ftruncate(file, last + self.piece)?;
        // From the end: fewer extents are moved.
        for at in (0..self.starts.len()).rev() {
            let before = at.checked_sub(1).map_or(0, |before| self.starts[before] + self.piece);
            let gap = self.starts[at] - before;
            if gap > 0 {
                fallocate(file, FallocateFlags::COLLAPSE_RANGE, before, gap)?;
            }
        }
        Ok(rustix::fs::ftruncate(file, size)?)
    }

    /// Clones the pieces into `file` out of one without a name in `directory`, in which they lie at
    /// their starts.
    fn cloned(&self, file: &File, directory: &Path, size: u64) -> io::Result<()> {
        let temporary = i32::try_from(OFlags::TMPFILE.bits()).map_err(io::Error::other)?;
        let whole =
            OpenOptions::new().read(true).write(true).custom_flags(temporary).open(directory)?;
        fallocate(&whole, FallocateFlags::empty(), 0, self.region)?;
        // A file of which nothing was ever reserved (BTRFS_INODE_PREALLOC) is copied on write.
        fallocate(file, FallocateFlags::empty(), 0, UNIT)?;
        for (number, start) in (0_u64..).zip(&self.starts) {
            let (mut from, mut to) = (*start, number * self.piece);
            let length = usize::try_from(self.piece).map_err(io::Error::other)?;
            // On one Btrfs, this clones.
            if copy_file_range(&whole, Some(&mut from), file, Some(&mut to), length)? != length {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        rustix::fs::ftruncate(file, size)?;
        drop(whole);
        // Until a commit has removed the other file, its extents count as shared: copied on write.
        Ok(syncfs(file)?)
    }
}

impl FileSpread {
    /// Makes a file of `size` bytes, of which nothing is written, in pieces all over the share.
    /// Returned is over how many bytes they lie. After an error there is no file.
    ///
    /// # Errors
    /// [`NotSpread`]: why it is to be written as it comes.
    pub(crate) fn lay_out(&self, path: &Path, size: Bytes, seed: u64) -> Result<Bytes, NotSpread> {
        if size < LEAST {
            return Err(NotSpread::Small);
        }
        // Whatever has this name, a link included, is another's.
        let file = File::create_new(path)?;
        let directory = path.parent().unwrap_or(Path::new("."));
        let result = self.allocate(&file, directory, size.0, seed);
        if result.is_err() {
            fs::remove_file(path)?;
        }
        result
    }

    fn allocate(
        &self,
        file: &File,
        directory: &Path,
        size: u64,
        seed: u64,
    ) -> Result<Bytes, NotSpread> {
        let space = fstatvfs(file)?;
        let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
        let block = space.f_bsize.max(512);
        let region = (bytes(space.f_blocks) as f64 * self.share) as u64;
        // Something is left for metadata.
        let region = region.min(bytes(space.f_bavail) / 10 * 9);
        match fstatfs(file)?.f_type {
            EXT4 => {
                // The most that a file can be long, and half of what a bitmap of one block counts.
                let region = region.min((1_u64 << 32) * block - size);
                let pieces = Pieces::draw(size, region, block * block * 4, seed)?;
                let knobs = Ext4Knobs::set(file, pieces.piece / block)?;
                for start in &pieces.starts {
                    fallocate(file, FallocateFlags::empty(), *start, pieces.piece)?;
                }
                drop(knobs);
                pieces.collapse(file, size)?;
                Ok(Bytes(pieces.region))
            }
            XFS => {
                let pieces = Pieces::draw(size, region, LARGEST_PIECE, seed)?;
                fallocate(file, FallocateFlags::empty(), 0, pieces.region)?;
                pieces.collapse(file, size)?;
                Ok(Bytes(pieces.region))
            }
            BTRFS => {
                let mount = mounts_of(&SystemRoot::here(), directory).into_iter().next();
                if mount
                    .is_some_and(|mount| mount.options.iter().any(|o| o.starts_with("compress")))
                {
                    return Err(NotSpread::Compresses);
                }
                let pieces = Pieces::draw(size, region, LARGEST_PIECE, seed)?;
                pieces.cloned(file, directory, size)?;
                Ok(Bytes(pieces.region))
            }
            _ => Err(NotSpread::Unsupported),
        }
    }
}

/// Settings of an ext4 that make it follow the goal of large requests; as they were, when this is
/// dropped.
#[derive(Debug)]
struct Ext4Knobs(Vec<(PathBuf, String)>);

impl Ext4Knobs {
    /// Those for runs of so many blocks, of the file system of `file`.
    fn set(file: &File, run: u64) -> Result<Self, NotSpread> {
        let device = file.metadata()?.dev();
        let device = BlockDevice::numbered(&SystemRoot::here(), (major(device), minor(device)));
        let device = device.ok_or(NotSpread::Unsupported)?;
        let directory = Path::new("/sys/fs/ext4").join(device.name());
        let mut knobs = Self(Vec::new());
        let run = run.to_string();
        for (name, value) in [("mb_stream_req", "2000000000"), ("mb_group_prealloc", run.as_str())]
        {
            let path = directory.join(name);
            let before = fs::read_to_string(&path)?;
            fs::write(&path, value)?;
            knobs.0.push((path, before));
        }
        Ok(knobs)
    }
}

impl Drop for Ext4Knobs {
    fn drop(&mut self) {
        for (path, before) in &self.0 {
            let _ = fs::write(path, before.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_apart_and_hold_the_file(
            size in LEAST.0..1 << 42, region in 1_u64 << 30..1 << 46, seed: u64
        ) {
            let Ok(pieces) = Pieces::draw(size, region, LARGEST_PIECE, seed) else {
                prop_assert!(region / 2 < size + region / PIECES + (UNIT << 20));
                return Ok(());
            };
            prop_assert!(pieces.piece * pieces.starts.len() as u64 >= size);
            let apart = |pair: &[u64]| pair[0] + pieces.piece <= pair[1];
            prop_assert!(pieces.starts.windows(2).all(apart));
            let last = pieces.starts.last().expect("a piece");
            prop_assert!(last + pieces.piece <= pieces.region && pieces.region <= region);
            // From one end to the other.
            let part = pieces.region / pieces.starts.len() as u64;
            prop_assert!(pieces.starts[0] < part && pieces.region - last <= part);
        }
    }

    #[test]
    fn files_that_are_not_spread_are_not_left() {
        let temp = tempfile::tempdir().expect("temp");
        let spread = FileSpread { share: 1e-9 };
        for size in [LEAST.0 - 1, LEAST.0] {
            let path = temp.path().join("f");
            spread.lay_out(&path, Bytes(size), 1).expect_err("not spread");
            assert!(!path.exists());
        }
    }
}
