//! Two runs against each other: what became faster, slower, stayed the same, or is open.
//!
//! The runs are independent of each other: nothing is paired, and whatever else changed
//! between them is in the ratios too. So a caller tells the differences of the two
//! environments first.

mod compared_run;
mod matching;
#[cfg(test)]
mod tests;
mod words;

use disklab_audits::{CORRELATED_REPEATS, Finding, SuspectGroups, describe};
use disklab_comparisons::{Change, InconclusiveReason, JudgedFigure, Manner, Values, judge};
use disklab_sample::OperationKind;
use disklab_stats::{Estimate, Interval, estimate};
use disklab_study::Measure;

pub use compared_run::ComparedRun;
use matching::{Matched, Renamed, matched, missing, unmatched};
pub use matching::{Missing, Unmatched};

/// How two runs are to be compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparisonTerms {
    /// What is within 1 ± this counts as the same, as a share: 0.05 is 5 %. More than 0.
    pub margin: f64,
    /// Stacks and workloads that have another name in B: (A's, B's).
    pub renamed: Vec<(String, String)>,
    /// Audits whose severe findings are known, and make nothing suspect here.
    pub accepted: Vec<String>,
    /// Do not work out how many repeats an open figure needs, which takes a fraction of a
    /// second each: what is inconclusive counts as measured too rarely then.
    pub unplanned: bool,
}

/// What the comparison of two runs says.
#[derive(Debug, Clone, PartialEq)]
pub struct Versus {
    /// The margin asked for.
    pub margin: f64,
    /// Whether both runs are of the lab, where nothing but the seed is chance.
    pub lab: bool,
    /// Whether repeats are paired: both sides are levels of one run, or runs of the lab with one seed,
    /// whose blocks have the same drives and the same work.
    pub paired: bool,
    /// Every figure that both have, in the order of B's questions.
    pub pairs: Vec<Pair>,
    /// What both should have, and one of them did not finish.
    pub missing: Vec<Missing>,
    /// What has no counterpart.
    pub unmatched: Unmatched,
}

/// One figure in both runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The question of B that it belongs to, by index of the analysis' answers.
    pub answer: usize,
    /// The question's words.
    pub question: String,
    /// The stack, by its name in B.
    pub stack: String,
    /// The workload's id in B.
    pub workload: String,
    /// The step's name in B.
    pub step: String,
    /// The kind of work, such as `read`.
    pub direction: &'static str,
    /// The figure in words: '4 KiB synchronous writes (dd-4k)'.
    pub noun: String,
    /// What was compared.
    pub measure: Measure,
    /// The unit of operations per second, the same in both runs.
    pub operation: OperationKind,
    /// The group of A, by index.
    pub group_a: usize,
    /// The group of B, by index.
    pub group_b: usize,
    /// The figure in A.
    pub a: Estimate,
    /// The figure in B.
    pub b: Estimate,
    /// B ÷ A; none where a side has no ratio, such as counts of which some are 0.
    pub ratio: Option<f64>,
    /// Its 95 % interval; none for one repeat.
    pub interval: Option<Interval>,
    /// Probability of such values where the ratio lies within the margin, Holm-corrected
    /// over all figures of both runs.
    pub p: Option<f64>,
    /// What may be said.
    pub change: Change,
}

/// What all comparisons together amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunVerdict {
    /// Nothing is slower: all is faster, the same or identical.
    Fine,
    /// Something is slower.
    Regression,
    /// Nothing is known to be slower, and something is open that more repeats hardly
    /// decide: too noisy, on the edge, suspect.
    TooNoisy,
    /// Nothing is known to be slower, and something is open that more repeats decide.
    TooFew,
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersusError {
    /// No figure of one is in the other.
    #[error(
        "the two runs have no figure in common: A has {a}, B has {b}; name what was renamed by --map OLD=NEW"
    )]
    NothingInCommon {
        /// Some of A's stacks and workloads.
        a: String,
        /// Some of B's.
        b: String,
    },
    /// No cell of a run has finished.
    #[error(
        "in {run}, no cell has finished: there is nothing to compare; `disklab report` says why"
    )]
    NothingMeasured {
        /// Which: `A`, `B` or `both runs`.
        run: &'static str,
    },
    /// A renamed stack or workload does not exist.
    #[error("--map {old}={new}: {run} has neither a stack nor a workload '{name}'; it has {known}")]
    UnknownName {
        /// A's name.
        old: String,
        /// B's name.
        new: String,
        /// The run that lacks it.
        run: char,
        /// What it lacks.
        name: String,
        /// What it has instead.
        known: String,
    },
}

impl Versus {
    /// Compares B with A.
    ///
    /// # Errors
    /// Where they have nothing in common, or a name that is mapped does not exist.
    pub fn of(
        a: &ComparedRun<'_>,
        b: &ComparedRun<'_>,
        terms: &ComparisonTerms,
    ) -> Result<Self, VersusError> {
        check_names(a, b, &terms.renamed)?;
        let renamed = Renamed(&terms.renamed);
        let matched = matched(a, b, &renamed);
        let missing = missing(a, b, &renamed);
        if matched.is_empty() && missing.is_empty() {
            let empty = |side: &ComparedRun<'_>| side.analysis.groups.is_empty();
            match (empty(a), empty(b)) {
                (true, true) => return Err(VersusError::NothingMeasured { run: "both runs" }),
                (true, false) => return Err(VersusError::NothingMeasured { run: "A" }),
                (false, true) => return Err(VersusError::NothingMeasured { run: "B" }),
                (false, false) => {}
            }
            return Err(VersusError::NothingInCommon { a: contents(a), b: contents(b) });
        }
        let lab = a.info.is_lab() && b.info.is_lab();
        let paired = a.is_of_one_run_with(b) || lab && a.info.seed == b.info.seed;
        let accepted = |findings: &[Finding]| -> Vec<Finding> {
            let known = |f: &&Finding| !terms.accepted.iter().any(|name| name == f.audit);
            findings.iter().filter(known).cloned().collect()
        };
        let (found_a, found_b) = (accepted(&a.analysis.findings), accepted(&b.analysis.findings));
        let suspicions = (SuspectGroups::of(&found_a), SuspectGroups::of(&found_b));
        let values: Vec<Values> =
            matched.iter().map(|m| values((a, b), &suspicions, m, paired)).collect();
        let judged =
            judge(&values, Manner { margin: terms.margin, lab, planned: !terms.unplanned });
        let pairs = matched
            .iter()
            .zip(&values)
            .zip(judged)
            .filter_map(|((m, values), judged)| pair(b, m, values, judged))
            .collect();
        let unmatched = unmatched(a, b, &renamed, &matched);
        Ok(Self { margin: terms.margin, lab, paired, pairs, missing, unmatched })
    }

    /// What all comparisons together amount to.
    pub fn verdict(&self) -> RunVerdict {
        let any = |wanted: fn(&Change) -> bool| self.pairs.iter().any(|p| wanted(&p.change));
        if any(|c| *c == Change::Slower) {
            RunVerdict::Regression
        } else if any(
            |c| matches!(c, Change::Inconclusive(why) if !matches!(why, InconclusiveReason::TooFew { .. })),
        ) {
            RunVerdict::TooNoisy
        } else if !self.missing.is_empty() || any(|c| matches!(c, Change::Inconclusive(_))) {
            RunVerdict::TooFew
        } else {
            RunVerdict::Fine
        }
    }
}

fn values(
    (a, b): (&ComparedRun<'_>, &ComparedRun<'_>),
    suspicions: &(SuspectGroups<'_>, SuspectGroups<'_>),
    matched: &Matched<'_>,
    paired: bool,
) -> Values {
    let [group_a, group_b] = [&a.analysis.groups[matched.a], &b.analysis.groups[matched.b.group]];
    let (mut about, mut correlated) = (Vec::new(), Vec::new());
    for (suspicions, group, run) in
        [(&suspicions.0, matched.a, 'A'), (&suspicions.1, matched.b.group, 'B')]
    {
        let audits = suspicions.about(&[group]).into_iter();
        about.extend(audits.map(|audit| format!("{audit} in {run}")));
        // Neighbours that resemble each other do so in both sides of a pair.
        if !paired && suspicions.has_correlated_repeats(group) {
            correlated.push(format!("{CORRELATED_REPEATS} in {run}"));
        }
    }
    Values {
        measure: matched.measure,
        a: group_a.values(matched.measure).collect(),
        b: group_b.values(matched.measure).collect(),
        pairs: paired.then(|| group_a.in_blocks_with(group_b, matched.measure)),
        suspicions: about,
        correlated,
    }
}

fn pair(
    b: &ComparedRun<'_>,
    matched: &Matched<'_>,
    values: &Values,
    judged: JudgedFigure,
) -> Option<Pair> {
    let groups = &b.analysis.groups;
    let key = &groups[matched.b.group].key;
    let ratio = judged.ratio;
    Some(Pair {
        answer: matched.answer,
        question: b.analysis.answers[matched.answer].question.ask.clone(),
        stack: key.levels.stack.clone(),
        workload: key.levels.workload.clone(),
        step: key.step.clone(),
        direction: key.direction.word(),
        noun: describe(b.study, groups, key).full(),
        measure: matched.measure,
        operation: groups[matched.b.group].operation,
        group_a: matched.a,
        group_b: matched.b.group,
        a: estimate(&values.a)?,
        b: estimate(&values.b)?,
        ratio: ratio.map(|r| r.centre),
        interval: ratio.and_then(|r| r.interval),
        p: judged.p,
        change: judged.change,
    })
}

/// All names of stacks and workloads of a run.
fn names<'a>(side: &ComparedRun<'a>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    let stacks = side.cells.iter().map(|c| c.cell.levels.stack.as_str());
    for name in stacks.chain(side.cells.iter().map(|c| c.cell.levels.workload.as_str())) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// So many names are told.
const NAMES: usize = 6;

fn contents(side: &ComparedRun<'_>) -> String {
    match disklab_units::list(names(side), NAMES) {
        none if none.is_empty() => "no cells".to_owned(),
        some => some,
    }
}

fn check_names(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
    renamed: &[(String, String)],
) -> Result<(), VersusError> {
    for (old, new) in renamed {
        for (side, name, run) in [(a, old, 'A'), (b, new, 'B')] {
            if !names(side).contains(&name.as_str()) {
                return Err(VersusError::UnknownName {
                    old: old.clone(),
                    new: new.clone(),
                    run,
                    name: name.clone(),
                    known: contents(side),
                });
            }
        }
    }
    Ok(())
}
