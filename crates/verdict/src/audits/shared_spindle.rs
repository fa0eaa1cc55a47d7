//! Several drives of a stack are files on one disk.

use crate::Severity;
use crate::audits::{Audit, Found, Reproducer};
use crate::evidence::Evidence;
use crate::words::list;

pub(super) const AUDIT: Audit = Audit {
    name: "shared-spindle",
    severity: Severity::Remark,
    detects: "drives of one stack that are files on one disk, which work one after the other",
    evidence: "the bench, and the drives' serial numbers",
    remedy: "compare layouts on drives of their own, or in the lab",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    if evidence.info.bench.split(':').next() != Some("loop") {
        return Vec::new();
    }
    let several = |id: &str| evidence.study.stacks.iter().any(|s| s.id == id && s.drives.len() > 1);
    let groups: Vec<usize> = evidence
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| several(&group.key.stack))
        .map(|(index, _)| index)
        .collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let mut stacks: Vec<&str> =
        groups.iter().map(|g| evidence.groups[*g].key.stack.as_str()).collect();
    stacks.dedup();
    vec![Found {
        severity: Severity::Remark,
        text: format!(
            "The drives of {} are files in one folder of this machine. Real drives work at the \
             same time; these share what lies below the folder, so the gains and losses of RAID \
             seen here are not those of real drives.",
            list(stacks, 6)
        ),
        advice: "Compare file systems on the same layout here; for layouts, use real drives \
                 (--on disks:…) or the lab."
            .to_owned(),
        groups,
    }]
}

#[cfg(test)]
mod tests {
    use crate::testing::Bed;

    #[test]
    fn only_the_loop_bench_and_only_stacks_of_several_drives() {
        let mut bed = Bed::new("");
        bed.repeats("single/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        bed.info.bench = "loop".to_owned();
        assert_eq!(bed.findings("shared-spindle"), []);
        bed.repeats("raid1/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        let found = bed.findings("shared-spindle");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].groups, [1]);
        assert!(found[0].text.starts_with("The drives of raid1/ext4 are files"));
        bed.info.bench = "disks:/dev/disk/by-id/x".to_owned();
        assert_eq!(bed.findings("shared-spindle"), []);
    }
}
