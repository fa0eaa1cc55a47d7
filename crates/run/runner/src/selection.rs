//! Which cells `--only` and `--without` select.

use std::collections::BTreeSet;

use disklab_bench::Preflight;
use disklab_cell::Levels;
use disklab_source::did_you_mean;
use disklab_study::{LeftOut, Study, matches, selects};

/// A pattern matches no cell of the study at all: it is misspelt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{flag} '{pattern}' matches no cell{tip}; a pattern is STACK:WORKLOAD, a stack or a workload, \
     with * and ?\n  stacks: {}\n  workloads: {}",
    stacks.join(", "),
    workloads.join(", ")
)]
pub struct SelectionError {
    /// The option.
    pub flag: &'static str,
    /// What it was given.
    pub pattern: String,
    /// What may have been meant, or nothing.
    pub tip: String,
    /// The study's stacks on this bench.
    pub stacks: Vec<String>,
    /// The study's workloads on this bench.
    pub workloads: Vec<String>,
}

/// The patterns of a command line. One without a ':' is of stacks or of workloads.
pub struct Selection<'a> {
    only: &'a [String],
    without: &'a [String],
}

impl<'a> Selection<'a> {
    pub fn new(only: &'a [String], without: &'a [String]) -> Self {
        Self { only, without }
    }

    /// Takes what is not selected out of a preflight: it is not skipped either, as nobody
    /// asked for it.
    ///
    /// # Errors
    /// [`SelectionError`] with the first pattern that matches no cell of the study.
    pub fn narrow(&self, preflight: &mut Preflight, study: &Study) -> Result<(), SelectionError> {
        let all = AllCells::of(preflight, study);
        for (flag, patterns) in [("--only", self.only), ("--without", self.without)] {
            for pattern in patterns {
                if !all.0.iter().any(|l| selects(pattern, &l.stack, &l.workload)) {
                    return Err(all.unmatched(flag, pattern));
                }
            }
        }
        let narrowed = preflight.levels.len();
        preflight.levels.retain(|levels| self.takes(levels));
        if preflight.levels.len() < narrowed {
            let left: BTreeSet<&str> = preflight.levels.iter().map(|l| l.stack.as_str()).collect();
            preflight.stacks.retain(|stack| left.contains(stack.id.as_str()));
        }
        preflight.left_out.retain(|left_out| {
            all.0.iter().any(|levels| {
                concerns(left_out, &levels.stack, &levels.workload) && self.takes(levels)
            })
        });
        Ok(())
    }

    fn takes(&self, levels: &Levels) -> bool {
        let any = |patterns: &[String]| {
            patterns.iter().any(|p| selects(p, &levels.stack, &levels.workload))
        };
        (self.only.is_empty() || any(self.only)) && !any(self.without)
    }
}

fn concerns(left_out: &LeftOut, stack: &str, workload: &str) -> bool {
    left_out.stack.as_deref().is_none_or(|s| s == stack)
        && left_out.workload.as_deref().is_none_or(|w| w == workload)
}

/// The cells of a study on a bench, also those that cannot run here.
struct AllCells(BTreeSet<Levels>);

impl AllCells {
    fn of(preflight: &Preflight, study: &Study) -> Self {
        let mut all: BTreeSet<_> = preflight.levels.iter().cloned().collect();
        // A directory is one stack of its own.
        let on_drives = preflight.left_out.iter().any(|l| l.stack.is_some())
            || preflight.levels.iter().any(|l| study.stack_index(&l.stack).is_some());
        let own: Vec<String> = match on_drives {
            true => {
                let unfit = study.left_out.iter().filter_map(|left_out| left_out.stack.clone());
                study.stacks.iter().map(|stack| stack.id.clone()).chain(unfit).collect()
            }
            false => preflight.stacks.iter().map(|stack| stack.id.clone()).collect(),
        };
        for left_out in &preflight.left_out {
            for (at, stack) in own.iter().enumerate() {
                for (workload, w) in study.workloads.iter().enumerate() {
                    if concerns(left_out, stack, &w.id)
                        && !(on_drives && study.is_excluded(at, workload))
                    {
                        all.insert(Levels::new(stack, &w.id));
                    }
                }
            }
        }
        Self(all)
    }

    fn unmatched(&self, flag: &'static str, pattern: &str) -> SelectionError {
        let stacks: BTreeSet<&str> = self.0.iter().map(|l| l.stack.as_str()).collect();
        let workloads: BTreeSet<&str> = self.0.iter().map(|l| l.workload.as_str()).collect();
        let tip = match pattern.split_once(':') {
            Some((stack, workload)) => {
                let known = |pattern: &str, names: &BTreeSet<&str>| {
                    names.iter().any(|name| matches(pattern, name))
                };
                if known(stack, &stacks) && known(workload, &workloads) {
                    " (the study does not run this workload on this stack)".to_owned()
                } else if known(stack, &stacks) {
                    did_you_mean(workload, workloads.iter().copied())
                } else {
                    did_you_mean(stack, stacks.iter().copied())
                }
            }
            None => did_you_mean(pattern, stacks.iter().chain(&workloads).copied()),
        };
        let list = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        let (stacks, workloads) = (list(stacks), list(workloads));
        SelectionError { flag, pattern: pattern.to_owned(), tip, stacks, workloads }
    }
}

#[cfg(test)]
mod tests {
    use disklab_cell::MachinePlan;

    use super::*;

    #[test]
    fn a_pattern_without_a_colon_is_of_stacks_or_workloads() {
        for (pattern, expected) in [
            ("raid5/ext4", true),
            ("raid5/*", true),
            ("dd-*", true),
            ("raid5/ext4:dd-4k", true),
            ("raid5/ext4:*", true),
            ("*:dd-4k", true),
            ("*", true),
            ("raid5", false),
            ("raid5/ext4:", false),
            ("raid5/ext4:hdparm", false),
            ("dd-4k:*", false),
        ] {
            assert_eq!(selects(pattern, "raid5/ext4", "dd-4k"), expected, "{pattern}");
        }
    }

    fn preflight() -> (Preflight, Study) {
        let text = r#"
id = "tiny"
title = "Tiny"
[[drives]]
model = "m"
size = "1 GB"
[layouts]
single = { drives = 1 }
[file-systems]
x = "ext4"
y = "xfs"
[[workloads]]
id = "w"
dd = { direction = "write", bs = "4k", count = 4 }
[[workloads]]
id = "v"
dd = { direction = "write", bs = "4k", count = 4 }
"#;
        let study = disklab_study::load("tiny.toml", text).unwrap_or_else(|e| panic!("{e}"));
        let stacks: Vec<&str> = study.stacks.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(stacks, ["single/x", "single/y"]);
        let preflight = Preflight {
            levels: vec![Levels::new("single/x", "w")],
            left_out: vec![
                LeftOut::workload("v", "needs dd").lacking(["coreutils"]),
                LeftOut::stack("single/y", "needs xfs"),
            ],
            ..Preflight::new(MachinePlan::Loop, Vec::new())
        };
        (preflight, study)
    }

    #[test]
    fn unselected_cells_are_not_reported_as_skipped() {
        let (mut preflight, study) = preflight();
        Selection::new(&["single/x".to_owned()], &["v".to_owned()])
            .narrow(&mut preflight, &study)
            .unwrap();
        assert_eq!(preflight.levels, [Levels::new("single/x", "w")]);
        assert!(preflight.left_out.is_empty(), "{:?}", preflight.left_out);
    }

    #[test]
    fn a_pattern_of_cells_that_cannot_run_is_known() {
        let (mut preflight, study) = preflight();
        Selection::new(&["*/y".to_owned()], &[]).narrow(&mut preflight, &study).unwrap();
        assert!(preflight.levels.is_empty());
        assert_eq!(preflight.left_out.len(), 2, "{:?}", preflight.left_out);
    }

    /// With programs missing, the pattern is wrong all the same, and named first.
    #[test]
    fn a_misspelt_pattern_is_refused_if_nothing_can_run() {
        let (preflight, study) = preflight();
        let nothing = Preflight { levels: Vec::new(), ..preflight };
        let pattern = ["x/*".to_owned()];
        let error = Selection::new(&pattern, &[]).narrow(&mut nothing.clone(), &study).unwrap_err();
        assert_eq!((error.flag, error.pattern.as_str()), ("--only", "x/*"));
        assert_eq!(error.stacks, ["single/x", "single/y"]);
        let known = ["single/*".to_owned()];
        assert_eq!(Selection::new(&known, &[]).narrow(&mut nothing.clone(), &study), Ok(()));
    }

    #[test]
    fn a_misspelt_pattern_is_refused_with_a_tip() {
        let (preflight, study) = preflight();
        for (pattern, tip) in [
            ("z:w", "stacks: single/x, single/y"),
            ("*/x:vv", "did you mean 'v'"),
            ("", "x, single/y"),
        ] {
            let pattern = [pattern.to_owned()];
            let selections = [Selection::new(&pattern, &[]), Selection::new(&[], &pattern)];
            for selection in selections {
                let error = selection.narrow(&mut preflight.clone(), &study).unwrap_err();
                assert_eq!(error.pattern, pattern[0]);
                assert!(error.to_string().contains(tip), "{error}");
            }
        }
    }
}
