//! Mounts whose options differ behind the stacks' backs.

use std::collections::BTreeSet;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::differing;
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "mount-options-differ",
    severity: Severity::Warning,
    detects: "mounts of one file system whose options differ though its stacks name none",
    evidence: "the options of the mounts, as the kernel tells them",
    remedy: "name the options in the study, the same for all",
    reproducer: Reproducer::Lab("Btrfs on an SSD, where it discards, and Btrfs on a disk"),
    check,
};

/// Options that change what is measured: times of access, discards, commits, the journal's
/// mode, checksums. Others describe the layout (stripe, subvolid).
const OPTIONS: [&str; 15] = [
    "relatime",
    "noatime",
    "strictatime",
    "nodiratime",
    "lazytime",
    "sync",
    "dirsync",
    "discard",
    "commit",
    "data",
    "nodatacow",
    "nodatasum",
    "autodefrag",
    "dax",
    "nodelalloc",
];

fn matters(option: &&str) -> bool {
    OPTIONS.contains(&option.split('=').next().unwrap_or(option))
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let kinds: BTreeSet<&str> =
        evidence.cells.iter().filter_map(|cell| Some(cell.mount()?.0)).collect();
    let mut all = Vec::new();
    for kind in kinds {
        let value = |cell: &CellFacts| {
            let (own, options) = cell.mount()?;
            // What a stack's own options bring about is its difference.
            let stack = evidence.study.stacks.iter().find(|stack| stack.id == cell.levels.stack);
            let names = stack.is_some_and(|stack| {
                stack.layers.iter().any(|l| l.name.starts_with(kind) && !l.options.is_empty())
            });
            if own != kind || names {
                return None;
            }
            let mut kept: Vec<&str> = options.into_iter().filter(matters).collect();
            kept.sort_unstable();
            Some(if kept.is_empty() { "none".to_owned() } else { kept.join(",") })
        };
        all.extend(differing(evidence, value).map(|differs| Detection {
            severity: Severity::Warning,
            text: format!(
                "{kind} was mounted with options that differ and are not the stacks' own: {}.",
                differs.words()
            ),
            advice: "Name the options in the study, the same for all stacks.".to_owned(),
            groups: differs.groups,
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use disklab_sample::Environment;

    use super::*;
    use crate::testing::RunFixture;

    fn texts(stacks: [&str; 2], mounts: [&str; 2]) -> Vec<String> {
        let mut fixture = RunFixture::new("[stacks]\nown = \"ext4[nodelalloc]\"");
        for (stack, mount) in stacks.into_iter().zip(mounts) {
            let mounts = vec![format!("/dev/sda /mnt/a b {mount}").parse().expect("a mount")];
            fixture.around(stack, "dd-4k", 0, Environment { mounts, ..Environment::default() });
        }
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn times_of_access_that_differ_are_reported() {
        let found = texts(["single/ext4", "raid1/ext4"], ["ext4 rw,relatime", "ext4 rw,noatime"]);
        assert!(found[0].contains("noatime (raid1/ext4); relatime (single/ext4)"), "{found:?}");
    }

    #[test]
    fn layouts_other_file_systems_and_named_options_are_clean() {
        let two = ["single/ext4", "raid1/ext4"];
        assert!(texts(two, ["ext4 rw,relatime", "ext4 rw,relatime,stripe=128"]).is_empty());
        assert!(texts(two, ["ext4 rw,relatime", "xfs rw,noatime"]).is_empty());
        let own = ["single/ext4", "own"];
        assert!(texts(own, ["ext4 rw,relatime", "ext4 rw,relatime,nodelalloc"]).is_empty());
    }
}
