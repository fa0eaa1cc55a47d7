//! Backup: BorgBackup, fed the same data several times, then restored and checked.

mod borg;
mod steps;
#[cfg(test)]
mod tests;
mod workload;

use disklab_cell::WorkloadPlan;
use disklab_config::{Fields, Node};
use disklab_content::Share;
use disklab_sample::{FileSet, StepProfile, Task, TimeIn};
use disklab_source::SourceError;
use disklab_units::Bytes;

use self::borg::{BORG, ENCRYPTIONS, is_compression};
use self::workload::{Backup, BackupCheck, BackupSource, Restore};
use crate::tree::Tree;
use crate::{Context, Cost, WorkContext, Workload, WorkloadError, WorkloadKind};

pub(super) const BACKUP: WorkloadKind = WorkloadKind {
    name: "backup",
    summary: "BorgBackup: first copy, further copies, restore, check",
    fields: &[
        ("program", "'borg' (default), which took attic's place"),
        ("size", "how much is backed up, such as '1 TB'; scaled"),
        ("compressed", "what compression leaves of it (default: all); scaled"),
        ("deduplicated", "what deduplication leaves of that (default: all); scaled"),
        ("files", "number of files (default: one for each MiB, at least 100); scaled"),
        ("directories", "number of directories they are in [default: one per 100 files]"),
        ("copies", "how often it is backed up (default 1)"),
        ("changed", "share of the files that change between copies, in percent (default 0)"),
        (
            "source",
            "'stream' (default: made while Borg reads it) or 'same-stack' (a directory next to the repository)",
        ),
        ("compression", "as `borg create --compression` has it (default 'lz4')"),
        ("encryption", "'none' (default), 'repokey' or 'repokey-blake2'"),
        ("restore", "'directory' (default: next to the repository), 'discard' or 'not'"),
        ("check", "'repository' (default), 'data' (--verify-data) or 'not'"),
        ("sync", "whether the time of the restore includes `sync -f` (default true)"),
    ],
    read,
};

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the backup workload")?;
    program(fields.take("program"))?;
    let size_node = fields.require("size")?;
    let size = bytes("size", size_node)?;
    if size == Bytes::ZERO {
        return Err(size_node.error("`size`: there is nothing to back up"));
    }
    let compressed = less(size, "compressed", fields.take("compressed"))?;
    let deduplicated = less(compressed, "deduplicated", fields.take("deduplicated"))?;
    let files = fields.integer("files", 1..=100_000_000)?;
    let directories = fields.integer("directories", 1..=1_000_000)?;
    let copies = fields.integer("copies", 1..=1000)?.unwrap_or(1);
    let changed = fields.integer("changed", 0..=100)?.unwrap_or(0);
    let origin = fields.choice(
        "source",
        &[("stream", BackupSource::Stream), ("same-stack", BackupSource::SameStack)],
    )?;
    let compression = compression(fields.take("compression"))?;
    let encryption = fields.choice("encryption", &ENCRYPTIONS)?.unwrap_or("none");
    let restores =
        [("directory", Restore::Directory), ("discard", Restore::Discard), ("not", Restore::Not)];
    let restore = fields.choice("restore", &restores)?.unwrap_or_default();
    let checks = [
        ("repository", BackupCheck::Repository),
        ("data", BackupCheck::Data),
        ("not", BackupCheck::Not),
    ];
    let check = fields.choice("check", &checks)?.unwrap_or_default();
    let sync = fields.boolean("sync")?.unwrap_or(true);
    fields.finish()?;
    let scaled = size.scaled(context.scale, Bytes(1));
    let files = match files {
        // Their mean size stays.
        Some(files) => Bytes(files).scaled(scaled.0 as f64 / size.0 as f64, Bytes(1)).0,
        // Enough to have the shares that are asked for.
        None => (scaled.0 >> 20).max(100).min((scaled.0 >> 12).max(1)),
    };
    let directories = directories.unwrap_or(files.div_ceil(100)).clamp(1, files);
    Ok(Box::new(Backup {
        tree: Tree { files, directories, size: scaled },
        scaled_from: (context.scale != 1.0).then_some(size),
        compressible: Share::new(1.0 - part(compressed, size)),
        repeated: Share::new(1.0 - part(deduplicated, compressed)),
        copies,
        changed: Share::percent(u32::try_from(changed).unwrap_or(100)),
        origin: origin.unwrap_or_default(),
        compression,
        encryption,
        restore,
        check,
        sync,
    }))
}

fn compression(node: Option<&Node>) -> Result<String, SourceError> {
    let Some(node) = node else { return Ok("lz4".to_owned()) };
    let text = node.as_text()?;
    if is_compression(&text) {
        return Ok(text);
    }
    Err(node.error(format!(
        "`compression`: '{text}' is none of Borg's; expected 'none', 'lz4', 'zstd', 'zlib' or \
         'lzma', the last three with a level such as 'zstd,3', all with 'auto,' before them if \
         you like"
    )))
}

fn program(node: Option<&Node>) -> Result<(), SourceError> {
    let Some(node) = node else { return Ok(()) };
    match node.as_text()?.as_str() {
        "borg" => Ok(()),
        "attic" => Err(node.error(
            "`program`: attic has not been maintained since 2015; say 'borg', which is made from it",
        )),
        other => Err(node.error(format!("`program`: expected 'borg', found '{other}'"))),
    }
}

fn bytes(name: &str, node: &Node) -> Result<Bytes, SourceError> {
    node.as_text()?.parse().map_err(|e| node.error(format!("`{name}`: {e}")))
}

/// A size that is made from `from`, which it cannot exceed.
fn less(from: Bytes, name: &str, node: Option<&Node>) -> Result<Bytes, SourceError> {
    let Some(node) = node else { return Ok(from) };
    let less = bytes(name, node)?;
    if less > from {
        return Err(
            node.error(format!("`{name}`: {less} is more than the {from} that it is made from"))
        );
    }
    if less == Bytes::ZERO {
        return Err(node.error(format!("`{name}`: nothing would be left of the data")));
    }
    Ok(less)
}

fn part(of: Bytes, whole: Bytes) -> f64 {
    of.0 as f64 / whole.0 as f64
}

impl Workload for Backup {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        vec![BORG, ("sync", "coreutils")]
    }

    fn cost(&self) -> Cost {
        /// Bytes that Borg keeps for each file of an archive, in its list of files
        /// and, twice while they are written anew, in its caches.
        const PER_FILE: u64 = 600;
        /// What a repository without data takes: indexes, manifest, configuration.
        const EMPTY: Bytes = Bytes::mib(4);
        /// What Borg 1.2.4 does in a second of one processor of 2.6 GHz with lz4:
        /// chunks, hashes, compression; measured with 400 MB. Stronger compression
        /// is slower.
        const BYTES_PER_SECOND: f64 = 250e6;
        /// Starting Python and Borg, and its tests of itself.
        const START_SECONDS: f64 = 0.5;
        let (size, files) = (self.tree.size, self.tree.files);
        let lists = Bytes(PER_FILE).saturating_mul(files).saturating_mul(self.copies);
        let kept = self.kept(self.copies);
        // 2 %: entries of the log that a repository is, and chunks that do not compress.
        let repository = kept + Bytes(kept.0 / 50) + lists + EMPTY;
        // Small files take at least a block of 4 KiB and an inode each.
        let on_disk = size + Bytes::kib(8).saturating_mul(files);
        let same_stack = self.origin == BackupSource::SameStack;
        let times = |yes: bool| u64::from(yes);
        let directory = self.restore == Restore::Directory;
        let trees = on_disk.saturating_mul(times(same_stack) + times(directory));
        let restores = times(self.restore != Restore::Not);
        let checks = times(self.check != BackupCheck::Not);
        let changed = Bytes((size.0 as f64 * self.changed.part()) as u64);
        let rewritten = changed.saturating_mul(times(same_stack) * self.copies.saturating_sub(1));
        // Next to the repository, Borg knows unchanged files by their times.
        let copied = if same_stack { size + rewritten } else { size.saturating_mul(self.copies) };
        let computed = copied.0 + size.0 * restores;
        Cost {
            space: repository + trees,
            // Every page has some random bytes, and what repeats lies far apart.
            content: repository + trees,
            prewrite: if same_stack { size + rewritten } else { Bytes::ZERO },
            sequential_read: kept.saturating_mul(restores + checks)
                + if same_stack { copied } else { Bytes::ZERO },
            sequential_write: repository + size.saturating_mul(times(directory)),
            // Files are found, read and created one by one.
            seeks: files.saturating_mul(times(same_stack) * self.copies + times(directory)),
            fixed_seconds: computed as f64 / BYTES_PER_SECOND
                + START_SECONDS * (self.copies + restores + checks) as f64,
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        steps::NAMES.map(str::to_owned).to_vec()
    }

    /// Borg compresses, deduplicates and syncs as it likes: nothing is claimed of that.
    fn profile(&self, step: &str) -> Option<StepProfile> {
        let task = match step {
            "restore" => Some(Task::Restore),
            "check" => None,
            _ => Some(Task::Backup),
        };
        Some(StepProfile {
            files: Some(FileSet { files: self.tree.files, bytes: self.tree.size.0 }),
            operations: Some(self.tree.files),
            time_in: Some(TimeIn::Both),
            task,
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        self.make_repository(context)
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        self.run_steps(context)
    }
}
