//! What several audits need: cells in which something holds, and stacks between which
//! something differs.

use std::collections::{BTreeMap, BTreeSet};

use disklab_sample::DriveState;
use disklab_stats::median_low;
use disklab_study::matches;
use disklab_units::{count, list};

use crate::audit::Detection;
use crate::evidence::{CellFacts, Evidence};
use crate::{Group, Severity};

/// Whether all drives of a figure are known to be hard disks. Hypervisors call their disks
/// rotating whatever they are on; the lab knows.
pub(super) fn on_hard_disks(evidence: &Evidence<'_>, group: &Group) -> bool {
    let cells = evidence.cells_of(group);
    let known = |d: &DriveState| d.model.is_some() || evidence.is_lab();
    !cells.is_empty()
        && cells.iter().all(|cell| {
            let drives = &cell.environment.drives;
            !drives.is_empty() && drives.iter().all(|d| d.rotational == Some(true) && known(d))
        })
}

/// Whether a figure takes part in the answer to a question: a question asks about its
/// workload, or the study has none, and another stack has the figure too.
pub(super) fn decides_answer(evidence: &Evidence<'_>, group: &Group) -> bool {
    let key = &group.key;
    let step = format!("{}:{}", key.levels.workload, key.step);
    let questions = &evidence.study.questions;
    let is_asked = questions.is_empty()
        || questions.iter().any(|question| {
            question.workloads.iter().any(|p| matches(p, &key.levels.workload) || matches(p, &step))
        });
    is_asked
        && evidence.groups.iter().any(|other| {
            let other = &other.key;
            other.levels.stack != key.levels.stack
                && (&other.levels.workload, &other.step, other.direction)
                    == (&key.levels.workload, &key.step, key.direction)
        })
}

/// So many names are told before the rest is counted.
const NAMES: usize = 4;

/// Cells in which an audit finds something.
pub(super) struct Affected<'a> {
    /// The cells, each with what the audit measured; never empty.
    pub cells: Vec<(&'a CellFacts, f64)>,
    /// All finished cells.
    all: usize,
    /// Indices of the groups with an observation of one of the cells.
    pub groups: Vec<usize>,
}

/// Cells in which `measure` finds something; none where there are none.
pub(super) fn afflicted<'a>(
    evidence: &Evidence<'a>,
    measure: impl Fn(&'a CellFacts) -> Option<f64>,
) -> Option<Affected<'a>> {
    let cells: Vec<(&CellFacts, f64)> =
        evidence.cells.iter().filter_map(|cell| Some((cell, measure(cell)?))).collect();
    if cells.is_empty() {
        return None;
    }
    let numbers: BTreeSet<u32> = cells.iter().map(|(cell, _)| cell.number).collect();
    let groups = evidence.groups.iter().enumerate();
    let groups = groups.filter(|(_, g)| g.observations.iter().any(|o| numbers.contains(&o.cell)));
    let groups = groups.map(|(index, _)| index).collect();
    Some(Affected { cells, all: evidence.cells.len(), groups })
}

impl Affected<'_> {
    /// The cell with the largest value.
    pub fn worst(&self) -> (&CellFacts, f64) {
        let first = self.cells[0];
        self.cells.iter().fold(first, |most, cell| if cell.1 > most.1 { *cell } else { most })
    }

    /// What `of_cell` says of each, each once, sorted.
    pub fn each<'c, T: Ord, I: IntoIterator<Item = T>>(
        &'c self,
        of_cell: impl Fn(&'c CellFacts) -> I,
    ) -> impl Iterator<Item = T> {
        self.cells.iter().flat_map(|(cell, _)| of_cell(cell)).collect::<BTreeSet<T>>().into_iter()
    }

    /// `all 12 cells`, or `3 of 12 cells (dd-4k with raid1/ext4, …)`.
    pub fn words(&self) -> String {
        if self.cells.len() == self.all {
            return if self.all == 1 {
                "the only cell".to_owned()
            } else {
                format!("all {} cells", self.all)
            };
        }
        let name = |c: &CellFacts| [format!("{} with {}", c.levels.workload, c.levels.stack)];
        let names: Vec<String> = self.each(name).collect();
        let names = list(names.iter().map(String::as_str), NAMES);
        format!("{} of {} ({names})", self.cells.len(), count(self.all, "cell"))
    }
}

/// Stacks between which something differs.
pub(super) struct Differing<'a> {
    /// The values, each with the stacks that have it; two at least.
    pub sides: BTreeMap<String, BTreeSet<&'a str>>,
    /// Indices of the groups of all these stacks.
    pub groups: Vec<usize>,
}

/// What `value` says of the stacks' cells, where that is not the same for all. Cells of
/// which it says nothing do not count.
pub(super) fn differing<'a>(
    evidence: &Evidence<'a>,
    value: impl Fn(&'a CellFacts) -> Option<String>,
) -> Option<Differing<'a>> {
    let mut sides: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for cell in evidence.cells {
        if let Some(value) = value(cell) {
            sides.entry(value).or_default().insert(&cell.levels.stack);
        }
    }
    if sides.len() < 2 {
        return None;
    }
    let stacks: BTreeSet<&str> = sides.values().flatten().copied().collect();
    let groups = evidence.groups.iter().enumerate();
    let groups = groups.filter(|(_, group)| stacks.contains(group.key.levels.stack.as_str()));
    let groups = groups.map(|(index, _)| index).collect();
    Some(Differing { sides, groups })
}

impl Differing<'_> {
    /// `write back (raid1/ext4 and single/ext4); write through (raid5/ext4)`.
    pub fn words(&self) -> String {
        let side = |(value, stacks): (&String, &BTreeSet<&str>)| {
            format!("{value} ({})", list(stacks.iter().copied(), NAMES))
        };
        self.sides.iter().map(side).collect::<Vec<_>>().join("; ")
    }

    /// The groups of the stacks on one side.
    pub fn groups_on(&self, evidence: &Evidence<'_>, side: &str) -> Vec<usize> {
        let stacks = self.sides.get(side);
        let on_it = |group: usize| {
            let stack = evidence.groups[group].key.levels.stack.as_str();
            stacks.is_some_and(|stacks| stacks.contains(stack))
        };
        self.groups.iter().copied().filter(|group| on_it(*group)).collect()
    }

    /// Whether no stack is on two sides: then whatever differs between stacks may
    /// come from it.
    pub fn parts_stacks(&self) -> bool {
        let placed: usize = self.sides.values().map(BTreeSet::len).sum();
        let stacks: BTreeSet<&&str> = self.sides.values().flatten().collect();
        placed == stacks.len()
    }
}

/// A finding about the cells in which `measure` finds something: `words` makes its text and what to
/// do.
pub(super) fn in_cells<'a>(
    evidence: &Evidence<'a>,
    severity: Severity,
    measure: impl Fn(&'a CellFacts) -> Option<f64>,
    words: impl Fn(&Affected<'_>) -> (String, &'static str),
) -> Vec<Detection> {
    let found = afflicted(evidence, measure).map(|cells| {
        let (text, advice) = words(&cells);
        Detection { severity, text, advice: advice.to_owned(), groups: cells.groups }
    });
    found.into_iter().collect()
}

/// A finding about stacks between which something differs that is not their difference:
/// what it is, why it matters, and what to do.
pub(super) fn unlike<'a>(
    evidence: &Evidence<'a>,
    severity: Severity,
    [what, why, advice]: [&str; 3],
    value: impl Fn(&'a CellFacts) -> Option<String>,
) -> Vec<Detection> {
    let found = differing(evidence, value).map(|differs| {
        // A stack on two sides differs from itself.
        let all = if differs.parts_stacks() { "stacks" } else { "cells" };
        Detection {
            severity,
            text: format!("{what} not the same for all {all}: {}. {why}", differs.words()),
            advice: advice.to_owned(),
            groups: differs.groups,
        }
    });
    found.into_iter().collect()
}

/// Each word once, in order; none of none.
pub(super) fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let words: BTreeSet<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.into_iter().collect::<Vec<_>>().join(" and "))
}

/// The middle of the finite values, of an even number the lower one. `None` if there are none.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|value| value.is_finite());
    median_low(&values)
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    #[test]
    fn figures_that_are_asked_for_and_compared_decide_an_answer() {
        let decide = |questions: &str, stacks: &[&str]| -> Vec<(String, bool)> {
            let mut fixture = RunFixture::new(questions);
            for stack in stacks {
                let one = |name: &str, direction| step(name, vec![figure(direction, 1, 1.0)]);
                let steps = vec![one("cp", Direction::Copy), one("rm", Direction::Remove)];
                fixture.sample(stack, "copy", 0, steps);
            }
            let audited = fixture.audited();
            let evidence = Evidence {
                study: &fixture.study,
                info: &fixture.info,
                groups: &audited.groups,
                details: &[],
                cells: &[],
                unfinished: &[],
            };
            let groups = audited.groups.iter().take(2);
            groups.map(|g| (g.key.step.clone(), decides_answer(&evidence, g))).collect()
        };
        let expected = |cp, rm| vec![("cp".to_owned(), cp), ("rm".to_owned(), rm)];
        let two = ["single/ext4", "raid1/ext4"];
        let ask = |what: &str| format!("[[questions]]\nask = \"?\"\nworkloads = \"{what}\"");
        assert_eq!(decide("", &two), expected(true, true));
        assert_eq!(decide("", &two[..1]), expected(false, false), "nothing to compare with");
        assert_eq!(decide(&ask("copy"), &two), expected(true, true));
        assert_eq!(decide(&ask("copy:rm"), &two), expected(false, true));
        assert_eq!(decide(&ask("fio"), &two), expected(false, false));
    }

    #[test]
    fn middles_leave_out_what_is_no_number() {
        assert_eq!(median(vec![3.0, f64::NAN, 1.0, f64::INFINITY, 2.0]), Some(2.0));
        assert_eq!([median(vec![f64::NAN]), median(Vec::new())], [None; 2]);
        assert_eq!(joined(["b", "", "a", "b"]).as_deref(), Some("a and b"));
        assert_eq!(joined([""]), None);
    }
}
