//! Carries a campaign out, block by block.

use std::time::Instant;

use disklab_bench::BenchError;
use disklab_campaign::{Outcome, Stop};
use disklab_store::{CellRecord, CellState, Run};
use disklab_study::Cell;
use disklab_verdict::analyse;

use super::blocks::Targets;
use super::{HowLong, Known, block_seconds, look, next_cells, upper_bound, used_seconds};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::setup::Setup;

/// Runs until nothing more is needed or permitted, and keeps what came of it. Returns how
/// many cells failed.
///
/// # Errors
/// As [`disklab_bench::Bench::carry_out`], and where the run cannot be read or written.
pub fn go(setup: &mut Setup, run: &mut Run, how: &HowLong) -> Result<usize, BenchError> {
    let began = Instant::now();
    let before = used_seconds(&run.sessions().map_err(other)?, &run.cells().map_err(other)?);
    let all = setup.order(how.most_blocks());
    let mut failed = 0;
    let (known, stopped_by) = loop {
        let records = run.cells().map_err(other)?;
        let waiting: Vec<Cell> = records
            .iter()
            .filter(|r| r.state == CellState::Waiting)
            .map(|r| r.cell.clone())
            .collect();
        let (known, targets) = needed(setup, run, how, &records)?;
        // What was begun is ended, also by another start of the program.
        let (cells, is_new) = if waiting.is_empty() {
            (next_cells(&targets, &all, &records, how.budget.is_none()), true)
        } else {
            (waiting, false)
        };
        if cells.is_empty() {
            break (known, Stop::MostBlocks);
        }
        if let (Some(budget), true) = (how.budget, is_new) {
            let at_once = setup.bench.at_once();
            let block = block_seconds(&cells, &records, |cell| setup.seconds(cell), at_once);
            if before + began.elapsed().as_secs_f64() + block > budget.as_secs_f64() {
                break (known, Stop::Budget);
            }
        }
        if is_new {
            run.append(&cells).map_err(other)?;
        }
        let later = upper_bound(&all, &records, &cells);
        let seconds = |cell: &Cell| (cell.workload.clone(), setup.seconds(cell));
        let limit = how.budget.map(|b| b.as_secs_f64() - before - began.elapsed().as_secs_f64());
        let progress = Progress::of_block(
            &cells.iter().map(seconds).collect::<Vec<_>>(),
            &later.into_iter().map(seconds).collect::<Vec<_>>(),
            &records,
            setup.bench.at_once(),
            limit,
        );
        let mut recorder = Recorder::new(run, progress);
        let cells: Vec<&Cell> = cells.iter().collect();
        let result = setup.bench.carry_out(&setup.campaign, &cells, &mut recorder);
        recorder.finish();
        failed += recorder.failed;
        result?;
    };
    keep(setup, run, how, &known, stopped_by)?;
    Ok(failed)
}

/// What each figure's samples say, and what is needed next.
fn needed(
    setup: &Setup,
    run: &Run,
    how: &HowLong,
    records: &[CellRecord],
) -> Result<(Vec<Known>, Targets), BenchError> {
    let pairs = &setup.survey.pairs;
    let Some(rules) = &how.rules else {
        let most = how.most_blocks();
        return Ok((Vec::new(), pairs.iter().map(|pair| (pair.clone(), most)).collect()));
    };
    let analysis = analyse(run).map_err(other)?;
    Ok(look(&setup.campaign.study, pairs, rules, records, &analysis))
}

/// Keeps what came of the campaign with the run.
fn keep(
    setup: &Setup,
    run: &Run,
    how: &HowLong,
    known: &[Known],
    stopped_by: Stop,
) -> Result<(), BenchError> {
    let records = run.cells().map_err(other)?;
    let figures: Vec<_> = known.iter().map(|known| known.outcome(stopped_by)).collect();
    let is_open = figures.iter().any(|figure| figure.open > 0);
    let stopped = match stopped_by {
        Stop::MostBlocks if !is_open && how.rules.is_some() => Stop::Decided,
        stop => stop,
    };
    let outcome = Outcome {
        goal: how.goal(),
        stopped,
        cells: records.iter().filter(|r| r.state != CellState::Waiting).count(),
        most_cells: setup.survey.pairs.len() * how.most_blocks() as usize,
        blocks: records.iter().map(|r| r.cell.block as usize + 1).max().unwrap_or(0),
        figures,
    };
    let json = serde_json::to_string(&outcome).map_err(other)?;
    run.keep_outcome(&json).map_err(other)
}

fn other(error: impl std::fmt::Display) -> BenchError {
    BenchError::Other(error.to_string())
}
