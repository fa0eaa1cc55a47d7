//! The cells that published claims need.

use std::collections::BTreeSet;

use disklab_published::Catalogue;
use disklab_study::matches;

use crate::commands::run::Pairs;
use crate::exit::Failure;
use crate::setup::Setup;

/// The claims about a study that this machine can measure, each with its cells.
pub struct Claims {
    claims: Vec<Claim>,
}

struct Claim {
    /// The published row's id.
    row: String,
    pairs: Pairs,
    /// The study's drives that its stacks stand on, by index.
    drives: BTreeSet<usize>,
}

impl Claims {
    /// Those that are counted, and whose cells are all among the setup's.
    pub fn of(catalogue: &Catalogue, setup: &Setup) -> Result<Self, Failure> {
        let study = &setup.campaign.study;
        if !catalogue.knows(&study.id) {
            return Err(Failure::wrong_use(format!(
                "nothing was published about '{}'; `disklab list studies` shows the studies, and \
                 those whose names end in a year, and btrfs-raid1, were",
                study.id
            )));
        }
        let mut claims = Vec::new();
        for row in catalogue.rows_of(&study.id).filter(|r| r.value.is_some() && !r.cpu_bound) {
            let mut claim =
                Claim { row: row.id.clone(), pairs: Pairs::new(), drives: BTreeSet::new() };
            let has_all =
                [Some(&row.subject), row.baseline.as_ref()].into_iter().flatten().all(|stack| {
                    let Ok(target) = catalogue.target(row, stack) else { return false };
                    let stack = target.stack.as_ref().unwrap_or(stack);
                    let cells = setup.survey.pairs.iter();
                    let before = claim.pairs.len();
                    claim.pairs.extend(
                        cells.filter(|(s, w)| s == stack && matches(&target.workload, w)).cloned(),
                    );
                    let index = study.stack_index(stack);
                    claim.drives.extend(index.iter().flat_map(|i| &study.stacks[*i].drives));
                    // Both sides of a ratio may be of one cell.
                    claim.pairs.len() > before || claim.pairs.iter().any(|(s, _)| s == stack)
                });
            if has_all {
                claims.push(claim);
            }
        }
        if claims.is_empty() {
            return Err(Failure::wrong_use(
                "none of the published claims can be measured here: --only and --without leave \
                 no claim's cells",
            ));
        }
        Ok(Self { claims })
    }

    /// How many of them have all their cells among these.
    pub fn among(&self, pairs: &Pairs) -> usize {
        self.claims.iter().filter(|claim| claim.pairs.is_subset(pairs)).count()
    }

    /// The cells of the claims of these rows.
    pub fn pairs_of(&self, rows: &BTreeSet<&str>) -> Pairs {
        let chosen = self.claims.iter().filter(|claim| rows.contains(claim.row.as_str()));
        chosen.flat_map(|claim| claim.pairs.clone()).collect()
    }

    /// The cells of those that hang on drives of this model; `models` are those of
    /// the study's drives.
    pub fn pairs(&self, models: &[disklab_drive::DriveFile], drive: &str) -> Pairs {
        let hangs = |claim: &&Claim| {
            claim.drives.iter().any(|index| models.get(*index).is_some_and(|m| m.id == drive))
        };
        self.claims.iter().filter(hangs).flat_map(|claim| claim.pairs.clone()).collect()
    }
}
