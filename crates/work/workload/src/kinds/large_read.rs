//! One large file, read as a usual program reads it: which one, and from where, is drawn. If the
//! study asks for it, the file is written in a step before that, as a copy from another machine is.
//!
//! The same requests in another rhythm can take half as long again. On md RAID 5 of four drives the
//! kernel reads 3 MiB ahead, two stripes of data, as `raid5_set_io_opt` (drivers/md/raid5.c) says. A
//! reader of 1 MiB begins with a whole window (`get_init_ra_size`, mm/readahead.c), so that
//! windows begin where stripes do, and the next is submitted while drives still work on the last:
//! 645 MB/s. A reader of 128 KiB grows its windows from 256 KiB, so that they begin within
//! chunks; a chunk is read in two requests, the second comes when its drive has passed it, and all
//! wait for that drive before the next window: 333 MB/s. Any kernel with that code does so.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::Interrupt;
use disklab_sample::{
    ContentProfile, Direction, Durability, OperationKind, Order, Requests, StepProfile, SyncCall,
    Task, TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{Advice, OFlags, fadvise};

use crate::data::{ByteStream, FileContent, one_file};
use crate::tally::Tally;
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind};

/// The file, in the directory of the cell.
const FILE: &str = "film";

/// The steps.
const WRITE: &str = "write";
const READ: &str = "read";

/// Bytes of a write, as of `server` below.
const WRITE_BLOCK: Bytes = Bytes(1 << 20);

/// Of ChaCha8's streams of a seed, this one.
const STREAM: u64 = 0x7265_6164;

/// A reader begins within so many bytes of the file's beginning: more than a stripe, and than what
/// is read ahead.
const LATEST_START: u64 = 16 << 20;
/// The start is a multiple of this.
const PAGE: u64 = 4096;

pub(super) const LARGE_READ: WorkloadKind = WorkloadKind {
    name: "large-read",
    summary: "a large file, read as cp, dd, a file server or a player does: drawn for each repeat",
    fields: &[
        ("size", "size of the file; scaled"),
        ("reader", "'drawn' (default), 'cp', 'dd', 'server' or 'player'"),
        ("write", "whether writing the file, 1 MiB at a time with an fsync, is measured (false)"),
    ],
    read,
};

/// How a program reads a file from beginning to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reader {
    name: &'static str,
    /// Bytes of a request.
    block: u64,
    /// Whether it says that it reads sequentially, which doubles the read-ahead.
    advises: bool,
    /// Whether it looks at the end first.
    looks_at_the_end: bool,
}

const READERS: [Reader; 4] = [
    // IO_BUFSIZE in ioblksize.h and fadvise in copy.c of coreutils 9.5.
    Reader { name: "cp", block: 256 << 10, advises: true, looks_at_the_end: false },
    // With bs=1M, as it is mostly used.
    Reader { name: "dd", block: 1 << 20, advises: false, looks_at_the_end: false },
    // Windows copies by requests of 1 MiB over SMB 3 (MaxReadSize of 8 MiB, credits of 64 KiB).
    Reader { name: "server", block: 1 << 20, advises: false, looks_at_the_end: false },
    // FFmpeg's IO_BUFFER_SIZE in libavformat/aviobuf.c; the index of an MP4 is often at its end.
    Reader { name: "player", block: 32 << 10, advises: false, looks_at_the_end: true },
];

#[derive(Debug)]
struct LargeRead {
    size: Bytes,
    /// One of [`READERS`], or drawn.
    reader: Option<Reader>,
    /// Whether the file is written in a step.
    writes: bool,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the large-read workload")?;
    let size = fields.require_bytes("size")?.scaled(context.scale, Bytes(PAGE));
    let [cp, dd, server, player] = READERS.map(|reader| (reader.name, Some(reader)));
    let reader = fields.choice("reader", &[("drawn", None), cp, dd, server, player])?.flatten();
    let writes = fields.boolean("write")?.unwrap_or(false);
    fields.finish()?;
    Ok(Box::new(LargeRead { size, reader, writes }))
}

impl LargeRead {
    /// The reader and its start, of a seed.
    fn draw(&self, seed: u64) -> (Reader, u64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM);
        let drawn = READERS[random.random_range(0..READERS.len())];
        let latest = LATEST_START.min(self.size.0 / 8) / PAGE;
        (self.reader.unwrap_or(drawn), random.random_range(0..=latest) * PAGE)
    }
}

/// Writes a new file at `path` with `size` bytes of `stream`, and syncs it.
fn write_file(
    path: &Path,
    size: Bytes,
    stream: &mut ByteStream,
    interrupt: &Interrupt,
) -> Result<StepOutcome, WorkloadError> {
    let mut tally = Tally::begin();
    let mut file = File::create_new(path).map_err(WorkloadError::io("cannot make", path))?;
    // As large as `WRITE_BLOCK` each.
    stream.give(size, |bytes| {
        interrupt.check()?;
        file.write_all(bytes).map_err(WorkloadError::io("cannot write", path))?;
        tally.lap(bytes.len() as u64);
        Ok::<(), WorkloadError>(())
    })?;
    file.sync_all().map_err(WorkloadError::io("cannot sync", path))?;
    Ok(tally.end(Direction::Write, OperationKind::Io))
}

/// Reads the file at `path` from `start` to its end.
fn read_file(
    path: &Path,
    reader: Reader,
    start: u64,
    interrupt: &Interrupt,
) -> Result<StepOutcome, WorkloadError> {
    let fail = || WorkloadError::io("cannot read", path);
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default())
        .open(path)
        .map_err(WorkloadError::io("cannot open", path))?;
    let mut block = vec![0; usize::try_from(reader.block).unwrap_or(1 << 20)];
    let mut tally = Tally::begin();
    if reader.advises {
        let _ = fadvise(&file, 0, None, Advice::Sequential);
    }
    if reader.looks_at_the_end {
        let size = file.metadata().map_err(fail())?.len();
        let at = size.saturating_sub(reader.block);
        file.read_at(&mut block, at).map_err(fail())?;
    }
    let mut at = start;
    loop {
        interrupt.check()?;
        let count = file.read_at(&mut block, at).map_err(fail())? as u64;
        if count == 0 {
            return Ok(tally.end(Direction::Read, OperationKind::Io));
        }
        tally.lap(count);
        at += count;
    }
}

impl Workload for LargeRead {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        Cost {
            space: self.size,
            content: self.size,
            prewrite: if self.writes { Bytes::ZERO } else { self.size },
            sequential_write: if self.writes { self.size } else { Bytes::ZERO },
            sequential_read: self.size,
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![FILE.to_owned()]
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let shared = one_file(self.size);
        if step == WRITE {
            return Some(StepProfile {
                writes: Some(Requests::of_size(WRITE_BLOCK.0, Order::Sequential)),
                read_share: Some(0.0),
                durability: Some(Durability::AtEnd(SyncCall::Fsync)),
                content: Some(ContentProfile::Random),
                time_in: Some(TimeIn::Writes),
                task: Some(Task::LargeWrite),
                ..shared
            });
        }
        let blocks = READERS.map(|reader| self.reader.unwrap_or(reader).block);
        let (smallest, largest) = blocks
            .iter()
            .fold((u64::MAX, 0), |(low, high), block| (low.min(*block), high.max(*block)));
        Some(StepProfile {
            reads: Some(Requests { smallest, largest, order: Order::Sequential }),
            read_share: Some(1.0),
            time_in: Some(TimeIn::Reads),
            task: Some(Task::LargeRead),
            ..shared
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        if self.writes {
            return Ok(());
        }
        let mut stream = ByteStream::new(FileContent::Random, context.seed);
        let path = context.directory.join(FILE);
        context.write_file(&mut stream, &path, self.size, true)
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let (reader, start) = self.draw(context.seed);
        let path = context.directory.join(FILE);
        if self.writes {
            let mut stream = ByteStream::new(FileContent::Random, context.seed);
            context.step(WRITE, |executor| {
                write_file(&path, self.size, &mut stream, &executor.interrupt)
            })?;
        }
        context.files_read.push((READ.to_owned(), vec![path.clone()]));
        context.step(READ, |executor| read_file(&path, reader, start, &executor.interrupt))?;
        context.note(
            "large-read",
            format!("read as by {}, {} at a time", reader.name, Bytes(reader.block)),
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::{read, run_in};

    #[test]
    fn readers_and_starts_are_drawn() {
        let of = |reader| LargeRead { size: Bytes::gib(2), reader, writes: false };
        let draws: Vec<(Reader, u64)> = (0..60).map(|seed| of(None).draw(seed)).collect();
        let names: BTreeSet<&str> = draws.iter().map(|(reader, _)| reader.name).collect();
        assert_eq!(names.len(), READERS.len());
        let starts: BTreeSet<u64> = draws.iter().map(|(_, start)| *start).collect();
        assert!(starts.len() > 50 && starts.iter().all(|s| *s <= LATEST_START && s % PAGE == 0));
        assert_eq!(of(None).draw(7), of(None).draw(7));
        // The same start for every reader.
        let dd = of(Some(READERS[1]));
        assert!((0..60).all(|seed| dd.draw(seed) == (READERS[1], of(None).draw(seed).1)));
    }

    #[test]
    fn all_from_the_start_on_is_read() {
        for reader in READERS.map(|reader| reader.name) {
            let directory = tempfile::tempdir().expect("temp");
            let body = format!("size = '3 MiB'\nreader = '{reader}'");
            let workload = read("large-read", &body, 1.0).expect("valid");
            let outcome = run_in(workload.as_ref(), directory.path(), None).expect("runs");
            let (_, start) =
                LargeRead { size: Bytes::mib(3), reader: None, writes: false }.draw(42);
            let figure = &outcome.steps[0].figures[0];
            assert_eq!(figure.bytes, (3 << 20) - start);
            assert_eq!(
                std::fs::metadata(directory.path().join(FILE)).expect("file").len(),
                3 << 20
            );
            assert!(outcome.notes.iter().any(|n| n.text.contains(reader)), "{:?}", outcome.notes);
        }
    }

    #[test]
    fn the_file_that_is_written_is_read() {
        let directory = tempfile::tempdir().expect("temp");
        let workload = read("large-read", "size = '3 MiB'\nwrite = true", 1.0).expect("valid");
        let outcome = run_in(workload.as_ref(), directory.path(), None).expect("runs");
        let figures: Vec<(&str, Direction, u64)> = outcome
            .steps
            .iter()
            .map(|step| (step.name.as_str(), step.figures[0].direction, step.figures[0].bytes))
            .collect();
        let (_, start) = LargeRead { size: Bytes::mib(3), reader: None, writes: true }.draw(42);
        let read = (3 << 20) - start;
        assert_eq!(
            figures,
            [("write", Direction::Write, 3 << 20), ("read", Direction::Read, read)]
        );
        let profile = workload.profile("write").expect("a profile");
        assert_eq!(profile.task, Some(Task::LargeWrite));
        assert_eq!(workload.profile("read").expect("a profile").task, Some(Task::LargeRead));
    }

    #[test]
    fn other_readers_are_errors() {
        let error = read("large-read", "size = '1M'\nreader = 'cat'", 1.0).expect_err("unknown");
        assert!(error.message.contains("'player'"), "{}", error.message);
    }
}
