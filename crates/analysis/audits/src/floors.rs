//! Floors: how much work a figure must rest on to be an answer.
//!
//! Below them, what is around the work decides: a drive's memory, one journal, the first
//! seek. Larger sets can then rank the stacks the other way round.

use disklab_sample::{Direction, Order, StepProfile, Task};
use disklab_units::{Bytes, count};

/// Fewer files fit, with all that belongs to them, into what a file system writes at once:
/// ext4's smallest journal has 1,024 blocks of 4 KiB (mke2fs(8), `-J size`), and an inode, a
/// directory entry and their bitmaps take about one block a file.
pub const LEAST_FILES: u64 = 1000;
/// A file that is read at random is at least so many times as large as one drive's memory.
/// With as much as that memory, four drives answer most reads from theirs; with twice as much,
/// RAID 10 over four drives was 1.09 times as fast as one drive in the lab, with eight times as
/// much 1.00 times.
pub const LEAST_MEMORIES: u64 = 2;
/// Requests that each wait for the drive. The first ones find the arm and begin a journal; of
/// so many they weigh a sixteenth.
pub const LEAST_REQUESTS: u64 = 16;
/// Bytes of a stream. At 200 MB/s they take 0.17 s, of which the first seek, and the first
/// requests before the kernel reads ahead, are a tenth; an ext4 block group has 128 MiB and a
/// Btrfs chunk 1 GiB, so that less says nothing of how they are allocated.
pub const LEAST_STREAM: u64 = 32 << 20;

/// Seconds of work on files: two figures below it are not compared. In the lab, ext4
/// deletes 4,000 files in 0.15 s and 16,000 in 0.28 s: that is a few requests, which differ by
/// 30 % from repeat to repeat.
pub const LEAST_FILE_SECONDS: f64 = 0.25;

/// What a figure has too little of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BelowFloor {
    /// So many files.
    Files(u64),
    /// So many bytes in the files that are read at random, and in the memory of one drive.
    RandomBytes {
        /// Bytes of all files together.
        files: u64,
        /// Of a drive's memory.
        memory: u64,
    },
    /// So many requests that wait for the drive.
    Requests(u64),
    /// So many bytes in a stream.
    Stream(u64),
}

impl BelowFloor {
    /// What a step of this profile has too little of in one direction, if anything.
    /// `drive_memory` is that of the drive with the least, if they are hard disks and it is
    /// known.
    pub fn of(
        profile: &StepProfile,
        direction: Direction,
        drive_memory: Option<u64>,
    ) -> Option<Self> {
        let few_files = profile.files.filter(|_| counts_files(profile)).map(|set| set.files);
        // One large file that is removed is no set of files.
        if let Some(files) = few_files.filter(|files| (2..LEAST_FILES).contains(files)) {
            return Some(Self::Files(files));
        }
        let requests = profile.requests(direction)?;
        let bytes = profile.files.map_or(0, |set| set.bytes);
        let is_random = requests.order == Order::Random && requests.are_small();
        if is_random
            && direction == Direction::Read
            && let Some(memory) = drive_memory.filter(|memory| *memory > 0)
            && (1..memory.saturating_mul(LEAST_MEMORIES)).contains(&bytes)
        {
            return Some(Self::RandomBytes { files: bytes, memory });
        }
        let waits = is_random && profile.is_direct()
            || direction == Direction::Write && profile.is_durable_each();
        if waits {
            let few = profile.operations.filter(|n| (1..LEAST_REQUESTS).contains(n));
            return few.map(Self::Requests);
        }
        let is_stream = requests.order == Order::Sequential && !profile.is_of_memory();
        (is_stream && (1..LEAST_STREAM).contains(&bytes)).then_some(Self::Stream(bytes))
    }
}

/// Whether the work is on many files, and not on the bytes in them.
pub fn counts_files(profile: &StepProfile) -> bool {
    let of_files = [Task::SmallFiles, Task::Create, Task::List, Task::Delete];
    profile.task.is_some_and(|task| of_files.contains(&task))
}

impl std::fmt::Display for BelowFloor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Files(files) => write!(f, "{files} files of at least {LEAST_FILES}"),
            Self::RandomBytes { files, memory } => write!(
                f,
                "{} of files, {} of memory in each drive",
                Bytes(*files).iec(),
                Bytes(*memory).iec()
            ),
            Self::Requests(requests) => {
                write!(f, "{} of at least {LEAST_REQUESTS}", count(*requests as usize, "request"))
            }
            Self::Stream(bytes) => {
                write!(f, "{} of at least {}", Bytes(*bytes).iec(), Bytes(LEAST_STREAM).iec())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Durability, FileSet, Requests, SyncCall};

    use super::*;

    fn reads(bytes: u64, size: u64, order: Order) -> StepProfile {
        StepProfile {
            reads: Some(Requests::of_size(size, order)),
            files: Some(FileSet { files: 1, bytes }),
            direct: Some(true),
            ..StepProfile::default()
        }
    }

    fn below(profile: &StepProfile) -> Option<BelowFloor> {
        BelowFloor::of(profile, Direction::Read, Some(256 << 20))
    }

    #[test]
    fn random_reads_need_more_than_a_drives_memory() {
        let found = below(&reads(64 << 20, 4096, Order::Random));
        let expected = BelowFloor::RandomBytes { files: 64 << 20, memory: 256 << 20 };
        assert_eq!(found, Some(expected));
        assert_eq!(below(&reads(512 << 20, 4096, Order::Random)), None);
        let unknown = BelowFloor::of(&reads(64 << 20, 4096, Order::Random), Direction::Read, None);
        assert_eq!(unknown, None);
    }

    #[test]
    fn requests_that_wait_must_be_many() {
        let mut few = reads(1 << 30, 4096, Order::Random);
        few.operations = Some(8);
        assert_eq!(below(&few), Some(BelowFloor::Requests(8)));
        few.operations = Some(LEAST_REQUESTS);
        assert_eq!(below(&few), None);
        let safe = StepProfile {
            writes: Some(Requests::of_size(4096, Order::Sequential)),
            durability: Some(Durability::EachWrite(SyncCall::OSync)),
            operations: Some(3),
            ..StepProfile::default()
        };
        let found = BelowFloor::of(&safe, Direction::Write, None);
        assert_eq!(found, Some(BelowFloor::Requests(3)));
    }

    #[test]
    fn streams_must_be_long() {
        let found = below(&reads(8 << 20, 1 << 20, Order::Sequential));
        assert_eq!(found, Some(BelowFloor::Stream(8 << 20)));
        assert_eq!(below(&reads(64 << 20, 1 << 20, Order::Sequential)), None);
        assert_eq!(below(&reads(0, 1 << 20, Order::Sequential)), None, "not known");
    }

    #[test]
    fn what_is_too_little_is_shown_with_what_is_enough() {
        let random = BelowFloor::RandomBytes { files: 64 << 20, memory: 256 << 20 };
        let all =
            [BelowFloor::Files(63), random, BelowFloor::Requests(1), BelowFloor::Stream(8 << 20)];
        assert_eq!(
            all.map(|floor| floor.to_string()),
            [
                "63 files of at least 1000",
                "64 MiB of files, 256 MiB of memory in each drive",
                "1 request of at least 16",
                "8 MiB of at least 32 MiB",
            ]
        );
    }

    #[test]
    fn trees_need_files() {
        let tree = |files| StepProfile {
            task: Some(Task::SmallFiles),
            files: Some(FileSet { files, bytes: 1 << 30 }),
            ..StepProfile::default()
        };
        let below = |files| BelowFloor::of(&tree(files), Direction::Copy, None);
        assert_eq!(below(63), Some(BelowFloor::Files(63)));
        assert_eq!((below(1), below(LEAST_FILES)), (None, None));
    }
}
