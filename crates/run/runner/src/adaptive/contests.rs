//! From a run's samples to what its questions still need.

use std::collections::{BTreeSet, HashMap};

use disklab_audits::{Group, GroupKey};
use disklab_campaign::{
    Conclusion, Contest, Decision, Exactness, FigureOutcome, Goal, Rules, Stop, decide,
};
use disklab_cell::Levels;
use disklab_comparisons::{Answer, Point, show_figure};
use disklab_decision::Analysis;
use disklab_sample::OperationKind;
use disklab_store::{CellRecord, CellState};
use disklab_study::{Measure, Study, matches};

use super::blocks::Targets;

/// One figure that a question asks for, and what is known of it.
pub(crate) struct ContestState {
    ask: String,
    figure: String,
    workload: String,
    stacks: Vec<String>,
    contest: Contest,
    decision: Decision,
    measure: Measure,
    operation: OperationKind,
    /// What precision was asked for, if any.
    precision: Option<f64>,
}

impl ContestState {
    /// What came of it.
    pub fn outcome(&self, interrupted_by: Stop) -> FigureOutcome {
        let called = (self.ask.as_str(), self.figure.as_str());
        let Self { stacks, contest, decision, .. } = self;
        let mut outcome = FigureOutcome::of(called, stacks, contest, decision, interrupted_by);
        outcome.exactness = self.precision.map(|wanted| {
            let alone = contest.stacks() == 1;
            let figure = decision.ranks.first().and_then(|rank| rank.ratio).filter(|_| alone);
            let shown = figure
                .map(|(centre, i)| show_figure(self.measure, self.operation, centre, Some(i)));
            Exactness::of(wanted, decision, shown)
        });
        outcome
    }

    /// Whether something is not decided.
    pub fn is_open(&self) -> bool {
        matches!(self.decision.conclusion, Conclusion::Inconclusive { open: 1.., .. })
    }

    /// Adds what it still needs.
    fn ask_for(&self, targets: &mut Targets) {
        let Some(next) = &self.decision.next else { return };
        for stack in next.stacks.iter().filter_map(|s| self.stacks.get(*s)) {
            let target = targets.entry(Levels::new(stack, &self.workload)).or_insert(0);
            *target = (*target).max(next.blocks as u32);
        }
    }
}

/// What the samples so far say of each figure, and how many blocks each cell needs. `levels`
/// are all of the campaign. A cell that no question asks about runs up to the first look.
pub(crate) fn look(
    study: &Study,
    levels: &[Levels],
    rules: &Rules,
    records: &[CellRecord],
    analysis: &Analysis,
) -> (Vec<ContestState>, Targets) {
    let carried = carried_out(records);
    let first = rules.looks().first().copied().unwrap_or(1) as u32;
    let precision = match rules.goal {
        Goal::Precision(share) => Some(share),
        Goal::Best | Goal::Rank => None,
    };
    let mut targets: Targets = levels.iter().map(|levels| (levels.clone(), first)).collect();
    let mut all = Vec::new();
    for answer in analysis.answers.iter().filter(|answer| answer.by_study) {
        let same = |a: &Point, b: &Point| {
            a.figure == b.figure
                && a.x == b.x
                && work(&analysis.groups[a.group].key) == work(&analysis.groups[b.group].key)
        };
        for points in answer.points.chunk_by(same) {
            let groups: Vec<&Group> = points.iter().map(|p| &analysis.groups[p.group]).collect();
            let Some(workload) = groups.first().map(|g| g.key.levels.workload.clone()) else {
                continue;
            };
            let stacks = stacks(study, levels, answer, &workload);
            let values = stacks
                .iter()
                .map(|stack| {
                    let group = groups.iter().find(|g| g.key.levels.stack == *stack);
                    let cell = Levels::new(stack, &workload);
                    values(answer, group.copied(), carried.get(&cell).copied().unwrap_or(0))
                })
                .collect();
            let contest = Contest { higher_is_better: answer.measure.higher_is_better(), values };
            let decision = decide(rules, &contest);
            let mut figure = points[0].figure.clone();
            if let Some(x) = &points[0].x {
                figure = format!("{figure} {x}").trim().to_owned();
            }
            let ask = answer.question.ask.clone();
            let measure = answer.measure;
            let known = ContestState {
                ask,
                figure,
                workload,
                stacks,
                contest,
                decision,
                measure,
                operation: answer.operation,
                precision,
            };
            known.ask_for(&mut targets);
            all.push(known);
        }
    }
    (all, targets)
}

fn work(key: &GroupKey) -> impl PartialEq + '_ {
    (&key.levels.workload, &key.step, key.direction, key.part)
}

/// Blocks from the first on that each ran in without a gap, whatever came of them.
pub(super) fn carried_out(records: &[CellRecord]) -> HashMap<&Levels, u32> {
    let mut blocks: HashMap<&Levels, BTreeSet<u32>> = HashMap::new();
    for record in records.iter().filter(|r| r.state != CellState::Waiting) {
        let cell = &record.cell;
        blocks.entry(&cell.levels).or_default().insert(cell.block);
    }
    blocks
        .into_iter()
        .map(|(levels, blocks)| {
            (levels, (0..).zip(&blocks).take_while(|(n, block)| n == *block).count() as u32)
        })
        .collect()
}

/// The stacks that take part, the baseline first: what others' ratios are taken to. All
/// that are planned, whether they have a sample yet or not, so that the number of
/// comparisons stays what it was when the campaign began.
fn stacks(study: &Study, levels: &[Levels], answer: &Answer, workload: &str) -> Vec<String> {
    let question = &answer.question;
    let asked = |stack: &str| {
        question.stacks.is_empty()
            || question.stacks.iter().any(|pattern| matches(pattern, stack))
            || question.baseline.as_deref() == Some(stack)
            || study.stack_index(stack).is_none()
    };
    let taking_part = levels.iter().filter(|l| l.workload == workload && asked(&l.stack));
    let mut stacks: Vec<String> = taking_part.map(|l| l.stack.clone()).collect();
    let wanted = [question.baseline.as_ref(), study.baseline.as_ref()];
    let baseline = wanted.into_iter().flatten().find_map(|id| stacks.iter().position(|s| s == id));
    if let Some(at) = baseline {
        stacks[..=at].rotate_right(1);
    }
    stacks
}

fn values(answer: &Answer, group: Option<&Group>, blocks: u32) -> Vec<Option<f64>> {
    let mut values = vec![None; blocks as usize];
    let Some(group) = group else { return values };
    for observation in &group.observations {
        if let Some(value) = values.get_mut(observation.block as usize) {
            *value = group.floored(observation, answer.measure);
        }
    }
    values
}
