//! rsync: a tree of files, copied, then again with nothing changed, then with a
//! share of it changed.

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_content::Share;
use disklab_exec::Invocation;
use disklab_sample::{
    ContentProfile, Direction, Durability, Figure, FileSet, OperationKind, StepProfile, Task,
    TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::corpus::Corpus;
use crate::duration::nanoseconds;
use crate::tree::Tree;
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind};

/// What is copied, written beforehand, and what it is copied to.
const SOURCE: &str = "source";
const COPY: &str = "copy";

pub(super) const RSYNC: WorkloadKind = WorkloadKind {
    name: "rsync",
    summary: "rsync of a tree: first copy, nothing changed, some files changed",
    fields: &[
        ("size", "size of all files together; scaled"),
        ("files", "number of files; scaled, their mean size stays"),
        ("directories", "number of directories they are in [default: one per 100 files]"),
        ("compressible", "what compression would save of the data, in percent (default 0)"),
        ("changed", "share of the files that change before the last copy, in percent (default 10)"),
        ("whole-file", "false: parts of changed files are copied, --no-whole-file (default true)"),
        ("sync", "whether the times include `sync -f` (default true)"),
    ],
    read,
};

#[derive(Debug)]
struct Rsync {
    tree: Tree,
    compressible: Share,
    changed: Share,
    whole_file: bool,
    sync: bool,
    scaled: bool,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the rsync workload")?;
    let size_node = fields.require("size")?;
    let size: Bytes =
        size_node.as_text()?.parse().map_err(|e| size_node.error(format!("`size`: {e}")))?;
    if size == Bytes::ZERO {
        return Err(size_node.error("`size`: there is nothing to copy"));
    }
    let files_node = fields.require("files")?;
    let files: u64 = files_node
        .as_text()?
        .parse()
        .ok()
        .filter(|files| (1..=10_000_000).contains(files))
        .ok_or_else(|| files_node.error("`files`: expected an integer from 1 to 10000000"))?;
    let directories = fields.integer("directories", 1..=1_000_000)?;
    let compressible = fields.integer("compressible", 0..=99)?.unwrap_or(0);
    let changed = fields.integer("changed", 0..=100)?.unwrap_or(10);
    let whole_file = fields.boolean("whole-file")?.unwrap_or(true);
    let sync = fields.boolean("sync")?.unwrap_or(true);
    fields.finish()?;
    let share = |percent| Share::percent(u32::try_from(percent).unwrap_or(100));
    Ok(Box::new(Rsync {
        tree: Tree::scaled(files, directories, size, context.scale),
        compressible: share(compressible),
        changed: share(changed),
        whole_file,
        sync,
        scaled: context.scale != 1.0,
    }))
}

impl Rsync {
    fn corpus(&self, context: &WorkContext<'_>) -> Result<Corpus, WorkloadError> {
        Ok(Corpus::new(&self.tree, self.compressible, Share::NONE, context.seed)?)
    }

    /// One run; it goes through all files, and copies so many.
    fn step(
        &self,
        context: &mut WorkContext<'_>,
        name: &str,
        files: u64,
        size: Bytes,
    ) -> Result<(), WorkloadError> {
        let (source, copy) = (format!("{SOURCE}/"), format!("{COPY}/"));
        let whole_file = if self.whole_file { "--whole-file" } else { "--no-whole-file" };
        let rsync = Invocation::new("rsync")
            .args(["-a", "--no-compress", whole_file, &source, &copy])
            .cwd(context.directory)
            .save_as(&format!("rsync-{name}"));
        let sync =
            self.sync.then(|| Invocation::new("sync").args(["-f", "."]).cwd(context.directory));
        context.step(name, |executor| {
            let mut finished = executor.check(&rsync)?;
            if let Some(sync) = &sync {
                finished.add_time(&executor.check(sync)?);
            }
            let seconds = finished.elapsed.as_secs_f64();
            let rate = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
            let figure = Figure {
                direction: Direction::Copy,
                bytes: size.0,
                operations: Some(files),
                elapsed_ns: nanoseconds(finished.elapsed),
                bytes_per_second: rate(size.0).filter(|_| files > 0),
                // How fast a tree is gone through, where nothing is copied.
                operations_per_second: rate(if files > 0 { files } else { self.tree.files }),
                latency: None,
                missed: None,
                operation: OperationKind::File,
                commit: None,
            };
            Ok(StepOutcome::of(&finished, vec![figure]))
        })
    }
}

impl Workload for Rsync {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        vec![("rsync", "rsync"), ("sync", "coreutils")]
    }

    fn cost(&self) -> Cost {
        let files = self.tree.files;
        // Small files take at least a block of 4 KiB and an inode each.
        let on_disk = self.tree.size + Bytes::kib(8).saturating_mul(files);
        let changed = Bytes((self.tree.size.0 as f64 * self.changed.part()) as u64);
        let changed_files = self.changed.of(usize::try_from(files).unwrap_or(usize::MAX)) as u64;
        // A changed file is written next to the old one, which goes when it is done;
        // but file systems that copy on write may keep both for a while.
        let space = on_disk.saturating_mul(2) + changed.saturating_mul(2);
        Cost {
            space,
            content: space,
            prewrite: self.tree.size + changed,
            sequential_read: self.tree.size + changed,
            sequential_write: self.tree.size + changed,
            // Each run finds all files on both sides but the first; then they are
            // read and created.
            seeks: files.saturating_mul(2 + 2 + 2) + changed_files.saturating_mul(2),
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![SOURCE.to_owned(), COPY.to_owned()]
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let percent = (self.compressible.part() * 100.0).round() as u8;
        Some(StepProfile {
            direct: Some(false),
            durability: Some(Durability::at_end(self.sync)),
            content: Some(ContentProfile::compressible(percent)),
            files: Some(FileSet { files: self.tree.files, bytes: self.tree.size.0 }),
            operations: (step == "first").then_some(self.tree.files),
            time_in: Some(TimeIn::Files),
            jobs: Some(1),
            task: (step == "first").then_some(Task::SmallFiles),
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let mut corpus = self.corpus(context)?;
        corpus.write(&context.directory.join(SOURCE), &context.executor.interrupt)?;
        let Tree { files, directories, size } = self.tree;
        let scaled = if self.scaled { "scaled to " } else { "" };
        context.note(
            "rsync",
            format!(
                "{scaled}{files} files, {size} together, in {directories} directories; their sizes spread \
                 evenly in their logarithm, up to 128 times the smallest"
            ),
        );
        context.note(
            "rsync",
            if self.whole_file {
                "files are copied as a whole, as rsync does where both sides are local: --whole-file"
            } else {
                "changed files are compared piece by piece: --no-whole-file, which reads both sides"
            },
        );
        context.note(
            "rsync",
            if self.sync {
                "the times include `sync -f`"
            } else {
                "the times include no sync: what the page cache holds back is not in them"
            },
        );
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        // The one that `prepare` wrote, by its seed.
        let mut corpus = self.corpus(context)?;
        let Tree { files, size, .. } = *corpus.tree();
        self.step(context, "first", files, size)?;
        self.step(context, "unchanged", 0, Bytes::ZERO)?;
        if self.changed == Share::NONE {
            return Ok(());
        }
        let (files, size) = corpus.change(self.changed);
        corpus.write(&context.directory.join(SOURCE), &context.executor.interrupt)?;
        context.note("rsync", format!("{files} files, {size}, have new content before 'changed'"));
        self.step(context, "changed", files, size)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{lacks, read, run_in};

    #[test]
    fn a_tree_is_copied_and_followed() {
        if lacks("rsync") {
            return;
        }
        for whole_file in [true, false] {
            let directory = tempfile::tempdir().expect("temp");
            let body = format!(
                "size = '4 MB'\nfiles = 400\ndirectories = 4\ncompressible = 50\nchanged = 5\n\
                 whole-file = {whole_file}"
            );
            let workload = read("rsync", &body, 0.5).expect("valid");
            let ran = run_in(&*workload, directory.path(), None).expect("ran");
            let steps: Vec<_> = ran
                .steps
                .iter()
                .map(|s| (s.name.as_str(), s.figures[0].operations.expect("counted")))
                .collect();
            assert_eq!(steps, [("first", 200), ("unchanged", 0), ("changed", 10)]);
            assert_eq!(ran.steps[0].figures[0].bytes, 2_000_000);
            assert_eq!(ran.steps[1].figures[0].bytes_per_second, None);
            // Both sides have what the seed says of the tree after its change.
            let tree = Tree { files: 200, directories: 4, size: Bytes(2_000_000) };
            let mut corpus =
                Corpus::new(&tree, Share::percent(50), Share::NONE, 42).expect("valid");
            corpus.change(Share::percent(5));
            for side in [SOURCE, COPY] {
                let difference = corpus.first_difference(&directory.path().join(side));
                assert_eq!(difference.expect("read"), None, "{side}");
            }
            let option = if whole_file { " --whole-file " } else { " --no-whole-file " };
            assert!(ran.commands.iter().any(|c| c.contains(option)), "{:?}", ran.commands);
        }
    }

    #[test]
    fn wrong_fields_are_errors() {
        for (body, part) in [
            ("files = 3", "needs a field 'size'"),
            ("size = '1 MB'", "needs a field 'files'"),
            ("size = 0\nfiles = 3", "nothing to copy"),
            ("size = '1 MB'\nfiles = 0", "from 1 to 10000000"),
            ("size = '1 MB'\nfiles = 3\nchanged = 101", "from 0 to 100"),
            ("size = '1 MB'\nfiles = 3\nwhole-files = true", "did you mean 'whole-file'"),
        ] {
            let error = read("rsync", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest! {
        #[test]
        fn space_holds_both_sides(
            scale in 1e-9_f64..2.0, size in 1_u64..1 << 45, files in 1_u64..1 << 20, changed in 0..=100,
        ) {
            let body = format!("size = {size}\nfiles = {files}\nchanged = {changed}");
            let cost = read("rsync", &body, scale).expect("valid").cost();
            prop_assert!(cost.space.0 >= 2 * cost.prewrite.0);
            prop_assert!(cost.space >= cost.content && cost.prewrite.0 > 0);
        }
    }
}
