//! Sequential reads by disklab itself, where hdparm does not fit.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use disklab_exec::{Interrupt, ProcessStat};
use disklab_sample::{Direction, Figure, OperationKind};
use rustix::fs::{Advice, OFlags, fadvise};

use crate::duration::nanoseconds;
use crate::{StepOutcome, WorkloadError};

/// hdparm reads 2 MiB at a time (TIMING_BUF_MB in its hdparm.c).
const PIECE: usize = 2 << 20;
/// Direct I/O wants memory aligned to the drive's sectors, of 4 KiB at most.
const ALIGNMENT: usize = 4096;
/// The most that is read from the start again and again. Caches of 10 GB/s give it in
/// a second, which is enough to tell their rate; in the lab, where copying takes no
/// virtual time unless the processor is charged, a limit of time alone would let it
/// copy terabytes.
const MOST_CACHED: u64 = 8 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadExtent {
    /// All of it from the start, once.
    Forward,
    /// Its first 2 MiB again and again, after a first time that is not counted:
    /// what the caches give.
    Start,
}

/// Reads the file or block device at `path` for `limit`, or to its end; from the start
/// again and again no more than [`MOST_CACHED`].
///
/// # Errors
/// Where it cannot be read or is empty, or the user asked to stop.
pub(crate) fn read_for(
    path: &Path,
    extent: ReadExtent,
    direct: bool,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<StepOutcome, WorkloadError> {
    let file = open(path, direct)?;
    let mut memory = vec![0; PIECE + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    let buffer = &mut memory[start..start + PIECE];
    let mut read =
        |offset: u64| file.read_at(buffer, offset).map_err(WorkloadError::io("cannot read", path));
    match extent {
        ReadExtent::Start => {
            read(0)?;
        }
        // As hdparm's BLKFLSBUF: what is cached already would not be read.
        ReadExtent::Forward => {
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
        }
    }
    let cpu = thread_time();
    let began = Instant::now();
    let (mut bytes, mut operations) = (0_u64, 0_u64);
    let elapsed = loop {
        interrupt.check()?;
        let count = read(if extent == ReadExtent::Start { 0 } else { bytes })?;
        bytes += count as u64;
        let elapsed = began.elapsed();
        if count == 0 {
            break elapsed;
        }
        operations += 1;
        // After a short piece an offset would be unaligned; it is the end anyway.
        let ends = match extent {
            ReadExtent::Forward => count < PIECE,
            ReadExtent::Start => bytes >= MOST_CACHED,
        };
        if elapsed >= limit || ends {
            break elapsed;
        }
    };
    if operations == 0 {
        return Err(WorkloadError::NothingToRead(path.to_owned()));
    }
    let used = thread_time();
    Ok(StepOutcome {
        figures: vec![figure(bytes, operations, elapsed)],
        user_ns: used.0.saturating_sub(cpu.0),
        system_ns: used.1.saturating_sub(cpu.1),
        ..StepOutcome::default()
    })
}

fn figure(bytes: u64, operations: u64, elapsed: Duration) -> Figure {
    let seconds = elapsed.as_secs_f64();
    Figure {
        direction: Direction::Read,
        bytes,
        operations: Some(operations),
        elapsed_ns: nanoseconds(elapsed),
        bytes_per_second: (seconds > 0.0).then(|| bytes as f64 / seconds),
        operations_per_second: (seconds > 0.0).then(|| operations as f64 / seconds),
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    }
}

fn open(path: &Path, direct: bool) -> Result<File, WorkloadError> {
    let mut options = OpenOptions::new();
    options.read(true);
    if direct {
        options.custom_flags(OFlags::DIRECT.bits() as i32);
    }
    options.open(path).map_err(|error| {
        if direct && error.kind() == ErrorKind::InvalidInput {
            WorkloadError::NoDirectIo(path.to_owned())
        } else {
            WorkloadError::io("cannot open", path)(error)
        }
    })
}

/// This thread's CPU time so far in user space and in the kernel, in nanoseconds. The
/// kernel tells it in ticks of USER_HZ, which is 100 per second on every architecture that
/// Linux has today.
pub(crate) fn thread_time() -> (u64, u64) {
    const TICK_NS: u64 = 10_000_000;
    let stat = ProcessStat::of_this_thread();
    stat.map_or((0, 0), |stat| {
        (stat.user_ticks.saturating_mul(TICK_NS), stat.system_ticks.saturating_mul(TICK_NS))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(size: usize) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().expect("temp");
        let path = directory.path().join("f");
        fs::write(&path, vec![7; size]).expect("file");
        (directory, path)
    }

    #[test]
    fn reads_to_the_end() {
        let (_directory, path) = file(5 << 20);
        for direct in [false, true] {
            let limit = Duration::from_secs(100);
            let read = read_for(&path, ReadExtent::Forward, direct, limit, &Interrupt::new());
            if direct && read.is_err() {
                eprintln!("skipped: needs a file system with direct I/O");
                return;
            }
            let figure = &read.expect("read").figures[0];
            assert_eq!((figure.bytes, figure.operations), (5 << 20, Some(3)));
        }
    }

    #[test]
    fn reads_the_start_until_time_is_up() {
        let (_directory, path) = file(5 << 20);
        let limit = Duration::from_millis(30);
        let outcome =
            read_for(&path, ReadExtent::Start, false, limit, &Interrupt::new()).expect("read");
        let figure = &outcome.figures[0];
        assert_eq!(figure.bytes, figure.operations.expect("counted") * PIECE as u64);
        assert!(figure.elapsed_ns >= 30_000_000);
    }

    #[test]
    fn the_start_is_not_read_for_ever_where_time_hangs() {
        let (_directory, path) = file(5 << 20);
        let limit = Duration::from_secs(1_000_000);
        let outcome =
            read_for(&path, ReadExtent::Start, false, limit, &Interrupt::new()).expect("read");
        assert_eq!(outcome.figures[0].bytes, MOST_CACHED);
    }

    #[test]
    fn an_empty_file_is_an_error() {
        let (_directory, path) = file(0);
        for extent in [ReadExtent::Start, ReadExtent::Forward] {
            let limit = Duration::from_secs(1);
            let error = read_for(&path, extent, false, limit, &Interrupt::new());
            assert!(error.expect_err("empty").to_string().contains("nothing to read"));
        }
    }

    #[test]
    fn an_interrupt_stops_it() {
        let (_directory, path) = file(4096);
        let interrupt = Interrupt::new();
        interrupt.raise();
        let read = read_for(&path, ReadExtent::Start, false, Duration::from_secs(1000), &interrupt);
        assert!(read.expect_err("stopped").is_interrupt());
    }

    #[test]
    fn cpu_time_is_found() {
        let began = Instant::now();
        let mut sum = 0_u64;
        while thread_time() == (0, 0) && began.elapsed() < Duration::from_secs(20) {
            sum = (0..1_000_000_u64).fold(sum, u64::wrapping_add);
        }
        assert_ne!(thread_time(), (0, 0), "{sum}");
    }
}
