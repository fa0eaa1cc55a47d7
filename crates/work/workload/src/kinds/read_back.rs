//! Files that are written, and after a while read back and compared: what of them is right, what cannot
//! be read, and what is wrong without a word. Then the stack is scrubbed, and they are read again.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_cell::{Care, WorkloadPlan};
use disklab_config::Fields;
use disklab_content::{ContentBuffers, Spec};
use disklab_exec::Executor;
use disklab_sample::{
    ContentProfile, Direction, Durability, FileSet, KeptData, OperationKind, Order, Requests,
    StepProfile, SyncCall,
};
use disklab_source::SourceError;
use disklab_units::Bytes;
use rustix::fs::{Mode, OFlags};

use crate::data::{ByteStream, FileContent, one_file};
use crate::tally::Tally;
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind};

/// The directory of the files, in that of the cell.
const FILES: &str = "kept";
/// Files at most.
const MOST: u64 = 100_000;

/// The steps.
const WRITE: &str = "write";
const READ: &str = "read";
const SCRUB: &str = "scrub";
const AGAIN: &str = "read-again";

/// What is compared at once: a block of the usual file systems, and a page.
const BLOCK: usize = 4096;

pub(super) const READ_BACK: WorkloadKind = WorkloadKind {
    name: "read-back",
    summary: "files, read back and compared after a while, and again after a scrub",
    fields: &[
        ("size", "size of all files; scaled"),
        ("files", "number of files [default: 1]"),
        (
            "wait",
            "from when they were written until they are read; a drive's faults happen meanwhile [default: 60 s]",
        ),
    ],
    read,
};

#[derive(Debug)]
struct ReadBack {
    files: u64,
    /// Of each of them.
    size: Bytes,
    wait: Duration,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the read-back workload")?;
    let size = fields.require_bytes("size")?.scaled(context.scale, Bytes(BLOCK as u64));
    let files = fields.integer("files", 1..=MOST)?.unwrap_or(1);
    let size = Bytes(size.0.div_ceil(files).next_multiple_of(BLOCK as u64));
    let wait = fields.duration("wait")?.unwrap_or(Duration::from_secs(60));
    fields.finish()?;
    Ok(Box::new(ReadBack { files, size, wait }))
}

impl ReadBack {
    fn all(&self) -> Bytes {
        Bytes(self.size.0.saturating_mul(self.files))
    }

    /// Writes one after the other.
    fn write(
        &self,
        directory: &Path,
        seed: u64,
        executor: &Executor,
    ) -> Result<StepOutcome, WorkloadError> {
        let mut tally = Tally::begin();
        let mut stream = ByteStream::new(FileContent::Random, seed);
        fs::create_dir(directory).map_err(WorkloadError::io("cannot create", directory))?;
        for number in 0..self.files {
            stream.write_file(&file(directory, number), self.size, true, &executor.interrupt)?;
            tally.lap(self.size.0);
        }
        Ok(tally.end(Direction::Write, OperationKind::Io))
    }

    /// Reads the files and compares them with what was written.
    fn compare(
        &self,
        directory: &Path,
        seed: u64,
        executor: &Executor,
    ) -> Result<StepOutcome, WorkloadError> {
        let mut expected = ContentBuffers::plain(Spec::random().base, seed);
        let (mut right, mut found) = (vec![0; BLOCK], vec![0; BLOCK]);
        let mut kept = KeptData { files: self.files, ..KeptData::default() };
        let mut tally = Tally::begin();
        for number in 0..self.files {
            // A file system that lost its directory has lost all of it.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::fs::open(file(directory, number), flags, Mode::empty());
            let opened = opened.map(File::from);
            let before = kept.right;
            for at in (0..self.size.0).step_by(BLOCK) {
                executor.interrupt.check()?;
                expected.fill(&mut right);
                match opened.as_ref().map(|file| file.read_exact_at(&mut found, at)) {
                    Ok(Ok(())) if found == right => kept.right += 1,
                    Ok(Ok(())) => kept.wrong += 1,
                    Ok(Err(_)) | Err(_) => kept.unreadable += 1,
                }
                tally.lap(BLOCK as u64);
            }
            kept.damaged += u64::from((kept.right - before) * (BLOCK as u64) < self.size.0);
        }
        let outcome = tally.end(Direction::Read, OperationKind::Io);
        Ok(StepOutcome { kept: Some(kept), ..outcome })
    }
}

fn file(directory: &Path, number: u64) -> PathBuf {
    directory.join(number.to_string())
}

impl ReadBack {
    /// Reads the files as a step, with nothing of it in memory. Returns whether its file system is mounted:
    /// where that is no longer possible, all is lost.
    fn read_again(
        &self,
        name: &str,
        directory: &Path,
        context: &mut WorkContext<'_>,
    ) -> Result<bool, WorkloadError> {
        let is_mounted = match context.empty_caches() {
            Err(WorkloadError::Remount(why)) => {
                context.note(name, format!("all is lost, as it is not mounted again: {why}"));
                false
            }
            other => other.map(|()| true)?,
        };
        let seed = context.seed;
        context.step(name, |executor| self.compare(directory, seed, executor))?;
        Ok(is_mounted)
    }
}

impl Workload for ReadBack {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        let read = Bytes(self.all().0.saturating_mul(2));
        Cost {
            space: self.all(),
            content: self.all(),
            sequential_write: self.all(),
            sequential_read: read,
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![FILES.to_owned()]
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let files = FileSet { files: self.files, bytes: self.all().0 };
        let shared = StepProfile { files: Some(files), ..one_file(self.all()) };
        match step {
            WRITE => Some(StepProfile {
                writes: Some(Requests::of_size(1 << 20, Order::Sequential)),
                read_share: Some(0.0),
                durability: Some(Durability::AtEnd(SyncCall::Fsync)),
                content: Some(ContentProfile::Random),
                ..shared
            }),
            READ | AGAIN => Some(StepProfile {
                reads: Some(Requests::of_size(BLOCK as u64, Order::Sequential)),
                read_share: Some(1.0),
                ..shared
            }),
            _ => None,
        }
    }

    fn prepare(&self, _: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let directory = context.directory.join(FILES);
        let seed = context.seed;
        context.step(WRITE, |executor| self.write(&directory, seed, executor))?;
        context.executor.interrupt.sleep(self.wait)?;
        if !self.read_again(READ, &directory, context)? {
            return Ok(());
        }
        let Some(caretaker) = context.caretaker.filter(|caretaker| caretaker.can(Care::Scrub))
        else {
            return Ok(());
        };
        let (began, mut found) = (Instant::now(), None);
        context.step(SCRUB, |executor| {
            found = caretaker.care(Care::Scrub, None, executor)?;
            Ok(StepOutcome::default())
        })?;
        let found = found.map(|found| format!(": {found}")).unwrap_or_default();
        let took = began.elapsed().as_secs_f64();
        context.note(SCRUB, format!("scrubbed in {took:.1} s{found}"));
        self.read_again(AGAIN, &directory, context).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::Remounter;
    use crate::testing::{context, read};

    #[test]
    fn what_is_changed_is_found() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(disklab_exec::Interrupt::new());
        let mut place = context(&executor, directory.path(), None);
        let body = "size = '1 MiB'\nwait = '0 s'\nfiles = 4";
        read("read-back", body, 1.0).expect("valid").run(&mut place).expect("runs");
        let names: Vec<&str> = place.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["write", "read"], "nothing can be scrubbed here");
        let all = KeptData { right: 256, files: 4, ..KeptData::default() };
        assert_eq!(place.steps[1].kept, Some(all));
        // A byte of one file is changed, and the last 8 KiB of another are gone.
        let kept = directory.path().join(FILES);
        let path = file(&kept, 1);
        let changed = fs::OpenOptions::new().write(true).open(&path).expect("open");
        let mut byte = [0];
        File::open(&path).expect("open").read_exact_at(&mut byte, 9000).expect("a byte");
        changed.write_all_at(&[byte[0] ^ 1], 9000).expect("write");
        let cut = fs::OpenOptions::new().write(true).open(file(&kept, 3)).expect("open");
        cut.set_len((1 << 18) - 8192).expect("cut");
        let back = ReadBack { files: 4, size: Bytes::kib(256), wait: Duration::ZERO };
        let found = back.compare(&kept, place.seed, &executor).expect("compares");
        let damaged = KeptData { right: 253, wrong: 1, unreadable: 2, files: 4, damaged: 2 };
        assert_eq!(found.kept, Some(damaged));
        fs::remove_file(&path).expect("remove");
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        let found = back.compare(&kept, place.seed, &executor).expect("compares");
        assert_eq!(found.kept.expect("counted").unreadable, 66, "no link is followed");
    }

    /// A file system that cannot be mounted again once its files are away.
    #[derive(Debug)]
    struct Hit<'a>(&'a Path);

    impl Remounter for Hit<'_> {
        fn unmount(&self, _: &Executor) -> Result<Option<String>, WorkloadError> {
            fs::remove_dir_all(self.0).expect("it was written");
            Ok(None)
        }

        fn mount(&self, _: &Executor) -> Result<Vec<String>, WorkloadError> {
            Err(WorkloadError::Remount("bad superblock".into()))
        }
    }

    #[test]
    fn what_is_not_mounted_again_is_lost() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(disklab_exec::Interrupt::new());
        let path = directory.path().join(FILES);
        let hit = Hit(&path);
        let mut place = context(&executor, directory.path(), None);
        let back = ReadBack { files: 1, size: Bytes::mib(1), wait: Duration::ZERO };
        place.step(WRITE, |executor| back.write(&path, 1, executor)).expect("written");
        place.caches = disklab_cell::Caches::Cold;
        place.remount = Some(&hit);
        assert!(!back.read_again(READ, &path, &mut place).expect("reads"), "it is not mounted");
        let kept = place.steps[1].kept.expect("counted");
        assert_eq!(kept, KeptData { unreadable: 256, files: 1, damaged: 1, ..KeptData::default() });
        assert!(place.notes.iter().any(|note| note.text.contains("bad superblock")));
    }

    #[test]
    fn a_size_is_needed_and_files_are_whole_blocks() {
        let error = read("read-back", "wait = '1 s'", 1.0).expect_err("no size");
        assert!(error.message.contains("size"), "{}", error.message);
        let error = read("read-back", "size = '1 MiB'\nfiles = 0", 1.0).expect_err("no file");
        assert!(error.message.contains("files"), "{}", error.message);
        let odd = read("read-back", "size = '10000'\nfiles = 3", 1.0).expect("valid");
        assert_eq!(odd.cost().space, Bytes(3 * 4096));
    }
}
