//! What went wrong with a drive while a stack on it was used.

use disklab_measure::{SystemRoot, mounts};

use super::claim::changes;
use super::family::{family, spoken};
use super::{DriveLoss, Target};

/// What happened to a drive since it was claimed: that it vanished, was attached anew, or
/// that an array on it continues without one of its members. Empty if all is well.
pub fn losses(root: &SystemRoot, target: &Target) -> Vec<DriveLoss> {
    let drive = || target.name.clone();
    let changed = |change| DriveLoss::Drive { drive: drive(), change };
    let mut losses: Vec<_> = changes(root, target).into_iter().map(changed).collect();
    let mounts = mounts(root);
    for member in family(root, &mounts, &target.device) {
        // Kernel: Documentation/admin-guide/md.rst. An array without redundancy
        // has no such file.
        let degraded = member.device.attribute("md/degraded");
        if degraded.is_some_and(|count| count != "0") {
            losses.push(DriveLoss::Member { drive: drive(), array: spoken(&member.device) });
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;

    use super::*;
    use crate::safety::resolve;

    #[test]
    fn lost_members_and_lost_drives_are_reported() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1));
        tree.drive("sdb", (8, 16), "B").stacked("md0", (9, 0), &["sda1"]);
        tree.set("md0", "md/degraded", "0\n");
        let root = tree.root();
        let name = "/dev/disk/by-id/ata-TESTDRIVE_1000_";
        let names = [format!("{name}A"), format!("{name}B")];
        let targets = resolve(&root, &names).expect("two drives");
        let all = || {
            let losses = targets.iter().flat_map(|t| losses(&root, t));
            losses.map(|loss| loss.to_string()).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(all(), "");
        tree.set("md0", "md/degraded", "1\n");
        assert_eq!(all(), format!("{name}A: the array md0 on it lost a member"));
        std::fs::remove_dir_all(tree.path("/sys/class/block/sdb")).expect("unplugged");
        assert!(all().ends_with("B: it is gone: unplugged, or failed"), "{}", all());
    }
}
