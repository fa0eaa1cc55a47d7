//! The chances of each stack of a study: what a run measured, with what none can measure.

use disklab_risk::{
    DEFAULT_REPLACEMENT, FailureRate, Hazards, LossChance, UNREADABLE, Uncertain, usual_formula,
};
use disklab_study::{PlannedStack, Study};

use super::DriveAtRisk;

/// The same for all stacks, so that none has more luck than another.
const SEED: u64 = 1;
/// Stacks with more parts take too long to simulate: 128 drives in pairs have 193. A run may be a
/// stranger's.
const MOST_PARTS: usize = 1000;

/// What is asked, and values in the place of published ones.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskTerms {
    /// For how long.
    pub years: f64,
    /// Failures a year of one drive.
    pub failures: Option<f64>,
    /// Bits read for one that cannot be.
    pub bits_per_unreadable: Option<f64>,
    /// Hours until a failed drive is replaced.
    pub replaced_after: Option<f64>,
    /// Hours of a rebuild.
    pub rebuild: Option<f64>,
    /// Drives that stand by.
    pub spares: u32,
    /// What share of the space is used.
    pub used: f64,
}

impl Default for RiskTerms {
    fn default() -> Self {
        Self {
            years: 5.0,
            failures: None,
            bits_per_unreadable: None,
            replaced_after: None,
            rebuild: None,
            spares: 0,
            used: 0.5,
        }
    }
}

/// Where the hours of a rebuild come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebuildSource {
    /// A run measured them.
    Measured,
    /// One pass over what the slowest drive has to copy: it cannot be less.
    OnePass,
    /// The user says so.
    ByUser,
}

/// What may happen to one stack.
#[derive(Debug, Clone, PartialEq)]
pub struct StackRisk {
    /// The stack's id.
    pub stack: String,
    /// How many drives its data are on.
    pub drives: usize,
    /// How many may fail, whichever they are.
    pub tolerates: u32,
    /// Hours from a failure until it is redundant again; none if it never is.
    pub exposed: Option<Uncertain>,
    /// Hours of the rebuild alone.
    pub rebuild: Uncertain,
    /// Where these come from.
    pub source: RebuildSource,
    /// The chances.
    pub chance: LossChance,
    /// What calculators say of the same drives and hours.
    pub formula: f64,
}

/// What may be lost, of all stacks of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskTable {
    /// What was asked.
    pub terms: RiskTerms,
    /// The models of the drives, each once.
    pub models: Vec<String>,
    /// Hours until a drive is replaced, if no spare stands by.
    pub replaced_after: Uncertain,
    /// Bits read for one that cannot be.
    pub bits_per_unreadable: Uncertain,
    /// The stacks, in the study's order.
    pub stacks: Vec<StackRisk>,
    /// Stacks of which nothing can be said, and why.
    pub left_out: Vec<(String, &'static str)>,
}

impl RiskTable {
    /// Of the stacks of a study whose drives are modelled, before anything was measured.
    pub fn of_study(stacks: &[PlannedStack], study: &Study, terms: RiskTerms) -> Self {
        let drives: Vec<DriveAtRisk> = study.drives.iter().map(DriveAtRisk::modelled).collect();
        Self::new(stacks, &drives, &|_| None, terms)
    }

    /// Of these stacks. `measured` has the hours of a rebuild, if a run has them.
    pub fn new(
        stacks: &[PlannedStack],
        drives: &[DriveAtRisk],
        measured: &dyn Fn(&str) -> Option<Uncertain>,
        terms: RiskTerms,
    ) -> Self {
        let exact = |given: Option<f64>, else_: Uncertain| given.map_or(else_, Uncertain::exact);
        let mut models: Vec<String> = drives.iter().map(|drive| drive.model.clone()).collect();
        models.sort_unstable();
        models.dedup();
        let mut table = Self {
            models,
            replaced_after: exact(terms.replaced_after, DEFAULT_REPLACEMENT),
            bits_per_unreadable: exact(terms.bits_per_unreadable, UNREADABLE),
            terms,
            stacks: Vec::new(),
            left_out: Vec::new(),
        };
        // Stacks that differ in their file system alone have the same chances.
        let mut known: Vec<(Hazards, LossChance)> = Vec::new();
        for stack in stacks {
            match table.hazards(stack, drives, measured) {
                Ok((hazards, source)) => {
                    let same = known.iter().find(|(same, _)| *same == hazards);
                    let chance = same.map(|(_, chance)| chance.clone());
                    let chance = chance.unwrap_or_else(|| {
                        let chance = LossChance::new(&hazards, SEED);
                        known.push((hazards.clone(), chance.clone()));
                        chance
                    });
                    table.stacks.push(stack_risk(stack, &hazards, source, chance));
                }
                Err(why) => table.left_out.push((stack.id.clone(), why)),
            }
        }
        table
    }

    fn hazards(
        &self,
        stack: &PlannedStack,
        drives: &[DriveAtRisk],
        measured: &dyn Fn(&str) -> Option<Uncertain>,
    ) -> Result<(Hazards, RebuildSource), &'static str> {
        let tree = stack.loss.clone().ok_or("it is not known which drives lie below it")?;
        if tree.parts_in_all() > MOST_PARTS {
            return Err("it has more than 1000 parts");
        }
        let own = |name: &String| drives.iter().find(|drive| drive.name == *name);
        let own: Vec<&DriveAtRisk> = stack.drives.iter().filter_map(own).collect();
        // One that is left out here would never fail.
        if own.len() < stack.drives.len() {
            return Err("it is not known what all of its drives are");
        }
        let used = tree.copies_only_used().then_some(self.terms.used);
        let passes: Option<Vec<f64>> = own.iter().map(|drive| drive.pass(used)).collect();
        let pass = passes.and_then(|passes| passes.into_iter().reduce(f64::max));
        let (rebuild, source) = match (self.terms.rebuild, measured(&stack.id), pass) {
            (Some(given), _, _) => (Uncertain::exact(given), RebuildSource::ByUser),
            (None, Some(measured), _) => (measured, RebuildSource::Measured),
            (None, None, Some(pass)) => (Uncertain::exact(pass), RebuildSource::OnePass),
            (None, None, None) if tree.tolerates() == 0 => {
                (Uncertain::exact(0.0), RebuildSource::ByUser)
            }
            _ => return Err("the time of a rebuild is not known; give it with --rebuild"),
        };
        let hazards = Hazards {
            tree,
            failures_per_year: self.failures_of(&own),
            replaced_after: self.replaced_after,
            rebuild,
            bits_per_unreadable: self.bits_per_unreadable,
            used: self.terms.used,
            spares: self.terms.spares,
            years: self.terms.years,
        };
        Ok((hazards, source))
    }

    /// Failures a year of one of these drives.
    fn failures_of(&self, drives: &[&DriveAtRisk]) -> Uncertain {
        let of = |drive: &&DriveAtRisk| self.rate_of(&drive.model);
        let rates: Vec<Uncertain> = drives.iter().map(of).collect();
        let mean = |of: fn(&Uncertain) -> f64| {
            rates.iter().map(of).sum::<f64>() / rates.len().max(1) as f64
        };
        Uncertain { value: mean(|r| r.value), low: mean(|r| r.low), high: mean(|r| r.high) }
    }

    pub(super) fn rate_of(&self, model: &str) -> Uncertain {
        let published = || FailureRate::of_model(model).map(|rate| rate.per_year());
        let given = self.terms.failures.map(Uncertain::exact);
        given.or_else(published).unwrap_or_else(FailureRate::of_any_model)
    }
}

fn stack_risk(
    stack: &PlannedStack,
    hazards: &Hazards,
    source: RebuildSource,
    chance: LossChance,
) -> StackRisk {
    let wait = if hazards.spares > 0 { Uncertain::exact(0.0) } else { hazards.replaced_after };
    let sum = |of: fn(&Uncertain) -> f64| of(&wait) + of(&hazards.rebuild);
    let exposed = Uncertain { value: sum(|u| u.value), low: sum(|u| u.low), high: sum(|u| u.high) };
    let per_year = hazards.failures_per_year.value;
    StackRisk {
        stack: stack.id.clone(),
        drives: hazards.tree.drives().len(),
        tolerates: stack.tolerates,
        exposed: (stack.tolerates > 0).then_some(exposed),
        rebuild: hazards.rebuild,
        source,
        chance,
        formula: usual_formula(&hazards.tree, per_year, exposed.value, hazards.years),
    }
}

#[cfg(test)]
mod tests {
    use disklab_cell::LossTree;

    use super::*;

    fn stack(id: &str, tolerates: u32) -> PlannedStack {
        let drives: Vec<String> = (1..=4).map(|n| format!("drive-{n}")).collect();
        let parts = (0..4).map(LossTree::Drive).collect();
        PlannedStack {
            id: id.to_owned(),
            layers: Vec::new(),
            drives,
            capacity: 1,
            tolerates,
            loss: Some(LossTree::parts(tolerates, 10_000_000_000_000, parts)),
            copies: false,
        }
    }

    fn drives(model: &str, pass: Option<f64>) -> Vec<DriveAtRisk> {
        let rates = pass.map(|pass| [1e13 / pass / 3600.0, 2e13 / pass / 3600.0]);
        let drive = |n: u32| DriveAtRisk {
            name: format!("drive-{n}"),
            model: model.into(),
            bytes: 10_000_000_000_000,
            rates,
        };
        (1..=4).map(drive).collect()
    }

    fn table(drives: &[DriveAtRisk], terms: RiskTerms) -> RiskTable {
        let stacks = [stack("raid0/ext4", 0), stack("raid5/ext4", 1), stack("raid6/xfs", 2)];
        let measured = |id: &str| {
            (id == "raid6/xfs").then_some(Uncertain { value: 20.0, low: 19.0, high: 22.0 })
        };
        RiskTable::new(&stacks, drives, &measured, terms)
    }

    #[test]
    fn hours_are_measured_or_given_or_the_least_that_is_possible() {
        let found = table(&drives("st8000nm0055", Some(12.0)), RiskTerms::default());
        let sources: Vec<_> = found.stacks.iter().map(|stack| stack.source).collect();
        let expected = [RebuildSource::OnePass, RebuildSource::OnePass, RebuildSource::Measured];
        assert_eq!(sources, expected);
        assert_eq!(found.stacks[0].exposed, None, "never redundant");
        assert_eq!(found.stacks[1].exposed.expect("hours").value, 84.0);
        assert_eq!(found.stacks[2].exposed.expect("hours").value, 92.0);
        let given = RiskTerms { rebuild: Some(1.0), spares: 1, ..RiskTerms::default() };
        let given = table(&drives("st8000nm0055", None), given);
        assert!(given.stacks[1..].iter().all(|s| s.exposed == Some(Uncertain::exact(1.0))));
        assert!(given.stacks.iter().all(|stack| stack.source == RebuildSource::ByUser));
    }

    #[test]
    fn what_is_not_known_is_left_out_with_a_reason() {
        let mut unknown = stack("dir", 0);
        unknown.loss = None;
        let stacks = [unknown, stack("raid5/ext4", 1), stack("raid0/ext4", 0)];
        let found = RiskTable::new(&stacks, &drives("x", None), &|_| None, RiskTerms::default());
        let left: Vec<_> = found.left_out.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!((left, found.stacks.len()), (vec!["dir", "raid5/ext4"], 1));
        let few = RiskTable::new(
            &stacks[1..],
            &drives("x", Some(9.0))[..3],
            &|_| None,
            RiskTerms::default(),
        );
        let why = "it is not known what all of its drives are";
        assert_eq!(few.left_out.iter().map(|(_, w)| *w).collect::<Vec<_>>(), [why; 2]);
    }

    #[test]
    fn one_pass_is_over_what_is_copied() {
        let mut pool = stack("zfs-raidz1", 1);
        pool.loss = pool.loss.map(LossTree::rebuilt_by_use);
        let drives = drives("x", Some(16.0));
        let found = RiskTable::new(&[pool], &drives, &|_| None, RiskTerms::default());
        // Half of it, where the drive is twice as fast as on the whole.
        let hours = found.stacks[0].exposed.expect("hours").value - DEFAULT_REPLACEMENT.value;
        assert!((hours - 4.0).abs() < 1e-9, "{hours}");
    }

    #[test]
    fn a_strangers_stack_of_countless_parts_is_left_out() {
        let mut huge = stack("huge", 1);
        let part = || LossTree::parts(1, 1, (0..4).map(LossTree::Drive).collect());
        huge.loss = Some(LossTree::parts(0, 1, (0..100_000).map(|_| part()).collect()));
        let found = RiskTable::new(&[huge], &drives("x", None), &|_| None, RiskTerms::default());
        assert_eq!(found.left_out, [("huge".to_owned(), "it has more than 1000 parts")]);
    }

    #[test]
    fn more_parity_is_less_risk_and_the_text_says_all() {
        let found = table(&drives("hdn721010ale604", Some(16.7)), RiskTerms::default());
        let some: Vec<f64> = found.stacks.iter().map(|s| s.chance.some.value).collect();
        assert!(some[0] > some[1] && some[1] > some[2], "{some:?}");
        let text = found.text();
        for part in [
            "raid5/ext4",
            "raid0/ext4",
            "not among them",
            "--replaced-after",
            "not replace a backup",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
