//! `target`: a flowop that another names, wherever it stands.

use std::collections::{HashMap, HashSet};

use disklab_source::{SourceError, did_you_mean};

use super::flowop_reader::PendingFlowop;
use crate::parse::lex::short;
use crate::{Action, Flowop, Process, RowId};

/// `finishon…` and the limits count a flowop of their own thread.
pub(super) fn are_near(flowops: &[Flowop], pending: &[PendingFlowop]) -> Result<(), SourceError> {
    if pending.is_empty() {
        return Ok(());
    }
    let mut names = HashSet::new();
    let mut far = HashSet::new();
    for flowop in flowops {
        flowop.walk(&mut |f| {
            names.insert(f.name.as_str());
            if matches!(f.action, Action::Wakeup(_) | Action::SemPost { .. }) {
                far.insert(f.id);
            }
        });
    }
    let known = |target: &PendingFlowop| {
        names.contains(target.name.as_str()) || names.contains(target.inner.as_str())
    };
    let lost = |target: &&PendingFlowop| !far.contains(&target.id) && !known(target);
    match pending.iter().find(lost) {
        None => Ok(()),
        Some(target) => {
            let name = short(&target.name);
            let near = did_you_mean(&name, names);
            Err(target.place.error(format!("no flowop of this thread is named '{name}'{near}")))
        }
    }
}

/// Puts the rows of the targets in place of their names.
pub(super) fn resolve(
    list: &mut [Process],
    rows: &[String],
    row_ids: &HashMap<String, RowId>,
    pending: Vec<PendingFlowop>,
) -> Result<(), SourceError> {
    let mut known = Known {
        rows,
        row_ids,
        targets: pending.into_iter().map(|p| (p.id, p)).collect(),
        blocks: HashSet::new(),
        semaphores: HashSet::new(),
    };
    for flowop in list.iter().flat_map(|p| &p.threads).flat_map(|t| &t.flowops) {
        flowop.walk(&mut |f| {
            match f.action {
                Action::Block => known.blocks.insert(f.row),
                Action::SemBlock { .. } => known.semaphores.insert(f.row),
                _ => false,
            };
        });
    }
    for flowop in list.iter_mut().flat_map(|p| &mut p.threads).flat_map(|t| &mut t.flowops) {
        known.put(flowop)?;
    }
    Ok(())
}

struct Known<'a> {
    rows: &'a [String],
    row_ids: &'a HashMap<String, RowId>,
    /// By the number of the flowop that asks.
    targets: HashMap<usize, PendingFlowop>,
    blocks: HashSet<RowId>,
    semaphores: HashSet<RowId>,
}

impl Known<'_> {
    fn put(&self, flowop: &mut Flowop) -> Result<(), SourceError> {
        let id = flowop.id;
        match &mut flowop.action {
            Action::Wakeup(target) => *target = self.one_of("block", &self.blocks, id)?,
            Action::SemPost { target, .. } => {
                *target = self.one_of("semblock", &self.semaphores, id)?;
            }
            Action::IopsLimit(target)
            | Action::OpsLimit(target)
            | Action::BandwidthLimit(target) => {
                *target = self.row(id);
            }
            Action::FinishOnCount(finish) | Action::FinishOnBytes(finish) => {
                finish.target = self.row(id);
            }
            Action::Composite(inner) => {
                for flowop in inner {
                    self.put(flowop)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The row that flowop `id` asks for.
    fn row(&self, id: usize) -> Option<RowId> {
        let target = self.targets.get(&id)?;
        // A flowop of the same use of a composite comes first.
        self.row_ids.get(&target.inner).or_else(|| self.row_ids.get(&target.name)).copied()
    }

    /// The row that flowop `id` asks for, which must be one of a kind.
    fn one_of(
        &self,
        kind: &str,
        fitting: &HashSet<RowId>,
        id: usize,
    ) -> Result<RowId, SourceError> {
        match (self.row(id), self.targets.get(&id)) {
            (Some(row), _) if fitting.contains(&row) => Ok(row),
            (_, Some(target)) => {
                let known =
                    fitting.iter().filter_map(|row| self.rows.get(*row)).map(String::as_str);
                let name = short(&target.name);
                let near = did_you_mean(&name, known);
                Err(target.place.error(format!("no '{kind}' is named '{name}'{near}")))
            }
            // Both kinds always have a target: their attribute is required.
            (_, None) => Ok(0),
        }
    }
}
