//! Which figure of one run is which of the other.

use std::collections::BTreeSet;

use disklab_audits::GroupKey;
use disklab_comparisons::Point;
use disklab_study::{Measure, Part};

use super::compared_run::ComparedRun;

/// A stack's workload that both runs have and one did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The run that lacks it, `A` or `B`.
    pub run: char,
    /// The stack, by its name in B.
    pub stack: String,
    /// The workload, by its name in B.
    pub workload: String,
    /// Why it failed, in a line; none where it has not run.
    pub error: Option<String>,
}

/// What has no counterpart in the other run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// Stacks of A that B does not have.
    pub stacks_only_in_a: Vec<String>,
    /// Stacks of B that A does not have.
    pub stacks_only_in_b: Vec<String>,
    /// Workloads of A that B does not have.
    pub workloads_only_in_a: Vec<String>,
    /// Workloads of B that A does not have.
    pub workloads_only_in_b: Vec<String>,
    /// Figures of stacks and workloads that both have, and which A lacks.
    pub figures_only_in_b: Vec<String>,
    /// Figures of B that none of its questions asks for.
    pub not_asked: usize,
}

/// The same figure in both runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matched<'a> {
    /// The question of B that it belongs to, by index.
    pub answer: usize,
    pub measure: Measure,
    /// The group of A, by index.
    pub a: usize,
    /// B's point.
    pub b: &'a Point,
}

/// Other names: what is `.0` in A is `.1` in B.
pub(super) struct Renamed<'a>(pub &'a [(String, String)]);

impl Renamed<'_> {
    /// B's name of what A calls so.
    pub fn in_b<'n>(&'n self, name: &'n str) -> &'n str {
        self.0.iter().find(|(old, _)| old == name).map_or(name, |(_, new)| new)
    }
}

/// All figures that B's questions are about and that A has too, each once, in B's order.
pub(super) fn matched<'a>(
    a: &ComparedRun<'a>,
    b: &ComparedRun<'a>,
    renamed: &Renamed<'_>,
) -> Vec<Matched<'a>> {
    let mut seen: BTreeSet<(usize, String)> = BTreeSet::new();
    let mut all = Vec::new();
    let asked = b.analysis.answers.iter().enumerate().filter(|(_, answer)| answer.by_study);
    for (index, answer) in asked {
        for point in &answer.points {
            let Some(group) = b.analysis.groups.get(point.group) else { continue };
            let Some(found) = counterpart(a, b, renamed, &group.key) else { continue };
            if a.analysis.groups[found].values(answer.measure).next().is_none() {
                continue;
            }
            if seen.insert((point.group, format!("{:?}", answer.measure))) {
                all.push(Matched { answer: index, measure: answer.measure, a: found, b: point });
            }
        }
    }
    all
}

/// A's group of B's figure: the same stack, workload, step, direction and part; where both
/// workloads have but one step, whatever these are called, as other programs' outputs name
/// no steps.
fn counterpart(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
    renamed: &Renamed<'_>,
    key: &GroupKey,
) -> Option<usize> {
    let same_work = |k: &GroupKey| {
        renamed.in_b(&k.levels.stack) == key.levels.stack
            && renamed.in_b(&k.levels.workload) == key.levels.workload
            && k.direction == key.direction
            && k.part == key.part
    };
    let groups = &a.analysis.groups;
    let of_a = || groups.iter().enumerate().filter(|(_, g)| same_work(&g.key));
    if let Some((index, _)) = of_a().find(|(_, g)| g.key.step == key.step) {
        return Some(index);
    }
    let of_b = b.analysis.groups.iter().filter(|g| {
        let k = &g.key;
        (&k.levels.stack, &k.levels.workload, k.direction, k.part)
            == (&key.levels.stack, &key.levels.workload, key.direction, key.part)
    });
    let (mut rest, alone) = (of_a(), of_b.count() == 1);
    let first = rest.next()?;
    (alone && rest.next().is_none()).then_some(first.0)
}

/// What has no counterpart.
pub(super) fn unmatched(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
    renamed: &Renamed<'_>,
    matched: &[Matched<'_>],
) -> Unmatched {
    let stacks = |side: &ComparedRun<'_>, name: &dyn Fn(&str) -> String| -> Vec<(String, String)> {
        distinct(
            side.cells.iter().map(|c| (c.cell.levels.stack.clone(), name(&c.cell.levels.stack))),
        )
    };
    let workloads =
        |side: &ComparedRun<'_>, name: &dyn Fn(&str) -> String| -> Vec<(String, String)> {
            distinct(
                side.cells
                    .iter()
                    .map(|c| (c.cell.levels.workload.clone(), name(&c.cell.levels.workload))),
            )
        };
    let old = |name: &str| renamed.in_b(name).to_owned();
    let own = |name: &str| name.to_owned();
    let only = |these: &[(String, String)], those: &[(String, String)]| -> Vec<String> {
        let there = |name: &String| those.iter().any(|(_, other)| other == name);
        these.iter().filter(|(_, name)| !there(name)).map(|(own, _)| own.clone()).collect()
    };
    let (stacks_a, stacks_b) = (stacks(a, &old), stacks(b, &own));
    let (works_a, works_b) = (workloads(a, &old), workloads(b, &own));
    let answers = || b.analysis.answers.iter().filter(|answer| answer.by_study);
    let not_asked = b.analysis.groups.iter().enumerate().filter(|(index, group)| {
        let asked = answers().any(|x| x.points.iter().any(|p| p.group == *index));
        group.key.part == Part::Whole && !asked
    });
    let asked =
        answers().flat_map(|answer| answer.points.iter().map(move |p| (p.group, answer.measure)));
    let mut without: Vec<String> = Vec::new();
    for (group, measure) in asked {
        let key = &b.analysis.groups[group].key;
        // What a whole stack or workload lacks is told once, above.
        let known = stacks_a.iter().any(|(_, name)| *name == key.levels.stack)
            && works_a.iter().any(|(_, name)| *name == key.levels.workload);
        let done = matched.iter().any(|m| m.b.group == group && m.measure == measure);
        let has_cell = missing_cell(a, key, renamed);
        if known && !done && !has_cell {
            let name = format!("{} {}:{}", key.levels.stack, key.levels.workload, key.step);
            if !without.contains(&name) {
                without.push(name);
            }
        }
    }
    Unmatched {
        stacks_only_in_a: only(&stacks_a, &stacks_b),
        stacks_only_in_b: only(&stacks_b, &stacks_a),
        workloads_only_in_a: only(&works_a, &works_b),
        workloads_only_in_b: only(&works_b, &works_a),
        figures_only_in_b: without,
        not_asked: not_asked.count(),
    }
}

/// Whether A should have measured this, and has not.
fn missing_cell(a: &ComparedRun<'_>, key: &GroupKey, renamed: &Renamed<'_>) -> bool {
    let mut cells = a.cells.iter().filter(|c| {
        renamed.in_b(&c.cell.levels.stack) == key.levels.stack
            && renamed.in_b(&c.cell.levels.workload) == key.levels.workload
    });
    cells.clone().next().is_some() && cells.all(|c| c.state != disklab_store::CellState::Done)
}

/// Cells of stacks and workloads that both runs have, and that one of them did not finish
/// even once.
pub(super) fn missing(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
    renamed: &Renamed<'_>,
) -> Vec<Missing> {
    type Work = (String, String);
    let of = |side: &ComparedRun<'_>, in_b: bool| -> Vec<(Work, bool, Option<String>)> {
        let mut all: Vec<(Work, bool, Option<String>)> = Vec::new();
        for record in side.cells {
            let name = |id: &str| if in_b { id.to_owned() } else { renamed.in_b(id).to_owned() };
            let work = (name(&record.cell.levels.stack), name(&record.cell.levels.workload));
            let done = record.state == disklab_store::CellState::Done;
            match all.iter_mut().find(|(w, ..)| *w == work) {
                Some((_, any, error)) => {
                    *any |= done;
                    *error = error.take().or_else(|| record.error.clone());
                }
                None => all.push((work, done, record.error.clone())),
            }
        }
        all
    };
    let (of_a, of_b) = (of(a, false), of(b, true));
    let mut all = Vec::new();
    for ((stack, workload), done_in_b, error_in_b) in of_b {
        let Some((_, done_in_a, error_in_a)) =
            of_a.iter().find(|((s, w), ..)| *s == stack && *w == workload)
        else {
            continue;
        };
        let (run, error) = match (done_in_a, done_in_b) {
            (true, false) => ('B', error_in_b),
            (false, true) => ('A', error_in_a.clone()),
            _ => continue,
        };
        let error = error.and_then(|e| e.lines().next().map(str::to_owned));
        all.push(Missing { run, stack, workload, error });
    }
    all
}

fn distinct(all: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut seen = BTreeSet::new();
    all.filter(|item| seen.insert(item.clone())).collect()
}
