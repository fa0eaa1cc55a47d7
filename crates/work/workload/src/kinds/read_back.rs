//! A file that is written, and after a while read back and compared: what of it is right, what cannot
//! be read, and what is wrong without a word. Then the stack is scrubbed, and it is read again.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use disklab_cell::{Care, WorkloadPlan};
use disklab_config::Fields;
use disklab_content::{ContentBuffers, Spec};
use disklab_exec::Executor;
use disklab_sample::{
    ContentProfile, Direction, Durability, KeptData, OperationKind, Order, Requests, StepProfile,
    SyncCall,
};
use disklab_source::SourceError;
use disklab_units::Bytes;
use rustix::fs::{Mode, OFlags};

use crate::data::{ByteStream, FileContent, one_file};
use crate::tally::Tally;
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind};

/// The file, in the directory of the cell.
const FILE: &str = "kept";

/// The steps.
const WRITE: &str = "write";
const READ: &str = "read";
const SCRUB: &str = "scrub";
const AGAIN: &str = "read-again";

/// What is compared at once: a block of the usual file systems, and a page.
const BLOCK: usize = 4096;

pub(super) const READ_BACK: WorkloadKind = WorkloadKind {
    name: "read-back",
    summary: "a file, read back and compared after a while, and again after a scrub",
    fields: &[
        ("size", "size of the file; scaled"),
        (
            "wait",
            "from when it was written until it is read; a drive's faults happen meanwhile [default: 60 s]",
        ),
    ],
    read,
};

#[derive(Debug)]
struct ReadBack {
    size: Bytes,
    wait: Duration,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the read-back workload")?;
    let size = fields.require_bytes("size")?.scaled(context.scale, Bytes(BLOCK as u64));
    let wait = fields.duration("wait")?.unwrap_or(Duration::from_secs(60));
    fields.finish()?;
    Ok(Box::new(ReadBack { size, wait }))
}

impl ReadBack {
    /// Reads the file and compares it with what was written.
    fn compare(
        &self,
        path: &Path,
        seed: u64,
        executor: &Executor,
    ) -> Result<StepOutcome, WorkloadError> {
        // A file system that lost its directory has lost all of it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).map(File::from);
        let mut expected = ContentBuffers::plain(Spec::random().base, seed);
        let (mut right, mut found) = (vec![0; BLOCK], vec![0; BLOCK]);
        let (mut kept, mut tally) = (KeptData::default(), Tally::begin());
        let mut at = 0;
        while at < self.size.0 {
            executor.interrupt.check()?;
            let length = (self.size.0 - at).min(BLOCK as u64) as usize;
            expected.fill(&mut right[..length]);
            let read = file.as_ref().map(|file| file.read_exact_at(&mut found[..length], at));
            match read {
                Ok(Ok(())) if found[..length] == right[..length] => kept.right += 1,
                Ok(Ok(())) => kept.wrong += 1,
                Ok(Err(_)) | Err(_) => kept.unreadable += 1,
            }
            tally.lap(length as u64);
            at += length as u64;
        }
        let outcome = tally.end(Direction::Read, OperationKind::Io);
        Ok(StepOutcome { kept: Some(kept), ..outcome })
    }
}

impl Workload for ReadBack {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        let read = Bytes(self.size.0.saturating_mul(2));
        Cost {
            space: self.size,
            content: self.size,
            sequential_write: self.size,
            sequential_read: read,
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![FILE.to_owned()]
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let shared = one_file(self.size);
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
        let path = context.directory.join(FILE);
        let seed = context.seed;
        context.step(WRITE, |executor| {
            let mut tally = Tally::begin();
            let mut stream = ByteStream::new(FileContent::Random, seed);
            stream.write_file(&path, self.size, true, &executor.interrupt)?;
            tally.lap(self.size.0);
            Ok(tally.end(Direction::Write, OperationKind::Io))
        })?;
        context.executor.interrupt.sleep(self.wait)?;
        context.step(READ, |executor| self.compare(&path, seed, executor))?;
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
        context.step(AGAIN, |executor| self.compare(&path, seed, executor))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::testing::{context, read};

    fn body() -> Box<dyn Workload> {
        read("read-back", "size = '1 MiB'\nwait = '0 s'", 1.0).expect("valid")
    }

    #[test]
    fn what_is_changed_is_found() {
        let folder = tempfile::tempdir().expect("temp");
        let executor = Executor::new(disklab_exec::Interrupt::new());
        let mut place = context(&executor, folder.path(), None);
        body().run(&mut place).expect("runs");
        let names: Vec<&str> = place.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["write", "read"], "nothing can be scrubbed here");
        assert_eq!(place.steps[1].kept, Some(KeptData { right: 256, wrong: 0, unreadable: 0 }));
        // A byte is changed, and the last 8 KiB are gone.
        let path = folder.path().join(FILE);
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("open");
        let mut byte = [0];
        std::fs::File::open(&path).expect("open").read_exact_at(&mut byte, 9000).expect("a byte");
        file.write_all_at(&[byte[0] ^ 1], 9000).expect("write");
        file.set_len((1 << 20) - 8192).expect("cut");
        let back = ReadBack { size: Bytes::mib(1), wait: Duration::ZERO };
        let found = back.compare(&path, place.seed, &executor).expect("compares");
        assert_eq!(found.kept, Some(KeptData { right: 253, wrong: 1, unreadable: 2 }));
        std::fs::remove_file(&path).expect("remove");
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        let found = back.compare(&path, place.seed, &executor).expect("compares");
        assert_eq!(found.kept.expect("counted").unreadable, 256, "no link is followed");
    }

    #[test]
    fn a_size_is_needed() {
        let error = read("read-back", "wait = '1 s'", 1.0).expect_err("no size");
        assert!(error.message.contains("size"), "{}", error.message);
    }
}
