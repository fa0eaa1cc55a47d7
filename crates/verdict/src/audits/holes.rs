//! Reads of what was never written.

use disklab_measure::Direction;
use disklab_units::Bytes;

use crate::Severity;
use crate::audits::{Audit, Found, Reproducer};
use crate::evidence::{CellFacts, Evidence};
use crate::words::per_cents;

pub(super) const AUDIT: Audit = Audit {
    name: "holes-read",
    severity: Severity::Severe,
    detects: "reads of files that are mostly holes, or reserved and never written",
    evidence: "SEEK_DATA and SEEK_HOLE over the workload's files when it had ended",
    remedy: "write the files before they are read, with data that are not zeros",
    reproducer: Reproducer::Lab("a file that was lengthened and never written"),
    check,
};

/// Below this share of data, holes set the figure.
const SHARE: f64 = 0.9;
/// Less is not judged: metadata of databases and the like.
const LEAST: u64 = 1 << 20;

/// The share of the workload's files that is data.
fn data(cell: &CellFacts) -> Option<f64> {
    let files = cell.conditions().space?.files?;
    let share = files.data as f64 / files.bytes as f64;
    (files.bytes >= LEAST && share < SHARE).then_some(share)
}

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    let suspects = evidence.suspects(|_, group| {
        let reads = matches!(group.key.direction, Direction::Read | Direction::Copy);
        if !reads || evidence.measures_memory(group) {
            return None;
        }
        evidence.cells_of(group).into_iter().filter_map(data).reduce(f64::min)
    });
    let told = suspects.iter().map(|suspects| {
        let cells = evidence.cells_of(suspects.found[0].1);
        let bytes = cells.iter().filter_map(|c| Some(c.conditions().space?.files?.bytes)).max();
        Found {
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
    told.collect()
}

#[cfg(test)]
mod tests {
    use disklab_measure::{Conditions, Environment, FileData, Sample, Space};

    use super::*;
    use crate::testing::{Bed, figure, step};

    fn texts(direction: Direction, data: u64) -> Vec<String> {
        let mut bed = Bed::new("");
        let files =
            FileData { files: 1, bytes: 100_000_000, data, allocated: 0, largest: 100_000_000 };
        let space = Space { bytes: 1 << 40, used_before: 0, used_after: None, files: Some(files) };
        let conditions = Some(Conditions { space: Some(space), ..Conditions::default() });
        let sample = Sample {
            steps: vec![step("fio", vec![figure(direction, 1 << 20, 1.0)])],
            environment: Environment { conditions, ..Environment::default() },
            ..Sample::default()
        };
        bed.full_sample("single/ext4", "fio", 0, sample);
        bed.texts(AUDIT.name)
    }

    #[test]
    fn holes_that_are_read_are_told() {
        let found = texts(Direction::Read, 1_000_000);
        assert!(found[0].contains("1.0 % of 100 MB in the files"), "{found:?}");
    }

    #[test]
    fn data_and_writes_are_clean() {
        assert!(texts(Direction::Read, 99_000_000).is_empty());
        assert!(texts(Direction::Write, 0).is_empty());
    }
}
