//! Direct I/O that went through memory all the same.

use disklab_units::list;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "direct-not-honoured",
    severity: Severity::Warning,
    detects: "direct I/O on file systems that take it for a hint: ZFS before 2.3, zvols, tmpfs",
    evidence: "the type of the mount, the version of ZFS, zvols in the stack",
    remedy: "files larger than the memory; on ZFS primarycache = metadata",
    reproducer: Reproducer::Lab("direct = 1 on a zvol"),
    check,
};

/// File systems that take O_DIRECT and read and write through memory all the same: tmpfs
/// from Linux 6.6 on, before that it refused it (kernel: mm/shmem.c); eCryptfs and
/// ReiserFS fall back to their pages.
const BUFFERED: [&str; 4] = ["tmpfs", "ramfs", "ecryptfs", "reiserfs"];

/// What takes direct I/O for a hint beneath a cell.
fn buffered(evidence: &Evidence<'_>, cell: &CellFacts) -> Option<String> {
    let kind = cell.mount().map_or("", |(kind, _)| kind);
    if BUFFERED.contains(&kind) {
        return Some(kind.to_owned());
    }
    let version = cell.conditions().zfs.as_deref();
    let old = version.is_some_and(|version| {
        let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) < (2, 3))
    });
    if kind == "zfs" && old {
        return Some(format!("ZFS {}", version.unwrap_or_default()));
    }
    let stack = evidence.study.stacks.iter().find(|stack| stack.id == cell.levels.stack)?;
    let zvol = stack.layers.iter().any(|layer| layer.name == "zvol");
    zvol.then(|| "zvols, which pass through ZFS's own cache (ARC)".to_owned())
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let what = |group: &Group| {
        evidence.cells_of(group).into_iter().find_map(|cell| buffered(evidence, cell))
    };
    let suspects = evidence
        .suspects(|_, group| (group.profile().is_direct() && what(group).is_some()).then_some(1.0));
    if suspects.is_empty() {
        return Vec::new();
    }
    let listed: Vec<String> =
        suspects.iter().map(|s| format!("{} with {}", s.figure, s.stacks())).collect();
    let mut whats: Vec<String> =
        suspects.iter().flat_map(|s| &s.found).filter_map(|(_, g, _)| what(g)).collect();
    whats.sort_unstable();
    whats.dedup();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "Direct I/O was asked for, and is only a hint to {}: memory took part in {}.",
            list(whats.iter().map(String::as_str), 3),
            list(listed.iter().map(String::as_str), 6)
        ),
        advice: "Use files larger than the memory, or limit ZFS's cache (primarycache=metadata, \
                 zfs_arc_max); where reads came from memory, read-from-cache says so."
            .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, Direction, Environment, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(stack: &str, workload: &str, mount: &str, zfs: Option<&str>) -> usize {
        let mut fixture = RunFixture::new("[stacks]\nvol = \"zfs/zvol/ext4\"\npool = \"zfs\"");
        let conditions = Conditions { zfs: zfs.map(str::to_owned), ..Conditions::default() };
        let environment = Environment {
            mounts: vec![format!("/dev/sda /mnt/a {mount} rw").parse().expect("a mount")],
            conditions: Some(conditions),
            ..Environment::default()
        };
        let steps = vec![step("fio", vec![figure(Direction::Read, 1 << 20, 1.0)])];
        fixture.full_sample(stack, workload, 0, Sample { steps, environment, ..Sample::default() });
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn hints_are_reported() {
        assert_eq!(found("pool", "fio", "zfs", Some("2.2.7-1")), 1);
        assert_eq!(found("vol", "fio", "ext4", Some("2.3.0-1")), 1);
        assert_eq!(found("as-it-is", "fio", "tmpfs", None), 1);
    }

    #[test]
    fn honoured_and_buffered_work_is_clean() {
        assert_eq!(found("pool", "fio", "zfs", Some("2.3.0-1")), 0);
        assert_eq!(found("single/ext4", "fio", "ext4", Some("2.2.7-1")), 0);
        assert_eq!(found("pool", "buffered", "zfs", Some("2.2.7-1")), 0);
    }
}
