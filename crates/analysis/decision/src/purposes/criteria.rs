//! The figures of a run that show what a purpose asks for.

use disklab_audits::{Finding, Group, SuspectGroups, describe};
use disklab_sample::{Direction, Task};
use disklab_study::{Measure, Part, Study};

use super::rule::Criterion;
use super::table::{Aspect, Purpose};
use super::work;

/// The figures that show what a purpose asks for, and the aspects that lost one because a
/// severe finding makes it suspect.
pub(super) fn criteria(
    study: &Study,
    (groups, findings): (&[Group], &[Finding]),
    purpose: &'static Purpose,
    stacks: &[&str],
) -> (Vec<Criterion>, Vec<String>) {
    let (mut criteria, mut suspect): (Vec<Criterion>, Vec<String>) = (Vec::new(), Vec::new());
    let suspicions = SuspectGroups::of(findings);
    for aspect in purpose.aspects {
        // What shows it best, if it was measured; else what stands for it.
        let found = aspect.work.iter().map(|tasks| {
            let (found, suspected) = figures(study, groups, &suspicions, aspect, tasks, stacks);
            suspect.extend(
                suspected.into_iter().filter(|text| !suspect.contains(text)).collect::<Vec<_>>(),
            );
            found
        });
        let mut found = found.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        let share = f64::from(aspect.weight) / found.len().max(1) as f64;
        found.iter_mut().for_each(|criterion| criterion.weight = share);
        criteria.append(&mut found);
    }
    (criteria, suspect)
}

/// The figures of these tasks, without a weight, and what severe findings say of those left out.
fn figures(
    study: &Study,
    groups: &[Group],
    suspicions: &SuspectGroups<'_>,
    aspect: &'static Aspect,
    tasks: &[Task],
    stacks: &[&str],
) -> (Vec<Criterion>, Vec<String>) {
    let (mut found, mut suspect): (Vec<Criterion>, Vec<String>) = (Vec::new(), Vec::new());
    let mut seen: Vec<(&str, &str, Direction)> = Vec::new();
    for group in groups {
        let key = &group.key;
        let work = (key.levels.workload.as_str(), key.step.as_str(), key.direction);
        let fits =
            key.part == Part::Whole && work::task(group).is_some_and(|task| tasks.contains(&task));
        if !fits || seen.contains(&work) {
            continue;
        }
        seen.push(work);
        let is_same = |i: &usize| {
            let k = &groups[*i].key;
            k.part == Part::Whole
                && (k.levels.workload.as_str(), k.step.as_str(), k.direction) == work
        };
        // A copy from memory writes to the drives, a read from there does nothing with them.
        let reads = group.key.direction == Direction::Read;
        let sound =
            |i: &usize| !(suspicions.is_in_one_place(*i) || reads && suspicions.is_from_memory(*i));
        let same: Vec<usize> = (0..groups.len()).filter(is_same).filter(sound).collect();
        let about = suspicions.about(&same);
        if about.is_empty() {
            found.extend(criterion(study, groups, aspect, group, &same, stacks));
        } else {
            suspect.push(format!(
                "{} ({}: {})",
                aspect.name,
                key.levels.workload,
                about.join(", ")
            ));
        }
    }
    (found, suspect)
}

/// The figure of the groups `same`, which are `group`'s step on several stacks, by the first
/// measure of the aspect that most of them have.
fn criterion(
    study: &Study,
    groups: &[Group],
    aspect: &'static Aspect,
    group: &Group,
    same: &[usize],
    stacks: &[&str],
) -> Option<Criterion> {
    let synced_apart = work::is_synced_apart(group);
    let has = |m: Measure| {
        let latency = matches!(m, Measure::Latency(_));
        let all = same.iter().flat_map(|i| &groups[*i].observations);
        all.filter(|o| {
            // The time of a write without its sync is not what one waits.
            let wrong_clock = latency && synced_apart && !o.committed;
            o.value(m).is_some() && !wrong_clock
        })
        .count()
    };
    let measure = aspect.measures.iter().copied().rev().max_by_key(|m| has(*m))?;
    if has(measure) == 0 {
        return None;
    }
    let values = stacks
        .iter()
        .map(|stack| {
            let group = same.iter().map(|i| &groups[*i]).find(|g| g.key.levels.stack == *stack);
            let observations = group.iter().flat_map(|g| &g.observations);
            observations.filter_map(|o| Some((o.block, o.value(measure)?))).collect()
        })
        .collect();
    let noun = describe(study, groups, &group.key).full();
    let first = &groups[*same.first()?];
    let operation = first.operation;
    let workload = group.key.levels.workload.clone();
    Some(Criterion { aspect, workload, noun, measure, operation, weight: 0.0, values })
}
