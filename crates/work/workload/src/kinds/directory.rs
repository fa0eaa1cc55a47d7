//! One directory with many entries: created, listed, looked at, deleted.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::Interrupt;
use disklab_sample::{
    ContentProfile, Direction, Durability, FileSet, OperationKind, StepProfile, Task, TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, openat, statat, unlinkat};

use crate::data::{ByteStream, FileContent};
use crate::duration::nanoseconds;
use crate::tally::Tally;
use crate::tree::sync_tree;
use crate::{
    Context, Cost, Damage, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind,
};

/// The directory, in that of the cell.
const ENTRIES: &str = "entries";

/// What one system call gives of a directory at most: the buffer of glibc's
/// opendir (sysdeps/unix/sysv/linux/opendir.c), and so of ls and find.
const LIST_BUFFER: usize = 32 << 10;

/// mke2fs reserves an inode for each 16 KiB (inode_ratio in mke2fs.conf), so a file
/// system with less room than that for each file has too few of them.
const ROOM: Bytes = Bytes(16 << 10);

/// System calls for an entry: two make it, two look at it, one removes it, and making and
/// removing inodes takes the kernel as long as two more.
const ENTRY_CALLS: u64 = 7;

/// An inode and a directory entry, each in a few trees: what is really written.
const METADATA: Bytes = Bytes(1 << 10);

/// Lists of names are held in memory, of some 50 bytes each.
const MOST: u64 = 5_000_000;

pub(super) const DIRECTORY: WorkloadKind = WorkloadKind {
    name: "directory",
    summary: "one directory with many entries: create, list, stat, delete",
    fields: &[
        ("entries", "number of files (default 100000); scaled"),
        ("size", "bytes in each file (default 0: empty files)"),
        ("delete", "'random' (default) or 'readdir': the order in which they are deleted"),
        ("sync", "whether the times of create and delete include a sync (default true)"),
    ],
    read,
};

#[derive(Debug)]
struct Directory {
    entries: u64,
    scaled_from: Option<u64>,
    size: Bytes,
    random_delete: bool,
    sync: bool,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the directory workload")?;
    let asked = fields.integer("entries", 1..=MOST)?.unwrap_or(100_000);
    let size_node = fields.take("size");
    let size: Bytes = match size_node {
        None => Bytes::ZERO,
        Some(node) => node.as_text()?.parse().map_err(|e| node.error(format!("`size`: {e}")))?,
    };
    if let Some(node) = size_node.filter(|_| size > Bytes::mib(64)) {
        return Err(
            node.error(format!("`size`: expected at most 64 MiB in each file, found {size}"))
        );
    }
    let random_delete =
        fields.choice("delete", &[("random", true), ("readdir", false)])?.unwrap_or(true);
    let sync = fields.boolean("sync")?.unwrap_or(true);
    fields.finish()?;
    let entries = Bytes(asked).scaled(context.scale, Bytes(1)).0.min(MOST);
    let scaled_from = (entries != asked).then_some(asked);
    Ok(Box::new(Directory { entries, scaled_from, size, random_delete, sync }))
}

impl Directory {
    fn data(&self) -> Bytes {
        self.size.saturating_mul(self.entries)
    }

    fn create(
        &self,
        directory: &Path,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<StepOutcome, WorkloadError> {
        let opened = open(directory)?;
        let mut stream = ByteStream::new(FileContent::Random, seed);
        let mut tally = Tally::begin();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        for number in 1..=self.entries {
            interrupt.check()?;
            let name = format!("{number:08}");
            let failed = |what: &str, e| WorkloadError::io(what, &directory.join(&name))(e);
            let file = openat(&opened, &name, flags, Mode::from_raw_mode(0o644))
                .map_err(|e| failed("cannot make", e.into()))?;
            let mut file = File::from(file);
            stream.give(self.size, |bytes| {
                file.write_all(bytes).map_err(|e| failed("cannot write", e))
            })?;
            drop(file);
            tally.lap(self.size.0);
        }
        self.finish(directory, tally, Direction::Write)
    }

    fn delete(
        &self,
        directory: &Path,
        names: &[CString],
        interrupt: &Interrupt,
    ) -> Result<StepOutcome, WorkloadError> {
        let opened = open(directory)?;
        let mut tally = Tally::begin();
        for name in names {
            interrupt.check()?;
            unlinkat(&opened, name, AtFlags::empty())
                .map_err(|e| WorkloadError::io("cannot delete a file of", directory)(e.into()))?;
            tally.lap(0);
        }
        self.finish(directory, tally, Direction::Remove)
    }

    /// Ends a step that changes the directory, on the disk where asked.
    fn finish(
        &self,
        directory: &Path,
        tally: Tally,
        direction: Direction,
    ) -> Result<StepOutcome, WorkloadError> {
        if self.sync {
            sync_tree(directory)?;
        }
        Ok(tally.end(direction, OperationKind::File))
    }
}

/// Lists the directory; the latencies are those of the system calls, each of which
/// gives hundreds of names.
fn list(
    directory: &Path,
    interrupt: &Interrupt,
) -> Result<(StepOutcome, Vec<CString>), WorkloadError> {
    let mut buffer = vec![MaybeUninit::uninit(); LIST_BUFFER];
    let mut names = Vec::new();
    let mut tally = Tally::begin();
    let mut opened = RawDir::new(open(directory)?, &mut buffer);
    loop {
        interrupt.check()?;
        let entry = if opened.is_buffer_empty() {
            let began = Instant::now();
            let entry = opened.next();
            tally.record(nanoseconds(began.elapsed()), 0);
            entry
        } else {
            opened.next()
        };
        let Some(entry) = entry else { break };
        let entry = entry.map_err(|e| WorkloadError::io("cannot list", directory)(e.into()))?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    let mut outcome = tally.end(Direction::Read, OperationKind::Entry);
    // What is counted are entries, not calls.
    for figure in &mut outcome.figures {
        let seconds = figure.elapsed_ns as f64 / 1e9;
        figure.operations = Some(names.len() as u64);
        figure.operations_per_second = (seconds > 0.0).then(|| names.len() as f64 / seconds);
    }
    Ok((outcome, names))
}

fn stat(
    directory: &Path,
    names: &[CString],
    interrupt: &Interrupt,
) -> Result<StepOutcome, WorkloadError> {
    let opened = open(directory)?;
    let mut tally = Tally::begin();
    for name in names {
        interrupt.check()?;
        statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|e| WorkloadError::io("cannot stat a file of", directory)(e.into()))?;
        tally.lap(0);
    }
    Ok(tally.end(Direction::Read, OperationKind::Entry))
}

fn open(directory: &Path) -> Result<OwnedFd, WorkloadError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::empty())
        .map_err(|e| WorkloadError::io("cannot open", directory)(e.into()))
}

impl Workload for Directory {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        // A file of one byte takes a block.
        let blocks = Bytes(self.size.0.div_ceil(4096) * 4096).saturating_mul(self.entries);
        Cost {
            space: blocks + ROOM.saturating_mul(self.entries),
            content: blocks + METADATA.saturating_mul(self.entries),
            sequential_write: self.data(),
            random_write: METADATA.saturating_mul(self.entries),
            // Sixteen inodes of 256 bytes lie in a block, which listing, either stat
            // and deleting look for.
            seeks: (self.entries / 16).max(1),
            calls: self.entries.saturating_mul(ENTRY_CALLS),
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![ENTRIES.to_owned()]
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let task = match step {
            "create" => Some(Task::Create),
            "list" | "stat" => Some(Task::List),
            "delete" => Some(Task::Delete),
            _ => None,
        };
        let changes = matches!(step, "create" | "delete");
        Some(StepProfile {
            durability: changes.then(|| Durability::at_end(self.sync)),
            content: (step == "create").then_some(ContentProfile::Random),
            files: Some(FileSet { files: self.entries, bytes: self.data().0 }),
            operations: Some(self.entries),
            time_in: Some(TimeIn::Files),
            jobs: Some(1),
            task,
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let directory = context.directory.join(ENTRIES);
        fs::create_dir(&directory).map_err(WorkloadError::io("cannot make", &directory))?;
        if let Some(asked) = self.scaled_from {
            context.note("directory", format!("scaled from {asked} to {} entries", self.entries));
        }
        context.note(
            "directory",
            format!(
                "files of {} each, created in the order of their names; listing is counted in \
                 entries, its latencies are those of calls that give up to 32 KiB of names",
                self.size
            ),
        );
        context.note(
            "directory",
            if self.sync {
                "the times of create and delete include a sync of the file system; their \
                 latencies do not"
            } else {
                "the times include no sync: what the page cache holds back is not in them"
            },
        );
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let directory = context.directory.join(ENTRIES);
        let seed = context.seed;
        context.step("create", |executor| self.create(&directory, seed, &executor.interrupt))?;
        let mut names = Vec::new();
        context.step("list", |executor| {
            let (outcome, found) = list(&directory, &executor.interrupt)?;
            names = found;
            Ok(outcome)
        })?;
        if names.len() as u64 != self.entries {
            let (found, created) = (names.len() as u64, self.entries);
            return Err(Damage::Entries { directory, found, created }.into());
        }
        context.step("stat", |executor| stat(&directory, &names, &executor.interrupt))?;
        let mut shuffled = names.clone();
        shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        context.step("stat-random", |executor| stat(&directory, &shuffled, &executor.interrupt))?;
        let order = if self.random_delete {
            // Another order than that of the step before.
            shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(seed.wrapping_add(1)));
            &shuffled
        } else {
            &names
        };
        context.step("delete", |executor| self.delete(&directory, order, &executor.interrupt))
    }
}

#[cfg(test)]
mod tests {
    use disklab_exec::Executor;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{context, read, run_in};

    #[test]
    fn entries_come_and_go() {
        for (body, bytes) in [
            ("entries = 1500\nsync = false", 0),
            ("entries = 1500\nsize = 100\ndelete = 'readdir'", 75_000),
        ] {
            let directory = tempfile::tempdir().expect("temp");
            let workload = read("directory", body, 0.5).expect("valid");
            let ran = run_in(&*workload, directory.path(), None).expect(body);
            let steps: Vec<_> = ran
                .steps
                .iter()
                .map(|s| (s.name.as_str(), s.figures[0].direction, s.figures[0].operations))
                .collect();
            let count = Some(750);
            assert_eq!(
                steps,
                [
                    ("create", Direction::Write, count),
                    ("list", Direction::Read, count),
                    ("stat", Direction::Read, count),
                    ("stat-random", Direction::Read, count),
                    ("delete", Direction::Remove, count),
                ]
            );
            assert_eq!(ran.steps[0].figures[0].bytes, bytes);
            let latencies = |step: usize| {
                let latency = ran.steps[step].figures[0].latency.as_ref();
                latency.map_or(0, |l| l.histogram.count())
            };
            assert_eq!([0, 2, 3, 4].map(latencies), [750; 4]);
            // The last call says that there is no more.
            assert!((2..10).contains(&latencies(1)), "{}", latencies(1));
            assert!(ran.notes.iter().any(|n| n.text == "scaled from 1500 to 750 entries"));
            assert_eq!(fs::read_dir(directory.path().join(ENTRIES)).expect("directory").count(), 0);
        }
    }

    #[test]
    fn entries_changed_by_others_are_noticed() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mut context = context(&executor, directory.path(), None);
        let workload = read("directory", "entries = 3", 1.0).expect("valid");
        workload.prepare(&mut context).expect("prepared");
        fs::write(directory.path().join(ENTRIES).join("stranger"), "").expect("file");
        let error = workload.run(&mut context).expect_err("one too many").to_string();
        assert!(error.contains("lists 4 entries where 3"), "{error}");
    }

    #[test]
    fn wrong_fields_are_errors() {
        for (body, part) in [
            ("entries = 0", "from 1"),
            ("size = '1 GB'", "at most 64 MiB"),
            ("delete = 'name'", "'random' or 'readdir'"),
            ("entrys = 3", "did you mean 'entries'"),
        ] {
            let error = read("directory", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest! {
        #[test]
        fn there_is_room_for_every_entry(
            scale in 1e-9_f64..4.0, entries in 1_u64..MOST, size in 0_u64..1 << 26,
        ) {
            let body = format!("entries = {entries}\nsize = {size}");
            let cost = read("directory", &body, scale).expect("valid").cost();
            prop_assert!(cost.space.0 >= ROOM.0 && cost.content <= cost.space);
            prop_assert!(cost.sequential_write <= cost.space && cost.seeks > 0);
        }
    }
}
