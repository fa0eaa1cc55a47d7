//! Copy and remove: one large file, or a tree of small ones, by cp and rm.

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::{Executor, Invocation};
use disklab_sample::{
    Direction, Durability, Figure, FileSet, OperationKind, StepProfile, Task, TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::data::{ByteStream, FileContent};
use crate::duration::nanoseconds;
use crate::tree::Tree;
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind};

/// What is copied, written beforehand, and what it is copied to.
const SOURCE: &str = "source";
const COPY: &str = "copy";

/// System calls for a file of a tree: writing it takes 4, copying it some 12, removing
/// it 2 (strace of cp and rm of coreutils 9).
const FILE_CALLS: u64 = 18;

/// A copy of fewer files is a stream.
const MANY_FILES: u64 = 100;

pub(super) const COPY_KIND: WorkloadKind = WorkloadKind {
    name: "copy",
    summary: "cp and rm: copy and remove a large file, or a tree of small ones",
    fields: &[
        ("size", "size of the file, or of all files of the tree together; scaled"),
        ("files", "number of files; more than 1 make a tree; scaled, their mean size stays"),
        ("directories", "number of directories they are in [default: one per 100 files]"),
        ("content", "'random' (default) or 'zeros'"),
        ("sync", "whether the time includes `sync -f` after each step (default false)"),
        ("reflink", "'never' (default) or 'auto': whether cp may share the data"),
    ],
    read,
};

#[derive(Debug)]
struct Copy {
    size: Bytes,
    tree: Option<Tree>,
    content: FileContent,
    sync: bool,
    reflink: &'static str,
    scaled: bool,
    /// Whether it is about many small files, at the study's own size.
    is_tree: bool,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the copy workload")?;
    let size_node = fields.require("size")?;
    let size: Bytes =
        size_node.as_text()?.parse().map_err(|e| size_node.error(format!("`size`: {e}")))?;
    if size == Bytes::ZERO {
        return Err(size_node.error("`size`: there is nothing to copy"));
    }
    let files = fields.integer("files", 1..=10_000_000)?;
    let directories = fields.integer("directories", 1..=1_000_000)?;
    let content = fields.choice("content", &FileContent::WORDS)?.unwrap_or_default();
    let sync = fields.boolean("sync")?.unwrap_or(false);
    let reflink = fields.choice("reflink", &[("never", "never"), ("auto", "auto")])?;
    fields.finish()?;
    let scale = context.scale;
    let (size, tree) = match (files.filter(|files| *files > 1), directories) {
        (None, None) if scale == 1.0 => (size, None),
        (None, None) => (size.scaled(scale, Bytes::kib(4)), None),
        (None, Some(_)) => {
            return Err(spec
                .body
                .error("`directories` goes with more than one of `files`, which make a tree"));
        }
        (Some(files), directories) => {
            let tree = Tree::scaled(files, directories, size, scale);
            (tree.size, Some(tree))
        }
    };
    Ok(Box::new(Copy {
        size,
        tree,
        content,
        sync,
        reflink: reflink.unwrap_or("never"),
        scaled: scale != 1.0,
        is_tree: files.is_some_and(|files| files >= MANY_FILES),
    }))
}

impl Copy {
    fn files(&self) -> u64 {
        self.tree.as_ref().map_or(1, |tree| tree.files)
    }

    fn cp(&self) -> Invocation {
        let cp = Invocation::new("cp");
        let cp = if self.tree.is_some() { cp.arg("-r") } else { cp };
        cp.arg(format!("--reflink={}", self.reflink)).args(["--sparse=never", SOURCE, COPY])
    }

    fn rm(&self) -> Invocation {
        let rm = Invocation::new("rm");
        if self.tree.is_some() { rm.args(["-rf", COPY]) } else { rm.arg(COPY) }
    }

    fn step(
        &self,
        context: &mut WorkContext<'_>,
        name: &str,
        direction: Direction,
        program: &Invocation,
    ) -> Result<(), WorkloadError> {
        let sync =
            self.sync.then(|| Invocation::new("sync").args(["-f", "."]).cwd(context.directory));
        context.step(name, |executor: &Executor| {
            let mut finished = executor.check(program)?;
            if let Some(sync) = &sync {
                finished.add_time(&executor.check(sync)?);
            }
            let seconds = finished.elapsed.as_secs_f64();
            let rate = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
            let figure = Figure {
                direction,
                bytes: self.size.0,
                operations: Some(self.files()),
                elapsed_ns: nanoseconds(finished.elapsed),
                // Removing moves no data.
                bytes_per_second: rate(self.size.0).filter(|_| direction == Direction::Copy),
                operations_per_second: rate(self.files()).filter(|_| self.tree.is_some()),
                latency: None,
                missed: None,
                operation: OperationKind::File,
                commit: None,
            };
            Ok(StepOutcome::of(&finished, vec![figure]))
        })
    }
}

impl Workload for Copy {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        vec![("cp", "coreutils"), ("rm", "coreutils"), ("sync", "coreutils")]
    }

    fn cost(&self) -> Cost {
        // Small files take at least a block of 4 KiB and an inode each.
        let tree_files = self.tree.as_ref().map_or(0, |tree| tree.files);
        let on_disk = self.size + Bytes::kib(8).saturating_mul(tree_files);
        Cost {
            space: on_disk.saturating_mul(2),
            content: match self.content {
                FileContent::Random => on_disk.saturating_mul(2),
                FileContent::Zeros => Bytes::ZERO,
            },
            prewrite: self.size,
            sequential_read: self.size,
            sequential_write: self.size,
            // File systems collect what they create and remove; finding the sources is
            // what moves the arm.
            seeks: tree_files,
            calls: tree_files.saturating_mul(FILE_CALLS),
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![SOURCE.to_owned(), COPY.to_owned()]
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let copies = step == "cp";
        let (task, time_in) = match (copies, self.is_tree) {
            (false, _) => (Task::Delete, TimeIn::Files),
            (true, true) => (Task::SmallFiles, TimeIn::Files),
            (true, false) => (Task::LargeWrite, TimeIn::Both),
        };
        Some(StepProfile {
            direct: Some(false),
            durability: Some(Durability::at_end(self.sync)),
            content: copies.then(|| self.content.profile()),
            files: Some(FileSet { files: self.files(), bytes: self.size.0 }),
            operations: Some(self.files()),
            time_in: Some(time_in),
            jobs: Some(1),
            task: Some(task),
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let source = context.directory.join(SOURCE);
        let mut stream = ByteStream::new(self.content, context.seed);
        match &self.tree {
            Some(tree) => {
                tree.write(&source, &mut stream, context.seed, &context.executor.interrupt)?;
                context.note(
                    "copy",
                    format!(
                        "{} files, {} together, in {} directories; their sizes spread evenly in their \
                     logarithm, up to 128 times the smallest",
                        tree.files, tree.size, tree.directories
                    ),
                );
            }
            None => {
                context.write_file(&mut stream, &source, self.size, true)?;
                let from = match self.content {
                    FileContent::Random => "/dev/urandom",
                    FileContent::Zeros => "/dev/zero",
                };
                let made = format!("head -c {} {from} > {SOURCE}", self.size.0);
                context.executor.trace.note(&["sh", "-c", &made]);
            }
        }
        if self.scaled {
            let files = self.files();
            context.note("copy", format!("scaled to {files} files, {} together", self.size));
        }
        if self.content == FileContent::Zeros {
            context.note(
                "copy",
                "the data are zeros, of which a compressing file system stores \
                               next to nothing",
            );
        }
        context.note(
            "copy",
            match self.reflink {
                "never" => "cp must copy: --reflink=never, --sparse=never",
                _ => {
                    "cp may share the data instead of copying it, where the file system can: \
                  --reflink=auto"
                }
            },
        );
        context.note(
            "copy",
            if self.sync {
                "the times include `sync -f`"
            } else {
                "the times include no sync: what the page cache holds back is not in them"
            },
        );
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let cp = self.cp().cwd(context.directory).save_as("cp");
        let rm = self.rm().cwd(context.directory).save_as("rm");
        self.step(context, "cp", Direction::Copy, &cp)?;
        self.step(context, "rm", Direction::Remove, &rm)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{read, run_in};

    #[test]
    fn a_file_is_copied_and_removed() {
        let directory = tempfile::tempdir().expect("temp");
        let workload = read("copy", "size = '1.2 MB'\nsync = true", 1.0).expect("valid");
        let ran = run_in(&*workload, directory.path(), None).expect("ran");
        let size = 1_200_000;
        let steps: Vec<_> = ran
            .steps
            .iter()
            .map(|s| (s.name.as_str(), s.figures[0].direction, s.figures[0].bytes))
            .collect();
        assert_eq!(steps, [("cp", Direction::Copy, size), ("rm", Direction::Remove, size)]);
        assert!(ran.steps[0].figures[0].bytes_per_second.is_some());
        assert!(ran.steps[1].figures[0].bytes_per_second.is_none());
        let programs: Vec<_> = ran.commands[1..].iter().map(String::as_str).collect();
        assert_eq!(
            programs,
            ["cp --reflink=never --sparse=never source copy", "sync -f .", "rm copy", "sync -f ."]
        );
        assert!(directory.path().join(SOURCE).exists() && !directory.path().join(COPY).exists());
    }

    #[test]
    fn a_tree_is_copied_and_removed() {
        let directory = tempfile::tempdir().expect("temp");
        let body = "size = '1 MB'\nfiles = 200\ndirectories = 5";
        let workload = read("copy", body, 0.5).expect("valid");
        let ran = run_in(&*workload, directory.path(), None).expect("ran");
        let figure = &ran.steps[0].figures[0];
        assert_eq!((figure.bytes, figure.operations), (500_000, Some(100)));
        assert!(ran.steps[1].figures[0].operations_per_second.is_some());
        assert!(ran.notes.iter().any(|n| n.text.starts_with("scaled to 100 files")));
        assert!(directory.path().join(SOURCE).exists() && !directory.path().join(COPY).exists());
    }

    #[test]
    fn wrong_fields_are_errors() {
        for (body, part) in [
            ("", "needs a field 'size'"),
            ("size = '1 MB'\ndirectories = 3", "goes with more than one"),
            ("size = 0", "nothing to copy"),
            ("size = '1 MB'\nfiles = 0", "from 1"),
            ("size = '1 MB'\nreflink = 'always'", "'never' or 'auto'"),
            ("size = '1 MB'\ncontent = 'zero'", "did you mean 'zeros'"),
        ] {
            let error = read("copy", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest! {
        #[test]
        fn space_holds_the_source_and_the_copy(
            scale in 1e-9_f64..2.0, size in 1_u64..1 << 45, files in 1_u64..1 << 20, tree in any::<bool>(),
        ) {
            let files = if tree { format!("files = {files}") } else { String::new() };
            let cost = read("copy", &format!("size = {size}\n{files}"), scale).expect("valid").cost();
            prop_assert!(cost.space.0 >= 2 * cost.prewrite.0);
            prop_assert!(cost.prewrite.0 > 0);
        }
    }
}
