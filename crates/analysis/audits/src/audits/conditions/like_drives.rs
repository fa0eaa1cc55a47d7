//! Stacks on drives of a kind. Where a study gives stacks drives of different models, it compares
//! drives on purpose.

use std::collections::BTreeSet;

use crate::Severity;
use crate::audit::Detection;
use crate::audits::support::unlike;
use crate::evidence::{CellFacts, Evidence};

/// As [`unlike`], among stacks on drives of a kind.
pub(super) fn unlike_on_like_drives<'a>(
    evidence: &Evidence<'a>,
    severity: Severity,
    words: [&str; 3],
    value: impl Fn(&'a CellFacts) -> Option<String>,
) -> Vec<Detection> {
    let of = |stacks: BTreeSet<&str>| {
        unlike(evidence, severity, words, |cell| {
            stacks.contains(cell.levels.stack.as_str()).then(|| value(cell)).flatten()
        })
    };
    stacks_by_drives(evidence).into_iter().flat_map(of).collect()
}

/// The stacks in groups: two that share a model of drives for their data are in one, and all of
/// which the study says nothing are in one.
fn stacks_by_drives<'a>(evidence: &Evidence<'a>) -> Vec<BTreeSet<&'a str>> {
    let stacks: BTreeSet<&str> =
        evidence.cells.iter().map(|cell| cell.levels.stack.as_str()).collect();
    let mut groups: Vec<(BTreeSet<&str>, BTreeSet<&str>)> = Vec::new();
    for stack in stacks {
        let (mut models, mut together) = (models_of(evidence, stack), BTreeSet::from([stack]));
        let shares = |group: &(BTreeSet<&str>, BTreeSet<&str>)| {
            models.is_empty() && group.0.is_empty() || !models.is_disjoint(&group.0)
        };
        let (same, others) = groups.into_iter().partition::<Vec<_>, _>(shares);
        for (known, members) in same {
            models.extend(known);
            together.extend(members);
        }
        groups = others;
        groups.push((models, together));
    }
    groups.into_iter().map(|(_, stacks)| stacks).collect()
}

/// The models that the study gives a stack for its data.
fn models_of<'a>(evidence: &Evidence<'a>, stack: &str) -> BTreeSet<&'a str> {
    let planned = evidence.info.stacks.iter().find(|planned| planned.id == stack);
    let names: Vec<&str> = planned.iter().flat_map(|planned| planned.data_drives()).collect();
    let drives = evidence.study.drives.iter();
    drives.filter(|drive| names.contains(&&*drive.name)).map(|drive| drive.model.as_str()).collect()
}
