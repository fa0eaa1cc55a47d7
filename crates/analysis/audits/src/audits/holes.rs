//! Reads of what was never written.

use disklab_sample::{Direction, FileData};
use disklab_units::{Bytes, per_cents};

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Detail, Evidence};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "holes-read",
    severity: Severity::Severe,
    detects: "reads of files that are mostly holes, or reserved and never written",
    evidence: "SEEK_DATA and SEEK_HOLE over the files that the step reads, where the workload names them, else over all of the workload's, when it had ended",
    remedy: "write the files before they are read, with data that are not zeros",
    reproducer: Reproducer::Lab("a file that was lengthened and never written"),
    check,
};

/// Below this share of data, holes set the figure.
const SHARE: f64 = 0.9;
/// Less is not judged: metadata of databases and the like.
const LEAST: u64 = 1 << 20;

/// The files that a step reads, where they are known; else all of the cell's.
fn files(cell: &CellFacts, detail: &Detail) -> Option<FileData> {
    detail.files_read.or(cell.conditions().space?.files)
}

/// The share of these files that is data, where it is small.
fn data(files: FileData) -> Option<f64> {
    let share = files.data as f64 / files.bytes as f64;
    (files.bytes >= LEAST && share < SHARE).then_some(share)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let seen = |index: usize, group: &Group| -> Vec<FileData> {
        let details = evidence.details[index].iter().zip(&group.observations);
        let files = details.filter_map(|(d, o)| files(evidence.cell(o.cell)?, d));
        files.filter(|files| data(*files).is_some()).collect()
    };
    let suspects = evidence.suspects(|index, group| {
        let reads = matches!(group.key.direction, Direction::Read | Direction::Copy);
        if !reads || group.profile().is_of_memory() {
            return None;
        }
        seen(index, group).into_iter().filter_map(data).reduce(f64::min)
    });
    let findings = suspects.iter().map(|suspects| {
        let (index, group, _) = suspects.found[0];
        let bytes = seen(index, group).iter().map(|files| files.bytes).max();
        Detection {
            severity: Severity::Severe,
            text: format!(
                "{} with {}: {} of {} in the files that were read are data, the rest holes or \
                 reserved and never written, which are read without any drive.",
                suspects.figure,
                suspects.stacks(),
                per_cents(suspects.range()),
                Bytes(bytes.unwrap_or(0)).si()
            ),
            advice: "Write the files before they are read (prewrite = \"random\"), and wait until \
                     they are on the drives."
                .to_owned(),
            groups: suspects.groups(),
        }
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, Environment, FileData, Sample, Space};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn texts(direction: Direction, data: u64) -> Vec<String> {
        texts_of(direction, data, None)
    }

    /// Of a cell whose files hold so much data, and those that the step reads so much.
    fn texts_of(direction: Direction, data: u64, read: Option<u64>) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let files = |data: u64| FileData {
            files: 1,
            bytes: 100_000_000,
            data,
            allocated: 0,
            largest: 100_000_000,
        };
        let mut one = step("fio", vec![figure(direction, 1 << 20, 1.0)]);
        one.files_read = read.map(files);
        let files = files(data);
        let space = Space {
            bytes: 1 << 40,
            used_before: 0,
            used_after: None,
            spread_over: None,
            files: Some(files),
        };
        let conditions = Some(Conditions { space: Some(space), ..Conditions::default() });
        let sample = Sample {
            steps: vec![one],
            environment: Environment { conditions, ..Environment::default() },
            ..Sample::default()
        };
        fixture.full_sample("single/ext4", "fio", 0, sample);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn holes_that_are_read_are_reported() {
        let found = texts(Direction::Read, 1_000_000);
        assert!(found[0].contains("1.0 % of 100 MB in the files"), "{found:?}");
    }

    #[test]
    fn only_files_that_the_step_reads_count() {
        // A section behind `stonewall` has just begun to write another file.
        assert!(texts_of(Direction::Read, 40_000_000, Some(100_000_000)).is_empty());
        let holes = texts_of(Direction::Read, 100_000_000, Some(1_000_000));
        assert!(holes[0].contains("1.0 % of 100 MB in the files"), "{holes:?}");
    }

    #[test]
    fn data_and_writes_are_clean() {
        assert!(texts(Direction::Read, 99_000_000).is_empty());
        assert!(texts(Direction::Write, 0).is_empty());
    }
}
