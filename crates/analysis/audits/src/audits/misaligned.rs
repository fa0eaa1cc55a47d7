//! Partitions, pools and blocks that do not fit the drives' sectors.

use disklab_units::{Bytes, list};

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::afflicted;
use crate::evidence::{CellFacts, Evidence};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "misaligned",
    severity: Severity::Warning,
    detects: "partitions, ashift or blocks that do not fit the drives' physical sectors",
    evidence: "where partitions begin, ZFS's ashift, bytes per operation, and the drives' sector sizes",
    remedy: "begin partitions at multiples of 1 MiB, ashift = 12, blocks of whole sectors (4k, not 4000)",
    reproducer: Reproducer::Lab("fio with bs = 4000"),
    check,
};

/// Fewer operations may be a file's last, short block.
const ENOUGH: u64 = 16;

/// The largest physical sector of a cell's drives in bytes.
fn sector(cell: &CellFacts) -> Option<u64> {
    let sizes = cell.environment.drives.iter().filter_map(|drive| drive.sectors);
    sizes.map(|(_, physical)| u64::from(physical)).max().filter(|size| *size > 0)
}

/// Where a partition begins in the middle of a physical sector, in bytes.
fn partition(cell: &CellFacts) -> Option<u64> {
    let sector = sector(cell)?;
    let starts = cell.conditions().drives.iter().flat_map(|drive| &drive.partitions_at);
    starts.copied().find(|start| start % sector != 0)
}

/// The ashift that ZFS told, where its sectors are smaller than the drives'.
fn ashift(cell: &CellFacts) -> Option<u32> {
    let sector = sector(cell)?;
    let pools = &cell.conditions().pools;
    let exponent =
        pools.iter().flat_map(|pool| &pool.ashift).map(|ashift| u32::from(*ashift)).min()?;
    (exponent > 0 && 1_u64.checked_shl(exponent)? < sector).then_some(exponent)
}

/// Bytes of an operation, where all have the same size and it is none of whole sectors.
fn block(evidence: &Evidence<'_>, group: &Group) -> Option<u64> {
    group.requests()?.size()?;
    let logical = evidence.cells_of(group).iter().find_map(|cell| {
        cell.environment.drives.iter().filter_map(|drive| drive.sectors).map(|s| s.0).max()
    });
    let logical = u64::from(logical.unwrap_or(512)).max(512);
    let first = group.observations.first()?;
    let operations = first.operations.filter(|n| *n >= ENOUGH)?;
    let size = first.bytes / operations;
    let even = group
        .observations
        .iter()
        .all(|o| o.operations.is_some_and(|n| n > 0 && o.bytes / n == size && o.bytes % n == 0));
    (even && size > 0 && size % logical != 0).then_some(size)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = Vec::new();
    if let Some(cells) = afflicted(evidence, |cell| partition(cell).map(|start| start as f64)) {
        let (cell, start) = cells.worst();
        all.push(Detection {
            severity: Severity::Warning,
            text: format!(
                "A partition begins {start:.0} bytes into its drive in {}, in the middle of a \
                 physical sector of {}: writes of 4 KiB touch two sectors, which the drive reads \
                 first.",
                cells.words(),
                Bytes(sector(cell).unwrap_or(0)).iec()
            ),
            advice: "Make partitions that begin at multiples of 1 MiB, as today's programs do."
                .to_owned(),
            groups: cells.groups,
        });
    }
    if let Some(cells) = afflicted(evidence, |cell| ashift(cell).map(f64::from)) {
        let (cell, exponent) = cells.worst();
        all.push(Detection {
            severity: Severity::Warning,
            text: format!(
                "ZFS works with sectors of {} (ashift={exponent:.0}) on drives of {} in {}: the \
                 drives read before they write.",
                Bytes(1 << (exponent as u32).min(40)).iec(),
                Bytes(sector(cell).unwrap_or(0)).iec(),
                cells.words()
            ),
            advice: "Make the pool with ashift=12; it cannot be changed later.".to_owned(),
            groups: cells.groups,
        });
    }
    let odd = evidence.suspects(|_, group| block(evidence, group).map(|size| size as f64));
    let listed: Vec<String> =
        odd.iter().map(|s| format!("{} ({:.0} bytes)", s.figure, s.range().0)).collect();
    if !odd.is_empty() {
        all.push(Detection {
            severity: Severity::Warning,
            text: format!(
                "Blocks are not whole sectors in {}: direct I/O is refused for such, and pages are \
                 read before they are written.",
                list(listed.iter().map(String::as_str), 4)
            ),
            advice: "Write bs = 4k for 4096 bytes; 4kB or 4000 are something else.".to_owned(),
            groups: odd.iter().flat_map(|s| s.groups()).collect(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, Direction, DriveConditions, DriveState, Environment, Pool};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn environment(start: u64) -> Environment {
        let drive = DriveConditions { partitions_at: vec![start], ..DriveConditions::default() };
        Environment {
            drives: vec![DriveState { sectors: Some((512, 4096)), ..DriveState::default() }],
            conditions: Some(Conditions { drives: vec![drive], ..Conditions::default() }),
            ..Environment::default()
        }
    }

    #[test]
    fn a_partition_in_the_middle_of_a_sector_is_reported() {
        for (start, expected) in [(63 * 512, 1), (2048 * 512, 0), (64 * 512, 0)] {
            let mut fixture = RunFixture::new("");
            fixture.around("single/ext4", "dd-4k", 0, environment(start));
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{start}");
        }
    }

    #[test]
    fn a_drive_that_tells_no_sector_is_no_reason() {
        let mut fixture = RunFixture::new("");
        let mut around = environment(63 * 512);
        around.drives.iter_mut().for_each(|drive| drive.sectors = Some((512, 0)));
        fixture.around("single/ext4", "dd-4k", 0, around);
        assert_eq!(fixture.findings(AUDIT.name), []);
    }

    #[test]
    fn a_small_ashift_is_reported() {
        for (exponent, expected) in [(9, 1), (12, 0), (0, 0)] {
            let mut fixture = RunFixture::new("");
            let mut environment = environment(1 << 20);
            let conditions = environment.conditions.get_or_insert_default();
            conditions.pools.push(Pool { ashift: vec![exponent], ..Pool::default() });
            fixture.around("single/ext4", "dd-4k", 0, environment);
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{exponent}");
        }
    }

    fn odd(workload: &str, size: u64, operations: u64) -> usize {
        let mut fixture = RunFixture::new("");
        // The fixture's job `fio` reads.
        let direction = if workload == "fio" { Direction::Read } else { Direction::Write };
        let mut one = figure(direction, size * operations, 1.0);
        one.operations = Some(operations);
        fixture.sample("single/ext4", workload, 0, vec![step("s", vec![one])]);
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn blocks_of_4000_bytes_are_reported_and_whole_sectors_are_not() {
        assert_eq!(odd("fio", 4000, 100), 1);
        assert_eq!(odd("fio", 4096, 100), 0);
        assert_eq!(odd("dd-4k", 512, 100), 0);
        assert_eq!(odd("copy", 4000, 100), 0);
        assert_eq!(odd("fio", 4000, 3), 0);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_sizes() {
        let mut fixture = RunFixture::new("");
        let mut environment = environment(63 * 512);
        let conditions = environment.conditions.get_or_insert_default();
        conditions.pools.push(Pool { ashift: vec![12, 9], ..Pool::default() });
        fixture.around("single/ext4", "dd-4k", 0, environment);
        let texts = fixture.texts(AUDIT.name);
        let partition = "A partition begins 32256 bytes into its drive in the only cell, in the \
                         middle of a physical sector of 4 KiB:";
        let pool = "ZFS works with sectors of 512 B (ashift=9) on drives of 4 KiB in the only";
        assert!(texts[0].starts_with(partition) && texts[1].starts_with(pool), "{texts:?}");
    }

    #[test]
    fn blocks_of_another_size_in_one_repeat_are_none() {
        let found = |sizes: [u64; 2], sectors| {
            let mut fixture = RunFixture::new("");
            for (block, size) in (0..).zip(sizes) {
                let mut one = figure(Direction::Read, size * 100, 1.0);
                one.operations = Some(100);
                let drives = vec![DriveState { sectors, ..DriveState::default() }];
                let environment = Environment { drives, ..Environment::default() };
                let steps = vec![step("s", vec![one])];
                let sample = disklab_sample::Sample { steps, environment, ..Default::default() };
                fixture.full_sample("single/ext4", "fio", block, sample);
            }
            fixture.texts(AUDIT.name)
        };
        assert!(found([4000; 2], None)[0].ends_with("whole sectors in fio (4000 bytes): direct I/O is refused for such, and pages are read before they are written."));
        assert_eq!(found([4000, 4096], None), [""; 0]);
        // Blocks of 2 KiB are whole sectors of most drives.
        assert_eq!(found([2048; 2], Some((512, 4096))), [""; 0]);
        assert_eq!(found([2048; 2], Some((4096, 4096))).len(), 1);
    }
}
