//! That the comparison of two runs is calibrated: A/A pairs of runs on machines that are
//! made up, as for campaigns in docs/validation/calibration.md. The two runs of a pair are
//! independent, each with a machine of its own.

use disklab_cell::Cell;
use disklab_comparisons::Change;
use disklab_decision::{ComparedRun, ComparisonTerms, Versus};
use disklab_store::{CellRecord, CellState, RunInfo};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::fixture::RunFixture;
use crate::noise_models::{NOISE_MODELS, NoiseModel};

const RATE: f64 = 2e8;

/// What many pairs of runs gave.
#[derive(Debug, Default)]
struct Tally {
    pairs_of_runs: u64,
    figures: u64,
    /// Pairs of runs with a slower or faster figure.
    claiming: u64,
    /// Figures whose interval holds the truth.
    covered: u64,
    with_interval: u64,
    same: u64,
    slower: u64,
    identical: u64,
}

/// Compares `cases` pairs of runs of two stacks and `questions` figures each, in which B
/// is `factor` times as fast as A.
fn play(noise_model: &NoiseModel, questions: usize, blocks: u32, cases: u64, factor: f64) -> Tally {
    play_accepting((&[], false), noise_model, questions, blocks, cases, factor)
}

/// The same, as by somebody who accepts what these audits find, of two runs or of one at two levels
/// of an axis.
fn play_accepting(
    (accepted, one_run): (&[&str], bool),
    noise_model: &NoiseModel,
    questions: usize,
    blocks: u32,
    cases: u64,
    factor: f64,
) -> Tally {
    let fixture = RunFixture::new(2, questions).expect("a study");
    let (study, info) = fixture.run();
    let other =
        if one_run { info.clone() } else { RunInfo { seed: info.seed + 1, ..info.clone() } };
    let name =
        noise_model.name.bytes().fold(11_u64, |s, b| s.wrapping_mul(31).wrapping_add(b.into()));
    let mut random = ChaCha8Rng::seed_from_u64(name);
    let mut tally = Tally::default();
    for _ in 0..cases {
        let a = fixture.campaign(noise_model, &[RATE; 2], blocks, &mut random);
        let b = fixture.campaign(noise_model, &[RATE * factor; 2], blocks, &mut random);
        let (cells_a, cells_b) = (records(&a), records(&b));
        let (of_a, of_b) = (fixture.analyse(a), fixture.analyse(b));
        let one = ComparedRun { info, study, cells: &cells_a, analysis: &of_a };
        let two = ComparedRun { info: &other, study, cells: &cells_b, analysis: &of_b };
        let terms = ComparisonTerms {
            margin: 0.05,
            unplanned: true,
            accepted: accepted.iter().map(|name| (*name).to_owned()).collect(),
            ..ComparisonTerms::default()
        };
        let got = Versus::of(&one, &two, &terms).expect("in common");
        tally.pairs_of_runs += 1;
        let claims = |c: &Change| matches!(c, Change::Slower | Change::Faster);
        tally.claiming += u64::from(got.pairs.iter().any(|p| claims(&p.change)));
        for pair in &got.pairs {
            tally.figures += 1;
            tally.same += u64::from(pair.change == Change::Equivalent);
            tally.slower += u64::from(pair.change == Change::Slower);
            tally.identical += u64::from(pair.change == Change::Identical);
            if let Some(interval) = pair.interval {
                tally.with_interval += 1;
                tally.covered += u64::from(interval.contains(factor));
            }
        }
    }
    tally
}

fn records(campaign: &[(Cell, f64)]) -> Vec<CellRecord> {
    let record = |cell: &Cell| CellRecord::new(cell.clone(), CellState::Done);
    campaign.iter().map(|(cell, _)| record(cell)).collect()
}

/// Whether a share is at most this (in per cent), as far as so few cases tell (a binomial
/// deviate of 3).
fn at_most(hits: u64, of: u64, per_cent: f64) -> bool {
    let chance = 3.0 * (per_cent * (100.0 - per_cent) / of as f64).sqrt();
    100.0 * hits as f64 / of as f64 <= per_cent + chance
}

fn at_least(hits: u64, of: u64, per_cent: f64) -> bool {
    at_most(of - hits, of, 100.0 - per_cent)
}

fn still() -> impl Iterator<Item = &'static NoiseModel> {
    NOISE_MODELS.iter().filter(|noise_model| noise_model.still)
}

#[test]
fn runs_without_differences_claim_none() {
    for noise_model in still() {
        for (questions, blocks) in [(1, 3), (1, 6), (6, 3), (6, 8)] {
            let got = play(noise_model, questions, blocks, 60, 1.0);
            assert!(at_most(got.claiming, got.pairs_of_runs, 5.0), "{} {got:?}", noise_model.name);
            assert_eq!(got.identical, 0, "{} {got:?}", noise_model.name);
        }
    }
}

#[test]
fn levels_of_a_run_without_differences_claim_none() {
    for noise_model in still() {
        for (questions, blocks) in [(6, 3), (1, 8)] {
            let got = play_accepting((&[], true), noise_model, questions, blocks, 60, 1.0);
            assert!(at_most(got.claiming, got.pairs_of_runs, 5.0), "{} {got:?}", noise_model.name);
            assert!(at_least(got.covered, got.with_interval, 95.0), "{} {got:?}", noise_model.name);
        }
    }
}

/// Where each cell resembles the one before it, the repeats of a run are fewer observations
/// than they seem.
#[test]
fn correlated_repeats_claim_few_changes() {
    for name in ["autocorrelated", "slow swings"] {
        let noise_model =
            NOISE_MODELS.iter().find(|noise_model| noise_model.name == name).expect("a world");
        for blocks in [8, 12] {
            let got = play(noise_model, 2, blocks, 100, 1.0);
            let unheeded =
                play_accepting((&["correlated-repeats"], false), noise_model, 2, blocks, 100, 1.0);
            eprintln!("{name} {blocks}: {} then {}", unheeded.claiming, got.claiming);
            assert!(at_most(got.claiming, got.pairs_of_runs, 5.0), "{name} {blocks} {got:?}");
            assert!(unheeded.claiming > got.claiming, "{name} {blocks} {unheeded:?}");
        }
    }
}

/// At the edge of the level a claim is false whichever it is.
#[test]
fn a_ratio_on_the_margin_is_rarely_decided() {
    for noise_model in still() {
        for blocks in [4, 8] {
            let got = play(noise_model, 2, blocks, 60, 1.0 / 1.05);
            assert!(at_most(got.claiming, got.pairs_of_runs, 5.0), "{} {got:?}", noise_model.name);
            assert!(at_most(got.same, got.figures, 2.5), "{} {got:?}", noise_model.name);
        }
    }
}

#[test]
fn intervals_cover_what_they_say() {
    for noise_model in still() {
        for blocks in [4, 6, 10] {
            let got = play(noise_model, 1, blocks, 150, 0.9);
            assert_eq!(got.with_interval, got.figures);
            assert!(
                at_least(got.covered, got.with_interval, 95.0),
                "{} {blocks} {got:?}",
                noise_model.name
            );
        }
    }
}

#[test]
fn a_large_loss_is_found_and_none_is_found_the_same() {
    let calm = &NOISE_MODELS[0];
    let loss = play(calm, 2, 8, 40, 0.85);
    assert!(at_least(loss.slower, loss.figures, 90.0), "{loss:?}");
    let none = play(calm, 2, 12, 40, 1.0);
    assert!(at_least(none.same, none.figures, 90.0), "{none:?}");
}
