//! The cells that claims need.

use std::collections::BTreeSet;

use disklab_cell::Levels;
use disklab_published::{Catalogue, Row};
use disklab_study::matches;
use disklab_units::count;

use super::error::SensitivityError;
use super::own;
use crate::plan::Plan;

/// The claims about a study that this machine can measure, each with its cells.
pub struct Claims {
    claims: Vec<Claim>,
    /// Whether somebody published them. Those of others are what the run as shipped says.
    pub are_published: bool,
}

struct Claim {
    /// The published row's id.
    row: String,
    cells: BTreeSet<Levels>,
    /// The study's drives that its stacks are built on, by index.
    drives: BTreeSet<usize>,
}

impl Claims {
    /// Those that were published about the study, are counted, and whose cells are all among the
    /// plan's. Of a study about which nothing was published, what its run will say of each
    /// workload's stacks.
    pub fn of(catalogue: &Catalogue, plan: &Plan) -> Result<Self, SensitivityError> {
        let study = &plan.campaign.study;
        if !catalogue.knows(&study.id) {
            return Self::own(plan);
        }
        let mut claims = Vec::new();
        for row in catalogue.rows_of(&study.id).filter(|r| r.value.is_some() && !r.cpu_bound) {
            let mut claim =
                Claim { row: row.id.clone(), cells: BTreeSet::new(), drives: BTreeSet::new() };
            let has_all =
                [Some(&row.subject), row.baseline.as_ref()].into_iter().flatten().all(|stack| {
                    let Ok(target) = catalogue.target(row, stack) else { return false };
                    let stack = target.stack.as_ref().unwrap_or(stack);
                    let cells = plan.preflight.levels.iter();
                    let before = claim.cells.len();
                    let is_of =
                        |l: &&Levels| l.stack == *stack && matches(&target.workload, &l.workload);
                    claim.cells.extend(cells.filter(is_of).cloned());
                    let index = study.stack_index(stack);
                    claim.drives.extend(index.iter().flat_map(|i| &study.stacks[*i].drives));
                    // Both sides of a ratio may be of one cell.
                    claim.cells.len() > before || claim.cells.iter().any(|l| l.stack == *stack)
                });
            if has_all {
                claims.push(claim);
            }
        }
        if claims.is_empty() {
            return Err(SensitivityError::NoClaimLeft);
        }
        Ok(Self { claims, are_published: true })
    }

    /// A ratio needs the cells of both stacks, and any may be compared with any.
    fn own(plan: &Plan) -> Result<Self, SensitivityError> {
        let study = &plan.campaign.study;
        let workloads: BTreeSet<&String> =
            plan.preflight.levels.iter().map(|l| &l.workload).collect();
        let claims: Vec<Claim> = workloads
            .into_iter()
            .map(|workload| {
                let cells = plan.preflight.levels.iter().filter(|l| l.workload == *workload);
                let cells: BTreeSet<Levels> = cells.cloned().collect();
                let stacks = cells.iter().filter_map(|l| study.stack_index(&l.stack));
                let drives = stacks.flat_map(|i| study.stacks[i].drives.clone()).collect();
                Claim { row: workload.clone(), cells, drives }
            })
            .filter(|claim| claim.cells.len() > 1)
            .collect();
        if claims.is_empty() {
            return Err(SensitivityError::NothingToCompare { study: study.id.to_string() });
        }
        Ok(Self { claims, are_published: false })
    }

    /// What they are, in words.
    pub fn about(&self, cells: &BTreeSet<Levels>) -> String {
        let n = self.claims.iter().filter(|claim| claim.cells.is_subset(cells)).count();
        if self.are_published {
            return format!("{n} published");
        }
        format!("what the run as shipped says of the stacks in {}", count(n, "workload"))
    }

    /// The cells of the claims of these rows.
    pub fn cells_of(&self, rows: &[&Row]) -> BTreeSet<Levels> {
        if self.are_published {
            let chosen = self.claims.iter().filter(|c| rows.iter().any(|row| row.id == c.row));
            return chosen.flat_map(|claim| claim.cells.clone()).collect();
        }
        let is_asked = |Levels { stack, workload, .. }: &Levels| {
            rows.iter().any(|row| {
                let is_side = row.subject == *stack || row.baseline.as_ref() == Some(stack);
                is_side && own::is_of(&row.workload, workload)
            })
        };
        let all = self.claims.iter().flat_map(|claim| &claim.cells);
        all.filter(|levels| is_asked(levels)).cloned().collect()
    }

    /// The cells of those that depend on drives of this model; `models` are those of
    /// the study's drives.
    pub fn cells(&self, models: &[disklab_drive::DriveFile], drive: &str) -> BTreeSet<Levels> {
        let hangs = |claim: &&Claim| {
            claim.drives.iter().any(|index| models.get(*index).is_some_and(|m| m.id == drive))
        };
        self.claims.iter().filter(hangs).flat_map(|claim| claim.cells.clone()).collect()
    }
}
