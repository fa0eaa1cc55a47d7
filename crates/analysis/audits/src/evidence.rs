//! What audits look at: more of each sample than a report shows.

mod facts;

use disklab_cell::Levels;
use disklab_store::RunInfo;
use disklab_study::{StackSpec, Study, WorkloadSpec};

use crate::describe::figure_id;
use crate::{Group, Observation};

pub(crate) use facts::{CellFacts, Detail, seconds};

/// A cell without a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Unfinished {
    /// What was not measured.
    pub levels: Levels,
    /// Why it failed; none where it has not run yet.
    pub error: Option<String>,
}

/// So much of an error is quoted.
const QUOTED: usize = 200;

impl Unfinished {
    /// Why it failed, in a line; none if it has not run yet.
    pub fn reason(&self) -> Option<String> {
        self.error.as_deref().map(in_a_line)
    }
}

/// An error in a line: what only leads to its next lines, such as 'The end of its console:', says
/// nothing without them.
pub fn in_a_line(error: &str) -> String {
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("no reason given");
    let line = match (first.strip_suffix(':'), first.rsplit_once(". "), lines.next()) {
        (Some(_), Some((said, _)), _) => said.to_owned(),
        (Some(_), None, Some(next)) => format!("{first} {next}"),
        (Some(said), None, None) => said.to_owned(),
        (None, ..) => first.to_owned(),
    };
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// All that audits may look at.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub study: &'a Study,
    pub info: &'a RunInfo,
    pub groups: &'a [Group],
    /// One list per group, one detail per observation.
    pub details: &'a [Vec<Detail>],
    /// The finished cells, by their numbers.
    pub cells: &'a [CellFacts],
    /// The others.
    pub unfinished: &'a [Unfinished],
}

/// Groups of one figure: the same workload, step and direction on several stacks.
#[derive(Debug)]
pub(crate) struct Suspects<'a> {
    /// Name of the figure, such as `dd-4k` or `copy:cp`.
    pub figure: String,
    /// The groups with what the audit measured of each.
    pub found: Vec<(usize, &'a Group, f64)>,
}

impl Suspects<'_> {
    /// Indices of the groups.
    pub fn groups(&self) -> Vec<usize> {
        self.found.iter().map(|(index, ..)| *index).collect()
    }

    /// The stacks, at most six by name.
    pub fn stacks(&self) -> String {
        disklab_units::list(
            self.found.iter().map(|(_, group, _)| group.key.levels.stack.as_str()),
            6,
        )
    }

    /// Smallest and largest of what the audit measured.
    pub fn range(&self) -> (f64, f64) {
        self.found.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (.., value)| {
            (low.min(*value), high.max(*value))
        })
    }
}

impl<'a> Evidence<'a> {
    /// The stack of a group as the study has it.
    pub fn stack(&self, group: &Group) -> Option<&'a StackSpec> {
        self.study.stacks.iter().find(|s| s.id == group.key.levels.stack)
    }

    /// The workload of a group as the study has it.
    pub fn workload(&self, group: &Group) -> Option<&'a WorkloadSpec> {
        self.study.workloads.iter().find(|w| w.id == group.key.levels.workload)
    }

    /// The cell of an observation.
    pub fn cell(&self, number: u32) -> Option<&'a CellFacts> {
        let index = self.cells.binary_search_by_key(&number, |cell| cell.number).ok()?;
        self.cells.get(index)
    }

    pub fn cells_of(&self, group: &Group) -> Vec<&'a CellFacts> {
        group.observations.iter().filter_map(|o| self.cell(o.cell)).collect()
    }

    /// Whether drives and time are modelled.
    pub fn is_lab(&self) -> bool {
        self.info.is_lab()
    }

    /// Whether drives and time are modelled, and CPU time is free.
    pub fn computes_in_no_time(&self) -> bool {
        self.is_lab() && !self.info.charges_processor(self.study.processor.is_some())
    }

    /// Whether another program measured the figures.
    pub fn is_import(&self) -> bool {
        self.info.is_import()
    }

    /// Groups in which `measure` finds something, figure by figure in the
    /// study's order, so that one finding stands for all stacks it concerns.
    pub fn suspects(
        &self,
        mut measure: impl FnMut(usize, &'a Group) -> Option<f64>,
    ) -> Vec<Suspects<'a>> {
        let mut all: Vec<Suspects<'a>> = Vec::new();
        let mut keys = Vec::new();
        for (index, group) in self.groups.iter().enumerate() {
            let Some(value) = measure(index, group) else { continue };
            let key = (&group.key.levels.workload, &group.key.step, group.key.direction);
            let place = keys.iter().position(|k| *k == key).unwrap_or_else(|| {
                keys.push(key);
                all.push(Suspects {
                    figure: figure_id(self.groups, &group.key),
                    found: Vec::new(),
                });
                all.len() - 1
            });
            all[place].found.push((index, group, value));
        }
        all
    }
}

/// What all observations' drives moved, as a share of what was asked for; none
/// where nothing was asked for or no drive was watched.
pub(crate) fn drive_share(group: &Group, moved: fn(&Observation) -> u64) -> Option<f64> {
    if group.observations.iter().any(|o| o.drives.is_empty()) {
        return None;
    }
    let asked: f64 = group.observations.iter().map(|o| o.bytes as f64).sum();
    let moved: f64 = group.observations.iter().map(|o| moved(o) as f64).sum();
    (asked > 0.0).then(|| moved / asked)
}
