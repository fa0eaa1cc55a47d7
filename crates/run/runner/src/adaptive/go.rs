//! Carries a campaign out, block by block.

use std::time::Instant;

use disklab_bench::CellExecutor;
use disklab_campaign::{CampaignOutcome, Stop};
use disklab_cell::{Cell, Levels};
use disklab_decision::Analyser;
use disklab_store::{CellRecord, CellState, Run};

use super::blocks::Targets;
use super::{
    ContestState, LookRule, StopRule, block_seconds, look, next_cells, purposes, used_seconds,
};
use crate::observer::{CampaignProgress, CellForecast, NextLook, Observer, UpcomingCells};
use crate::recorder::{Answers, analyser_so_far, run_recorded};
use crate::{Plan, RunEstimate, RunnerError};

/// Runs until nothing more is needed or permitted, and keeps what came of it. Returns how
/// many cells failed.
///
/// # Errors
/// As [`CellExecutor::next`], and if the run cannot be read or written.
pub(crate) fn go(
    plan: &Plan,
    rule: &StopRule,
    bench: &mut dyn CellExecutor,
    run: &mut Run,
    observer: &mut dyn Observer,
) -> Result<usize, RunnerError> {
    let began = Instant::now();
    let records = run.cells().map_err(RunnerError::Record)?;
    let before = used_seconds(&run.sessions().map_err(RunnerError::Record)?, &records);
    let estimate = RunEstimate::new(plan);
    let forecast = |cell: &Cell| CellForecast {
        workload: cell.levels.workload.clone(),
        seconds: estimate.seconds(cell),
    };
    let at_once = plan.bench.at_once;
    let all = plan.order(rule.most_blocks());
    let mut failed = 0;
    // Reads the samples once: each block adds its own.
    let mut analyser = analyser_so_far(plan, run)?;
    let (looked, stopped_by) = loop {
        let records = run.cells().map_err(RunnerError::Record)?;
        let looked = needed(plan, &analyser, rule, &records);
        let (cells, is_new) = next(&looked.targets, &all, &records, rule);
        if cells.is_empty() {
            break (looked, Stop::MostBlocks);
        }
        let used = before + began.elapsed().as_secs_f64();
        if let (Some(budget), true) = (rule.budget, is_new) {
            let block = block_seconds(&cells, &records, |cell| estimate.seconds(cell), at_once);
            if used + block > budget.as_secs_f64() {
                break (looked, Stop::Budget);
            }
        }
        if is_new {
            run.append(&cells).map_err(RunnerError::Record)?;
        }
        let records = run.cells().map_err(RunnerError::Record)?;
        let next: Vec<_> = cells.iter().map(forecast).collect();
        let then: Vec<_> =
            next_cells(&looked.targets, &all, &records, true).iter().map(forecast).collect();
        let is_first = records.iter().all(|record| record.cell.block < rule.first_look());
        let upcoming = UpcomingCells {
            next: &next,
            at_once,
            recorded: &records,
            campaign: Some(CampaignProgress {
                look: rule.looks_for.as_ref().map(|_| NextLook { is_first, then: &then }),
                limit: rule.budget.map(|budget| budget.as_secs_f64() - used),
            }),
        };
        let answers = Some(Answers::new(&plan.campaign.study, &mut analyser, &cells));
        let mut plans = estimate.compiled(&cells);
        failed += run_recorded(&mut plans, bench, run, answers, &upcoming, observer)?;
    };
    keep(plan, run, rule, &looked, stopped_by)?;
    Ok(failed)
}

/// The cells of the next look, of a run all of whose cells have ended; if it needs none, keeps what
/// came of it.
///
/// # Errors
/// If the run cannot be read or written.
pub(crate) fn cells_of_next_look(
    plan: &Plan,
    rule: &StopRule,
    run: &Run,
) -> Result<Vec<Cell>, RunnerError> {
    let records = run.cells().map_err(RunnerError::Record)?;
    let looked = needed(plan, &analyser_so_far(plan, run)?, rule, &records);
    let cells = next_cells(&looked.targets, &plan.order(rule.most_blocks()), &records, true);
    if cells.is_empty() {
        keep(plan, run, rule, &looked, Stop::MostBlocks)?;
    }
    Ok(cells)
}

/// The cells that come next, and whether the run does not have them yet.
fn next(
    targets: &Targets,
    all: &[Cell],
    records: &[CellRecord],
    rule: &StopRule,
) -> (Vec<Cell>, bool) {
    let waiting = records.iter().filter(|r| r.state == CellState::Waiting);
    let waiting: Vec<Cell> = waiting.map(|r| r.cell.clone()).collect();
    // What was begun is ended, also by another start of the program.
    if !waiting.is_empty() {
        return (waiting, false);
    }
    let block = next_cells(targets, all, records, false);
    // A purpose is judged by all samples that there are: from the first look on, only where a
    // look is due.
    let is_looked_at = block.first().is_some_and(|cell| cell.block >= rule.first_look());
    let by_look = is_looked_at && matches!(rule.looks_for, Some(LookRule::Purposes { .. }));
    let whole = by_look || rule.budget.is_none();
    (if whole { next_cells(targets, all, records, true) } else { block }, true)
}

/// What the samples so far say.
struct Looked {
    /// Each figure, where figures are looked at.
    contests: Vec<ContestState>,
    /// How many blocks each cell is needed in.
    targets: Targets,
    /// Whether something that was asked for is not decided.
    is_open: bool,
    /// What was asked for, in words.
    goal: String,
}

/// What the samples say, and what is needed next.
fn needed(plan: &Plan, analyser: &Analyser, rule: &StopRule, records: &[CellRecord]) -> Looked {
    let levels = &plan.preflight.levels;
    let Some(looks_for) = &rule.looks_for else {
        let most = rule.most_blocks();
        let targets = levels.iter().map(|levels| (levels.clone(), most)).collect();
        return Looked { contests: Vec::new(), targets, is_open: true, goal: rule.goal() };
    };
    // Decided is by the figures at the first levels of further axes; the others run as often.
    let ordinary = plan.campaign.study.axes.ordinary();
    let plain = |levels: &Levels| Levels::new(&levels.stack, &levels.workload);
    let is_ordinary = |levels: &Levels| levels.further == ordinary;
    let compared: Vec<Levels> = levels.iter().filter(|l| is_ordinary(l)).map(plain).collect();
    let of_compared = records.iter().filter(|record| is_ordinary(&record.cell.levels));
    let of_compared: Vec<CellRecord> = of_compared
        .map(|record| {
            let cell = Cell { levels: plain(&record.cell.levels), ..record.cell.clone() };
            CellRecord { cell, ..record.clone() }
        })
        .collect();
    let so_far = analyser.so_far(records);
    let mut goal = rule.goal();
    let (contests, targets, is_open) = match looks_for {
        LookRule::Figures(rules) => {
            let (contests, targets) =
                look(&plan.campaign.study, &compared, rules, &of_compared, &so_far);
            let is_open = contests.iter().any(ContestState::is_open);
            (contests, targets, is_open)
        }
        LookRule::Purposes { .. } => {
            if !purposes::are_shown(&so_far) {
                goal.push_str(", none of which these workloads show");
            }
            let (targets, is_open) =
                purposes::look(&compared, &looks_for.looks(), &of_compared, &so_far);
            (Vec::new(), targets, is_open)
        }
    };
    let target = |levels: &Levels| Some((levels.clone(), *targets.get(&plain(levels))?));
    Looked { contests, targets: levels.iter().filter_map(target).collect(), is_open, goal }
}

/// Keeps what came of the campaign with the run.
fn keep(
    plan: &Plan,
    run: &Run,
    rule: &StopRule,
    looked: &Looked,
    stopped_by: Stop,
) -> Result<(), RunnerError> {
    let records = run.cells().map_err(RunnerError::Record)?;
    let figures = looked.contests.iter().map(|contest| contest.outcome(stopped_by)).collect();
    let stopped = match stopped_by {
        Stop::MostBlocks if !looked.is_open => Stop::Decided,
        stop => stop,
    };
    let outcome = CampaignOutcome {
        goal: looked.goal.clone(),
        stopped,
        cells: records.iter().filter(|r| r.state != CellState::Waiting).count(),
        most_cells: plan.preflight.levels.len() * rule.most_blocks() as usize,
        blocks: records.iter().map(|r| r.cell.block as usize + 1).max().unwrap_or(0),
        figures,
    };
    let json = serde_json::to_string(&outcome).map_err(RunnerError::Outcome)?;
    run.keep_outcome(&json).map_err(RunnerError::Record)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use disklab_cell::{SeedSharing, order};

    use super::*;
    use crate::adaptive::blocks::tests::done as recorded;

    /// A short budget gives some blocks, and no purpose is judged between two looks.
    #[test]
    fn purposes_run_by_blocks_to_the_first_look_and_by_looks_after_it() {
        let levels = ["a", "b"].map(|stack| Levels::new(stack, "w"));
        let all = order(&levels, 8, 1, SeedSharing::Shared);
        let rule = StopRule {
            looks_for: Some(LookRule::Purposes { most_blocks: 8 }),
            budget: Some(Duration::from_secs(60)),
        };
        let blocks = |done: usize, target: u32| {
            let records = recorded(&all[..2 * done]);
            let targets: Targets = levels.iter().map(|l| (l.clone(), target)).collect();
            let (cells, is_new) = next(&targets, &all, &records, &rule);
            assert!(is_new);
            cells.iter().map(|cell| cell.block).collect::<Vec<_>>()
        };
        assert_eq!(blocks(0, 3), [0, 0]);
        assert_eq!(blocks(2, 3), [2, 2]);
        assert_eq!(blocks(6, 8), [6, 6, 7, 7]);
    }
}
