//! The steps of a backup: copies, restore, check.

use std::fs;

use disklab_exec::{Finished, Invocation};
use disklab_sample::{Direction, Figure, OperationKind};
use disklab_units::{Bytes, significant};

use super::borg::{BASE, REPOSITORY, SEGMENT, Stored, archive, borg, copy_name, stored};
use super::workload::{Backup, BackupCheck, BackupSource, Restore};
use crate::corpus::Corpus;
use crate::duration::nanoseconds;
use crate::{StepOutcome, WorkContext, WorkloadError};

/// What is backed up, where it lies on the stack.
const SOURCE: &str = "source";
const RESTORED: &str = "restored";
/// All that is made in the directory of the cell.
pub(super) const NAMES: [&str; 4] = [SOURCE, REPOSITORY, BASE, RESTORED];

impl Backup {
    /// Makes the repository, and the tree where it lies next to it.
    pub(super) fn make_repository(
        &self,
        context: &mut WorkContext<'_>,
    ) -> Result<(), WorkloadError> {
        let init = borg(context, "init")
            .arg(format!("--encryption={}", self.encryption))
            .arg(REPOSITORY)
            .save_as("borg-init");
        context.executor.check(&init)?;
        if self.origin == BackupSource::SameStack {
            // Made again by `run`, with the same content.
            let mut corpus = self.corpus(context)?;
            corpus.write(&context.directory.join(SOURCE), &context.executor.interrupt)?;
        }
        self.describe(context);
        Ok(())
    }

    fn corpus(&self, context: &WorkContext<'_>) -> Result<Corpus, WorkloadError> {
        Ok(Corpus::new(&self.tree, self.compressible, self.repeated, context.seed)?)
    }

    fn describe(&self, context: &mut WorkContext<'_>) {
        if let Some(from) = self.scaled_from {
            context.note(
                "backup",
                format!(
                    "scaled from {} to {}; Borg's segments, files of {}, are not scaled",
                    from, self.tree.size, SEGMENT
                ),
            );
        }
        context.note(
            "backup",
            match self.origin {
                BackupSource::Stream => {
                    "the tree lies on no drive: disklab made it while Borg read it, through a pipe \
                     and `borg import-tar`; so Borg reads all of it for every copy, as where it \
                     does not know the files by their times"
                }
                BackupSource::SameStack => {
                    "the tree lies next to the repository, so that the drives read it while they \
                     write the copy; Borg knows files that did not change by their times, and \
                     does not read them again"
                }
            },
        );
        context.note(
            "backup",
            "Borg's caches and configuration lie next to the repository, on the same stack",
        );
        if self.restore == Restore::Directory {
            context.note(
                "backup",
                if self.sync {
                    "the time of the restore includes `sync -f`; the copies are durable, since \
                     Borg syncs its segments itself"
                } else {
                    "the time of the restore includes no sync: what the page cache holds back is \
                     not in it"
                },
            );
        }
    }

    /// All steps.
    pub(super) fn run_steps(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let mut corpus = self.corpus(context)?;
        let tree = corpus.tree().clone();
        context.note(
            "backup",
            format!(
                "{} files, {} together, in {} directories; their sizes spread evenly in their \
                 logarithm, up to 128 times the smallest; copies of whole files are what \
                 deduplication finds",
                tree.files, tree.size, tree.directories
            ),
        );
        for number in 1..=self.copies {
            if number > 1 && self.changed != disklab_content::Share::NONE {
                let (files, size) = corpus.change(self.changed);
                let name = copy_name(number);
                context.note("backup", format!("{files} files, {size}, changed before {name}"));
                if self.origin == BackupSource::SameStack {
                    corpus.write(&context.directory.join(SOURCE), &context.executor.interrupt)?;
                }
            }
            self.copy(context, &mut corpus, number)?;
            if number == 1 || number == self.copies {
                self.tell_stored(context, &tree.size, number)?;
            }
        }
        self.restore(context, &tree.size, tree.files)?;
        self.check(context)
    }

    fn copy(
        &self,
        context: &mut WorkContext<'_>,
        corpus: &mut Corpus,
        number: u64,
    ) -> Result<(), WorkloadError> {
        let (size, files) = (corpus.tree().size, corpus.tree().files);
        let name = copy_name(number);
        let command = match self.origin {
            BackupSource::Stream => "import-tar",
            BackupSource::SameStack => "create",
        };
        let program = borg(context, command)
            .arg(format!("--compression={}", self.compression))
            .arg(archive(number))
            .save_as(&format!("borg-{name}"));
        context.step(&name, |executor| {
            let finished = match self.origin {
                BackupSource::Stream => {
                    executor.check_fed(&program.arg("-"), |to| corpus.write_tar(to))?
                }
                BackupSource::SameStack => executor.check(&program.arg(SOURCE))?,
            };
            Ok(outcome(&finished, Direction::Write, size, Some(files)))
        })
    }

    /// Notes what Borg stored, and what was asked for.
    fn tell_stored(
        &self,
        context: &mut WorkContext<'_>,
        size: &Bytes,
        copies: u64,
    ) -> Result<(), WorkloadError> {
        let program = borg(context, "info").arg("--json").arg(REPOSITORY);
        let Stored { total_size, total_csize, unique_csize } =
            stored(&context.executor.check(&program)?.text())?;
        let asked_total = size.saturating_mul(copies);
        let asked_compressed = Bytes((asked_total.0 as f64 * self.compressed()) as u64);
        let show = |asked: Bytes, got: u64| {
            let off = got as f64 / asked.0.max(1) as f64 * 100.0 - 100.0;
            format!(
                "{} ({}{} %)",
                Bytes(got),
                if off < 0.0 { "" } else { "+" },
                significant(off, 2)
            )
        };
        let copy = copy_name(copies);
        context.note(
            "backup",
            format!(
                "after {copy}, by `borg info`: {} backed up, {} compressed, {} deduplicated; in \
                 parentheses, by how much that is off what was asked for, Borg's own lists of \
                 files included",
                show(asked_total, total_size),
                show(asked_compressed, total_csize),
                show(self.kept(copies), unique_csize)
            ),
        );
        Ok(())
    }

    fn restore(
        &self,
        context: &mut WorkContext<'_>,
        size: &Bytes,
        files: u64,
    ) -> Result<(), WorkloadError> {
        let program = borg(context, "extract").save_as("borg-restore");
        let program = match self.restore {
            Restore::Not => return Ok(()),
            Restore::Discard => program.arg("--dry-run").arg(archive(self.copies)),
            Restore::Directory => {
                let directory = context.directory.join(RESTORED);
                fs::create_dir(&directory).map_err(WorkloadError::io("cannot make", &directory))?;
                // It is written to where Borg is.
                let repository = format!("../{}", archive(self.copies));
                program.cwd(directory).args(["--numeric-ids", &repository])
            }
        };
        let sync = (self.sync && self.restore == Restore::Directory)
            .then(|| Invocation::new("sync").args(["-f", "."]).cwd(context.directory));
        context.step("restore", |executor| {
            let mut finished = executor.check(&program)?;
            if let Some(sync) = &sync {
                finished.add_time(&executor.check(sync)?);
            }
            Ok(outcome(&finished, Direction::Read, *size, Some(files)))
        })
    }

    fn check(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let program = borg(context, "check").save_as("borg-check");
        let program = match self.check {
            BackupCheck::Not => return Ok(()),
            BackupCheck::Repository => program,
            BackupCheck::Data => program.arg("--verify-data"),
        };
        let program = program.arg(REPOSITORY);
        let size = repository_size(context)?;
        context.step("check", |executor| {
            Ok(outcome(&executor.check(&program)?, Direction::Read, size, None))
        })
    }
}

/// The size of the repository's segments.
fn repository_size(context: &WorkContext<'_>) -> Result<Bytes, WorkloadError> {
    // data/0/1, data/0/2 and so on: `borg help` calls them segments.
    let data = context.directory.join(REPOSITORY).join("data");
    let mut size = 0;
    let read = |path| fs::read_dir(path);
    (|| {
        for directory in read(data.clone())? {
            for segment in read(directory?.path())? {
                size += segment?.metadata()?.len();
            }
        }
        Ok(Bytes(size))
    })()
    .map_err(WorkloadError::io("cannot read", &data))
}

fn outcome(
    finished: &Finished,
    direction: Direction,
    size: Bytes,
    files: Option<u64>,
) -> StepOutcome {
    let seconds = finished.elapsed.as_secs_f64();
    let rate = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
    let figure = Figure {
        direction,
        bytes: size.0,
        operations: files,
        elapsed_ns: nanoseconds(finished.elapsed),
        bytes_per_second: rate(size.0),
        operations_per_second: files.and_then(rate),
        latency: None,
        missed: None,
        operation: OperationKind::File,
        commit: None,
    };
    StepOutcome::of(finished, vec![figure])
}
