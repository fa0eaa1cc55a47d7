//! Work on too little to be reported apart from its surroundings.

use disklab_sample::{Order, Task};
use disklab_units::Bytes;

use crate::audits::support::on_hard_disks;
use crate::audits::{Audit, Found, Reproducer};
use crate::evidence::{CellFacts, Evidence};
use crate::words::list;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "small-file-set",
    severity: Severity::Warning,
    detects: "work on fewer files, or on smaller ones, than say something of larger sets",
    evidence: "files and bytes of the step as its workload says them, against the drives' memory",
    remedy: "more files, larger files; a larger --scale, or none",
    reproducer: Reproducer::Lab("a tree of 63 files, and random reads of 64 MiB"),
    check,
};

/// Fewer files fit, with all that belongs to them, into what a file system writes at once:
/// ext4's smallest journal has 1,024 blocks of 4 KiB (mke2fs(8), `-J size`), and an inode, a
/// directory entry and their bitmaps take about one block a file.
const FILES: u64 = 1000;
/// Reads up to this size are small: their time is that of finding the place.
const SMALL: u64 = 128 << 10;

/// What is too small about a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lack {
    /// So few files.
    Files(u64),
    /// So many bytes in the files, and in the memory of one drive.
    Bytes(u64, u64),
}

/// The smallest of the drives' memories; `None` if one is unknown.
fn memory(cell: &CellFacts) -> Option<u64> {
    let sizes: Option<Vec<u64>> = cell.conditions().drives.iter().map(|d| d.cache_bytes).collect();
    sizes?.into_iter().min().filter(|size| *size > 0)
}

fn lack(evidence: &Evidence<'_>, group: &Group) -> Option<Lack> {
    let profile = group.profile();
    let files = profile.files?;
    let of_files = [Task::SmallFiles, Task::Create, Task::List, Task::Delete];
    // One large file that is removed is no set of files.
    let counts = profile.task.is_some_and(|task| of_files.contains(&task)) && files.files > 1;
    if counts && files.files < FILES {
        return Some(Lack::Files(files.files));
    }
    let requests = group.requests()?;
    let reads = group.key.direction == disklab_sample::Direction::Read;
    let random = requests.order == Order::Random && requests.largest <= SMALL;
    if !reads || !random || !on_hard_disks(evidence, group) {
        return None;
    }
    let memory = evidence.cells_of(group).into_iter().filter_map(memory).min()?;
    (files.bytes > 0 && files.bytes < memory).then_some(Lack::Bytes(files.bytes, memory))
}

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    let suspects = evidence.suspects(|_, group| lack(evidence, group).map(|_| 0.0));
    if suspects.is_empty() {
        return Vec::new();
    }
    let reported = suspects.iter().filter_map(|suspects| {
        let (_, group, _) = suspects.found.first()?;
        Some(match lack(evidence, group)? {
            Lack::Files(files) => format!("{} ({files} files)", suspects.figure),
            Lack::Bytes(bytes, memory) => format!(
                "{} ({} of files, {} of memory in each drive)",
                suspects.figure,
                Bytes(bytes).iec(),
                Bytes(memory).iec()
            ),
        })
    });
    let reported: Vec<String> = reported.collect();
    vec![Found {
        severity: Severity::Warning,
        text: format!(
            "Too little is worked on for an answer: {}. So few files fit into one journal, and \
             small files into what a drive keeps and reads ahead; larger sets can rank the stacks \
             the other way round.",
            list(reported.iter().map(String::as_str), 6)
        ),
        advice: "Take no decision from these figures: use more files, larger files, or a larger \
                 --scale."
            .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{
        Conditions, Direction, DriveConditions, DriveState, Environment, FileSet, Sample,
        StepProfile,
    };

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(workload: &str, direction: Direction, profile: StepProfile) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let mut one = step("s", vec![figure(direction, 1 << 20, 1.0)]);
        one.profile = Some(profile);
        let drive = DriveState { rotational: Some(true), ..DriveState::default() };
        let own = DriveConditions { cache_bytes: Some(256 << 20), ..DriveConditions::default() };
        let conditions = Some(Conditions { drives: vec![own], ..Conditions::default() });
        let environment = Environment { drives: vec![drive], conditions, ..Environment::default() };
        let sample = Sample { steps: vec![one], environment, ..Sample::default() };
        fixture.full_sample("single/ext4", workload, 0, sample);
        fixture.texts(AUDIT.name)
    }

    fn set(files: u64, bytes: u64) -> StepProfile {
        StepProfile { files: Some(FileSet { files, bytes }), ..StepProfile::default() }
    }

    #[test]
    fn few_files_are_told_and_thousands_are_not() {
        let tree = |files, task| StepProfile { task: Some(task), ..set(files, 1 << 30) };
        let texts = found("copy", Direction::Copy, tree(63, Task::SmallFiles));
        assert!(texts[0].contains("copy (63 files)"), "{texts:?}");
        assert!(found("copy", Direction::Copy, tree(4000, Task::SmallFiles)).is_empty());
        assert!(found("copy", Direction::Remove, tree(1, Task::Delete)).is_empty());
    }

    #[test]
    fn files_that_fit_into_a_drive_are_reported() {
        let reads = |bytes, order| StepProfile {
            reads: Some(disklab_sample::Requests::of_size(4096, order)),
            ..set(1, bytes)
        };
        let texts = found("fio", Direction::Read, reads(64 << 20, Order::Random));
        assert!(texts[0].contains("64 MiB of files, 256 MiB of memory"), "{texts:?}");
        assert!(found("fio", Direction::Read, reads(512 << 20, Order::Random)).is_empty());
        assert!(found("fio", Direction::Read, reads(64 << 20, Order::Sequential)).is_empty());
    }
}
