//! The place that a probe may write to: a file without a name in a directory on the drive, or a
//! blank partition of it.
//!
//! The file takes nothing that was there: no file is opened, followed or replaced. It has no name
//! that anybody could put a link in the way of, and is gone when the program ends, however that
//! happens (`O_TMPFILE`, open(2)).

use std::cell::Cell;
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use disklab_bench::safety::Claim;
use disklab_drive::DriveFile;
use disklab_exec::Interrupt;
use disklab_measure::SystemRoot;
use disklab_probe::{
    DriveAccess, Findings, ProbeError, ProbeWatcher, Siblings, TimedDrive, probe_flash_writes,
    probe_write_cache,
};
use disklab_units::Bytes;
use rustix::fs::{
    CWD, FallocateFlags, Mode, OFlags, fallocate, fstat, fstatfs, fstatvfs, major, minor, openat,
};
use rustix::io::Errno;

use super::extent::first_byte;
use super::partition::{BlankPartition, NoPartition, blank_partition};
use super::real::{RealDrive, Slots};
use super::subject::Subject;

/// Room on a hard disk in which random writes seldom meet, and the least on a solid-state drive.
pub const BYTES: Bytes = Bytes::gib(4);
/// The most on a solid-state drive: more than what an SLC cache of 1 TB takes in.
pub const MOST: Bytes = Bytes::gib(400);
/// What must stay free: no file system likes to be full.
const SPARE: Bytes = Bytes::gib(1);
/// Requests that fill a file.
const PIECE: u64 = 1 << 20;
/// A write cache is filled by one request at a time, of up to 4 MiB.
const ONE_LARGE: Slots = Slots { count: 1, bytes: 4 << 20 };

/// File systems that write a file's blocks where they are, by what statfs(2) calls them: others
/// put them elsewhere each time, one after the other.
const IN_PLACE: [(u64, &str); 2] = [(0xef53, "ext4"), (0x5846_5342, "XFS")];

/// Why a place cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("--writes {}: {why}", directory.display())]
pub struct ScratchFileError {
    directory: PathBuf,
    #[source]
    why: NoScratchFile,
}

/// What is wrong with it.
#[derive(Debug, thiserror::Error)]
enum NoScratchFile {
    #[error(
        "expected a directory on the drive, in which a file of its own is made, or a blank \
         partition; your files are not written to"
    )]
    NoDirectory,
    #[error(transparent)]
    Partition(#[from] NoPartition),
    #[error("no file system of {} or its partitions is mounted there", .0.display())]
    Elsewhere(PathBuf),
    #[error(
        "its file system moves what is written again; use {}",
        IN_PLACE.map(|(_, name)| name).join(" or ")
    )]
    MovesBlocks,
    #[error("{} are free there, and {} are needed", free.iec(), needed.iec())]
    TooLittleRoom { free: Bytes, needed: Bytes },
    #[error(transparent)]
    System(Errno),
}

/// The file or the partition, and how much of it may be written.
#[derive(Debug)]
pub struct ScratchFile {
    room: DataDirectory,
    /// Where it begins on the drive.
    begin: u64,
    bytes: u64,
    rotates: bool,
}

#[derive(Debug)]
enum DataDirectory {
    File(OwnedFd),
    Partition(Box<BlankPartition>),
}

impl ScratchFile {
    /// Makes a file in this directory, or takes this partition if it is blank; on a solid-state
    /// drive of `most` bytes or less, on a hard disk of [`BYTES`].
    ///
    /// # Errors
    /// [`ScratchFileError`] with why nothing is written there: the directory, and what is in the
    /// way.
    pub fn within(
        place: &Path,
        subject: &Subject,
        most: Bytes,
        root: &SystemRoot,
        interrupt: &Interrupt,
    ) -> Result<Self, ScratchFileError> {
        let refuse = |why| ScratchFileError { directory: place.to_owned(), why };
        let rotates = subject.rotates;
        let most = if rotates { BYTES } else { most };
        if root.path(place).metadata().is_ok_and(|found| is_block_device(&found)) {
            let blank = blank_partition(place, subject, root, interrupt)
                .map_err(|why| refuse(NoScratchFile::Partition(why)))?;
            let bytes = blank.bytes.min(most.0);
            if bytes < BYTES.0 {
                let (free, needed) = (Bytes(bytes), BYTES);
                return Err(refuse(NoScratchFile::TooLittleRoom { free, needed }));
            }
            let (begin, bytes) = (blank.begin, bytes / PIECE * PIECE);
            return Ok(Self {
                room: DataDirectory::Partition(Box::new(blank)),
                begin,
                bytes,
                rotates,
            });
        }
        Self::in_directory(place, subject, most).map_err(refuse)
    }

    fn in_directory(
        directory: &Path,
        subject: &Subject,
        most: Bytes,
    ) -> Result<Self, NoScratchFile> {
        let open = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let at = openat(CWD, directory, open, Mode::empty()).map_err(|errno| match errno {
            Errno::NOTDIR => NoScratchFile::NoDirectory,
            errno => NoScratchFile::System(errno),
        })?;
        let partition_begin = is_on(&at, subject)?;
        let room = fstatvfs(&at).map_err(NoScratchFile::System)?;
        let free = Bytes(room.f_bavail.saturating_mul(room.f_frsize));
        let needed = Bytes(BYTES.0 + SPARE.0);
        if free < needed {
            return Err(NoScratchFile::TooLittleRoom { free, needed });
        }
        // The other half is left: the drive's owner may need it meanwhile.
        let bytes = (free.0 / 2).clamp(BYTES.0, most.0) / PIECE * PIECE;
        let open = OFlags::TMPFILE | OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
        let file = openat(&at, ".", open, Mode::RUSR | Mode::WUSR);
        let file = file.map_err(NoScratchFile::System)?;
        fallocate(&file, FallocateFlags::empty(), 0, bytes).map_err(NoScratchFile::System)?;
        let begin = partition_begin + first_byte(&file).map_err(NoScratchFile::System)?;
        Ok(Self { room: DataDirectory::File(file), begin, bytes, rotates: subject.rotates })
    }

    /// The bytes of the drive that it takes, as far as it is in one piece.
    pub fn range(&self) -> Range<u64> {
        self.begin..self.begin + self.bytes
    }

    /// It as a drive to write to, and what keeps others from it. `moved` counts with the reads of
    /// the whole drive.
    ///
    /// # Errors
    /// [`ProbeError::Failed`] if the system has no memory for the buffers of the requests.
    pub fn open(
        self,
        slots: Slots,
        (moved, interrupt): (Rc<Cell<u64>>, &Interrupt),
    ) -> Result<(RealDrive, Option<Claim>), ProbeError> {
        let (file, held) = match self.room {
            DataDirectory::File(file) => (file, None),
            DataDirectory::Partition(blank) => (blank.file, Some(blank.claim)),
        };
        let drive = RealDrive::new(File::from(file), self.bytes, slots, interrupt);
        let failed = |source| ProbeError::Failed { what: "preparing to write", offset: 0, source };
        let drive = drive.map_err(failed)?;
        Ok((drive.counting_with(moved), held))
    }

    /// Fills it, and measures how the drive writes there. `moved` counts with the probe's reads.
    /// Gives what was found, and the sibling that supplies the rest.
    ///
    /// # Errors
    /// As of [`probe_write_cache`] and [`probe_flash_writes`].
    pub fn probe(
        self,
        (reads, sibling, siblings): (&Findings, &DriveFile, &Siblings),
        seed: u64,
        (moved, interrupt): (Rc<Cell<u64>>, &Interrupt),
        watcher: &mut dyn ProbeWatcher,
    ) -> Result<(Findings, DriveFile), ProbeError> {
        let (bytes, rotates) = (self.bytes, self.rotates);
        let room = 0..bytes;
        let slots = if rotates { ONE_LARGE } else { Slots::default() };
        let (mut drive, _held) = self.open(slots, (moved, interrupt))?;
        if !rotates {
            let known = (reads, sibling, siblings);
            return probe_flash_writes(&mut drive, room, known, seed, watcher);
        }
        watcher.step("writing a file", 140.0)?;
        for piece in 0..bytes / PIECE {
            drive.submit(DriveAccess::write(piece * PIECE, PIECE))?;
            drive.complete()?;
        }
        drive.submit(DriveAccess::flush())?;
        drive.complete()?;
        let link = reads.value("interface.link");
        let findings = probe_write_cache(&mut drive, room, link, seed, watcher)?;
        Ok((findings, sibling.clone()))
    }
}

fn is_block_device(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_block_device()
}

/// Checks that a directory lies on the drive, in a file system that writes in place; gives where
/// the file system begins.
fn is_on(directory: impl AsFd, subject: &Subject) -> Result<u64, NoScratchFile> {
    let number = fstat(&directory).map_err(NoScratchFile::System)?.st_dev;
    let number = Some((major(number), minor(number)));
    let device = &subject.device;
    let mut of_drive = std::iter::once(device.clone()).chain(device.partitions());
    let Some(holder) = of_drive.find(|device| device.number() == number) else {
        return Err(NoScratchFile::Elsewhere(device.node()));
    };
    let kind = fstatfs(&directory).map_err(NoScratchFile::System)?.f_type as u64;
    if !IN_PLACE.iter().any(|(magic, _)| *magic == kind) {
        return Err(NoScratchFile::MovesBlocks);
    }
    Ok(holder.start_bytes().unwrap_or(0))
}
