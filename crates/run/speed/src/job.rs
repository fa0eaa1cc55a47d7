//! What the guests do whose speed is measured: the least that tells.

use std::time::Duration;

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::raw_disk::{AlignedBuffer, DRIVE, MIB, PAGE, RawDisk, Xorshift, stamp};
use crate::{GuestWorkError, engine, raid};

/// The word by which a guest's first program knows that it is to call
/// [`carry_out_in_guest`], with the words that follow.
pub const SPEED_JOB: &str = "speed";
/// What a guest is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpeedJob {
    Nothing,
    /// So many reads of 4 KiB at random offsets of a drive, one after another, with
    /// a look at the clock after each.
    Reads(u64),
    /// The same by the engine that runs fio jobs.
    EngineReads(u64),
    /// So many writes of 4 KiB at random offsets of an md RAID 5 of four drives.
    RaidWrites(u64),
    /// So many MiB of incompressible data, written and read in requests of 1 MiB,
    /// then as many zeros. Marks separate the four.
    Stream(u64),
}

impl SpeedJob {
    /// The words on the guest's command line.
    pub fn words(self) -> [String; 2] {
        let (word, count) = match self {
            Self::Nothing => ("nothing", 0),
            Self::Reads(n) => ("reads", n),
            Self::EngineReads(n) => ("engine-reads", n),
            Self::RaidWrites(n) => ("raid-writes", n),
            Self::Stream(n) => ("stream", n),
        };
        [word.to_owned(), count.to_string()]
    }

    /// How many marks it makes.
    pub fn marks(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Reads(_) | Self::EngineReads(_) | Self::RaidWrites(_) => 2,
            Self::Stream(_) => 5,
        }
    }

    /// The other way round.
    fn parse(words: &[String]) -> Option<Self> {
        let [word, count] = words else { return None };
        let count = count.parse().ok()?;
        Some(match word.as_str() {
            "nothing" => Self::Nothing,
            "reads" => Self::Reads(count),
            "engine-reads" => Self::EngineReads(count),
            "raid-writes" => Self::RaidWrites(count),
            "stream" => Self::Stream(count),
            _ => return None,
        })
    }
}

/// Does what the words after [`SPEED_JOB`] say. To be called in the guest, after
/// [`disklab_lab_guest::begin`].
///
/// # Errors
/// [`GuestWorkError`] if the words name no work, or it cannot be done.
pub fn carry_out_in_guest(words: &[String]) -> Result<(), GuestWorkError> {
    disklab_lab_guest::release_memory();
    let on_drive = |action| move |source| GuestWorkError::Drive { action, source };
    match SpeedJob::parse(words).ok_or_else(|| GuestWorkError::UnknownJob(words.to_vec()))? {
        SpeedJob::Nothing => Ok(()),
        SpeedJob::Reads(count) => reads(count).map_err(on_drive("read")),
        SpeedJob::EngineReads(count) => engine::reads(count),
        SpeedJob::RaidWrites(count) => {
            let array = raid::assemble()?;
            raid_writes(&array, count).map_err(|source| GuestWorkError::Array { array, source })
        }
        SpeedJob::Stream(mib) => stream(mib).map_err(on_drive("use")),
    }
}

fn reads(count: u64) -> Result<(), Errno> {
    let drive = RawDisk::open(DRIVE)?;
    let mut page = AlignedBuffer::new(PAGE);
    let mut random = Xorshift::new();
    drive.mark()?;
    for _ in 0..count {
        drive.read(page.bytes(), random.next() % drive.pages)?;
        std::hint::black_box(now());
    }
    drive.mark()
}

fn raid_writes(array: &str, count: u64) -> Result<(), Errno> {
    let (drive, array) = (RawDisk::open(DRIVE)?, RawDisk::open(array)?);
    let mut page = AlignedBuffer::new(PAGE);
    let mut random = Xorshift::new();
    random.fill(page.bytes());
    drive.mark()?;
    for _ in 0..count {
        let number = random.next();
        stamp(page.bytes(), number);
        array.write(page.bytes(), number % array.pages)?;
    }
    drive.mark()
}

fn stream(mib: u64) -> Result<(), Errno> {
    let drive = RawDisk::open(DRIVE)?;
    let mut data = AlignedBuffer::new(MIB);
    let mut zeros = AlignedBuffer::new(MIB);
    Xorshift::new().fill(data.bytes());
    let pages = (MIB / PAGE) as u64;
    drive.mark()?;
    for at in 0..mib {
        stamp(data.bytes(), at);
        drive.write(data.bytes(), at * pages)?;
    }
    drive.mark()?;
    for at in 0..mib {
        drive.read(data.bytes(), at * pages)?;
    }
    drive.mark()?;
    for at in 0..mib {
        drive.write(zeros.bytes(), (mib + at) * pages)?;
    }
    drive.mark()?;
    for at in 0..mib {
        drive.read(zeros.bytes(), (mib + at) * pages)?;
    }
    drive.mark()
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    // Neither is negative: it counts from the guest's start.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_reported_in_words() {
        for job in [
            SpeedJob::Nothing,
            SpeedJob::Reads(7),
            SpeedJob::EngineReads(3),
            SpeedJob::RaidWrites(1),
            SpeedJob::Stream(u64::MAX),
        ] {
            assert_eq!(SpeedJob::parse(&job.words()), Some(job));
        }
        for words in [&[] as &[&str], &["reads"], &["reads", "x"], &["dance", "1"]] {
            let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            let error = carry_out_in_guest(&words).expect_err("no job");
            assert!(matches!(error, GuestWorkError::UnknownJob(named) if named == words));
        }
    }
}
