//! Data that a stack stores in much less than their size.

use disklab_sample::Direction;
use disklab_study::StackSpec;
use disklab_units::list;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence, drive_share};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "compressed-away",
    severity: Severity::Severe,
    detects: "data that the stack stored in less than two thirds of their size, and drives that moved no more than that: compressed or deduplicated",
    evidence: "ZFS's compressratio; blocks that the file system used against bytes of data in the files; bytes that the drives moved",
    remedy: "data that cannot be compressed, or as compressible as yours",
    reproducer: Reproducer::Lab(
        "a file of repeated data on ZFS with lz4 (xpenology-2023); zeros on Btrfs with compression (synology-2018)",
    ),
    check,
};

/// Bytes of data per byte stored from which the figure is another one.
const RATIO: f64 = 1.5;
/// Fewer bytes are not judged: file systems put small files into their metadata.
const LEAST: u64 = 4 << 20;

/// Whether the stack can compress or deduplicate. Of a directory nothing is known but
/// its mount.
fn may_compress(stack: Option<&StackSpec>, cell: &CellFacts) -> bool {
    let mounted = cell.mount().is_some_and(|(kind, options)| {
        let compresses = options.iter().any(|o| o.starts_with("compress") && !o.ends_with("=no"));
        kind == "btrfs" && compresses || matches!(kind, "zfs" | "bcachefs" | "squashfs")
    });
    mounted || stack.is_some_and(|s| s.layers.iter().any(|l| l.name.starts_with("zfs")))
}

/// Bytes of data per byte stored.
fn ratio(stack: Option<&StackSpec>, cell: &CellFacts) -> Option<f64> {
    if !may_compress(stack, cell) {
        return None;
    }
    let conditions = cell.conditions();
    let by_zfs = conditions.pools.iter().filter_map(|pool| pool.compression).reduce(f64::max);
    let by_space = conditions.space.and_then(|space| {
        let files = space.files?;
        let grown = space.used_after?.checked_sub(space.used_before)?;
        (files.data >= LEAST).then(|| files.data as f64 / grown.max(1) as f64)
    });
    let ratio = by_zfs.into_iter().chain(by_space).reduce(f64::max)?;
    (ratio >= RATIO).then_some(ratio)
}

/// Whether the figure is one of bytes. Transactions, and files that are removed, are counted
/// whatever is in them; a database brings the content that it is known for.
fn counts_bytes(group: &Group) -> bool {
    group.observations.iter().any(|o| o.bytes > 0)
}

/// Bytes of data per byte that the drives moved for it, if they were counted: one of a stack that
/// stores them as they are, however often. A synchronous write goes to a log, and a file with
/// holes is stored in few bytes, so that this may say something else than what is stored.
fn moved_ratio(evidence: &Evidence<'_>, group: &Group) -> Option<f64> {
    let (share, copies) = match group.key.direction {
        Direction::Write => (drive_share(group, |o| o.drive_write)?, redundancy(evidence, group)),
        Direction::Read => (drive_share(group, |o| o.drive_read)?, 1.0),
        _ => return None,
    };
    Some(copies / share.max(f64::MIN_POSITIVE))
}

/// Bytes that a group's drives are written for one byte of data.
fn redundancy(evidence: &Evidence<'_>, group: &Group) -> f64 {
    let stack = evidence.info.stacks.iter().find(|stack| stack.id == group.key.levels.stack);
    let Some(stack) = stack else { return 1.0 };
    let (drives, lost) = (stack.data_drives().count() as f64, f64::from(stack.tolerates));
    if stack.copies || drives <= lost { lost + 1.0 } else { drives / (drives - lost) }
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group: &Group| {
        if group.profile().is_of_memory()
            || !counts_bytes(group)
            || moved_ratio(evidence, group).is_some_and(|ratio| ratio < RATIO)
        {
            return None;
        }
        let stack = evidence.stack(group);
        evidence.cells_of(group).into_iter().filter_map(|cell| ratio(stack, cell)).reduce(f64::max)
    });
    if suspects.is_empty() {
        return Vec::new();
    }
    let most = suspects.iter().map(|s| s.range().1).fold(0.0, f64::max);
    let listed: Vec<String> =
        suspects.iter().map(|s| format!("{} with {}", s.figure, s.stacks())).collect();
    let most = if most > 1000.0 { "over 1000".to_owned() } else { format!("up to {most:.1}") };
    vec![Detection {
        severity: Severity::Severe,
        text: format!(
            "The stack stored the workload's data in a fraction of their size, {most} \
             bytes in one: {}. The figures hold for data as compressible as these, and do not \
             measure the drives.",
            list(listed.iter().map(String::as_str), 6)
        ),
        advice: "Photos, films and archives cannot be compressed: measure with such data \
                 (prewrite = \"random\", refill_buffers for fio, source = \"random\" for dd), or \
                 with the content that yours has."
            .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, Environment, FileData, Pool, Sample, Space};
    use disklab_study::PlannedStack;

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn found(mount: &str, compression: f64, stored: u64) -> usize {
        let mut fixture = RunFixture::new("");
        let data = 64 << 20;
        let files = FileData { files: 1, bytes: data, data, allocated: data, largest: data };
        let space = Space {
            bytes: 1 << 40,
            used_before: 1000,
            used_after: Some(1000 + stored),
            spread_over: None,
            files: Some(files),
        };
        let pool = Pool { name: "p".into(), compression: Some(compression), ..Pool::default() };
        let conditions =
            Conditions { space: Some(space), pools: vec![pool], ..Conditions::default() };
        let environment = Environment {
            mounts: vec![format!("/dev/sda /mnt/a b {mount}").parse().expect("a mount")],
            conditions: Some(conditions),
            ..Environment::default()
        };
        fixture.around("single/btrfs", "dd-4k", 0, environment);
        // What the drives moved is not known.
        if let Some((_, Some(sample))) = fixture.cells.last_mut() {
            sample.steps.iter_mut().for_each(|step| step.drives.clear());
        }
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn files_smaller_on_disk_are_reported() {
        assert_eq!(found("btrfs rw,compress=zlib:3", 1.0, 2 << 20), 1);
        assert_eq!(found("zfs rw,xattr", 3.9, 64 << 20), 1);
    }

    /// Of 1 MiB of the workload's, on a pool that stored its data in a quarter.
    fn with_traffic(direction: Direction, moved: u64, stack: PlannedStack) -> usize {
        let mut fixture = RunFixture::new("[stacks]\nx = \"zfs-mirror\"");
        fixture.info.stacks = vec![stack];
        let pool = Pool { name: "p".into(), compression: Some(4.0), ..Pool::default() };
        let environment = Environment {
            mounts: vec!["p /mnt/a zfs rw,xattr".parse().expect("a mount")],
            conditions: Some(Conditions { pools: vec![pool], ..Conditions::default() }),
            ..Environment::default()
        };
        let mut traffic = (0, 0);
        match direction {
            Direction::Read => traffic.0 = moved,
            _ => traffic.1 = moved,
        }
        let bytes = if direction == Direction::Mixed { 0 } else { 1 << 20 };
        let one = figure(if bytes > 0 { direction } else { Direction::Write }, bytes, 1.0);
        let steps = vec![on_drives(step("dd-4k", vec![one]), &[traffic])];
        let sample = Sample { steps, environment, ..Sample::default() };
        fixture.full_sample("x", "dd-4k", 0, sample);
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn what_the_drives_moved_is_on_the_drives() {
        let stack = |drives: usize, tolerates, copies| PlannedStack {
            id: "x".to_owned(),
            layers: Vec::new(),
            drives: vec!["d".to_owned(); drives],
            capacity: 0,
            tolerates,
            loss: None,
            copies,
        };
        let mirror = || stack(2, 1, true);
        const DATA: u64 = 1 << 20;
        // Synchronous writes of 4 KiB to a mirror: nine times the data (zfs-sync-4k).
        assert_eq!(with_traffic(Direction::Write, 9 * DATA, mirror()), 0);
        assert_eq!(with_traffic(Direction::Write, 2 * DATA, mirror()), 0);
        // Both copies together have half of the data: a quarter each.
        assert_eq!(with_traffic(Direction::Write, DATA / 2, mirror()), 1);
        assert_eq!(with_traffic(Direction::Write, DATA, mirror()), 1);
        // Of RAID-Z1 on three drives, a third is parity.
        assert_eq!(with_traffic(Direction::Write, 3 * DATA / 2, stack(3, 1, false)), 0);
        assert_eq!(with_traffic(Direction::Write, DATA / 2, stack(3, 1, false)), 1);
        assert_eq!(with_traffic(Direction::Write, DATA, stack(3, 1, false)), 1, "no parity");
        assert_eq!(with_traffic(Direction::Read, DATA, mirror()), 0);
        assert_eq!(with_traffic(Direction::Read, DATA / 4, mirror()), 1);
        // Transactions of pgbench, whose rows compress: no bytes of its own are counted.
        assert_eq!(with_traffic(Direction::Mixed, DATA / 4, mirror()), 0);
    }

    #[test]
    fn full_size_files_and_uncompressed_mounts_are_clean() {
        assert_eq!(found("btrfs rw,compress=zlib:3", 1.0, 64 << 20), 0);
        assert_eq!(found("zfs rw,xattr", 1.02, 60 << 20), 0);
        // Nothing else in this machine's pools concerns an ext4 on a disk.
        assert_eq!(found("ext4 rw,relatime", 3.9, 1 << 20), 0);
        assert_eq!(found("btrfs rw,relatime", 3.9, 1 << 20), 0);
    }
}
