//! What of a study cannot run here, and what to install for it.

use std::collections::BTreeSet;

use disklab_study::LeftOut;
use disklab_units::count;

/// A study that loses more stacks than this no longer asks what it was written to ask.
const A_FEW_STACKS: usize = 2;

/// What a run loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    stacks: usize,
    of_stacks: usize,
    workloads: usize,
    packages: BTreeSet<String>,
}

impl Skipped {
    /// Of a run whose cells have the stacks `running`, in any order: of a study, `--only` may
    /// leave some out.
    pub fn new<'a>(left_out: &[LeftOut], running: impl IntoIterator<Item = &'a str>) -> Self {
        let running = running.into_iter().collect::<BTreeSet<_>>().len();
        let whole = |name: fn(&LeftOut) -> Option<&String>, other: fn(&LeftOut) -> bool| {
            left_out.iter().filter(|l| other(l)).filter_map(name).collect::<BTreeSet<_>>().len()
        };
        let stacks = whole(|l| l.stack.as_ref(), |l| l.workload.is_none());
        Self {
            stacks,
            of_stacks: stacks + running,
            workloads: whole(|l| l.workload.as_ref(), |l| l.stack.is_none()),
            packages: left_out.iter().flat_map(|l| l.packages.iter().cloned()).collect(),
        }
    }

    /// What comes before all else: the study loses much of what it asks.
    pub fn warning(&self) -> Option<String> {
        (self.stacks > A_FEW_STACKS).then(|| {
            format!(
                "{} of {} cannot run here; the reasons are at the end{}",
                self.stacks,
                count(self.of_stacks, "stack"),
                if self.packages.is_empty() { "" } else { ", with what to install" }
            )
        })
    }

    /// How to run the rest too, if programs are all that it lacks.
    pub fn remedy(&self) -> Option<String> {
        if self.packages.is_empty() {
            return None;
        }
        let mut what = Vec::new();
        if self.stacks > 0 {
            what.push(format!("{} of {}", self.stacks, count(self.of_stacks, "stack")));
        }
        if self.workloads > 0 {
            what.push(count(self.workloads, "workload"));
        }
        let what = if what.is_empty() { "some cells".to_owned() } else { what.join(" and ") };
        let packages: Vec<_> = self.packages.iter().map(String::as_str).collect();
        Some(format!("{what} skipped; to run them: apt-get install {}", packages.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EIGHT: [&str; 10] = ["a", "b", "c", "d", "a", "e", "f", "g", "h", "h"];

    fn left_out(stacks: usize) -> Vec<LeftOut> {
        let stack = |n| LeftOut::stack(&format!("raid{n}"), "needs mdadm").lacking(["mdadm"]);
        let workload = LeftOut::workload("backup", "needs borg").lacking(["borgbackup"]);
        let pair = LeftOut::pair("ext4", "large", "needs 9 GiB");
        (0..stacks).map(stack).chain([workload, pair]).collect()
    }

    #[test]
    fn losing_many_stacks_is_said_first() {
        let skipped = Skipped::new(&left_out(15), EIGHT);
        let warning = skipped.warning().unwrap();
        assert!(warning.starts_with("15 of 23 stacks cannot run here"), "{warning}");
        assert_eq!(Skipped::new(&left_out(2), EIGHT).warning(), None);
    }

    #[test]
    fn missing_packages_are_listed_at_the_end() {
        assert_eq!(
            Skipped::new(&left_out(2), EIGHT).remedy().unwrap(),
            "2 of 10 stacks and 1 workload skipped; to run them: apt-get install borgbackup mdadm"
        );
        let no_program = [LeftOut::stack("raid5", "needs md (raid5) in the kernel")];
        assert_eq!(Skipped::new(&no_program, ["a"]).remedy(), None);
    }
}
