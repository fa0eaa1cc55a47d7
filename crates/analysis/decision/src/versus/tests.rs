//! Two runs, made up.

use disklab_store::{CellRecord, CellState, RunInfo};

use super::*;
use crate::testing::{RunFixture, figure, step};

const ASK: &str =
    "[[questions]]\nask = \"?\"\nworkloads = [\"dd-4k\", \"dd-1M\"]\nmeasure = \"throughput\"";

fn terms() -> ComparisonTerms {
    ComparisonTerms { margin: 0.05, ..ComparisonTerms::default() }
}

/// Of two runs with seeds of their own.
fn versus(a: &RunFixture, b: &RunFixture, terms: &ComparisonTerms) -> Result<Versus, VersusError> {
    let info = RunInfo { seed: a.info.seed + 1, ..b.info.clone() };
    versus_as(&info, (a, b), terms)
}

/// With this for what is known of B.
fn versus_as(
    info: &RunInfo,
    (a, b): (&RunFixture, &RunFixture),
    terms: &ComparisonTerms,
) -> Result<Versus, VersusError> {
    let (of_a, of_b) = (a.analyse(), b.analyse());
    let cells = |fixture: &RunFixture| {
        fixture.cells.iter().map(|(c, _)| c.clone()).collect::<Vec<CellRecord>>()
    };
    let (cells_a, cells_b) = (cells(a), cells(b));
    let side_a = ComparedRun { info: &a.info, study: &a.study, cells: &cells_a, analysis: &of_a };
    let side_b = ComparedRun { info, study: &b.study, cells: &cells_b, analysis: &of_b };
    Versus::of(&side_a, &side_b, terms)
}

fn real(ask: &str) -> RunFixture {
    let mut fixture = RunFixture::new(ask);
    fixture.info.bench = "disks:x".parse().unwrap();
    fixture
}

#[test]
fn figures_are_matched_by_stack_workload_and_step() {
    let (mut a, mut b) = (real(ASK), real(ASK));
    for (fixture, factor) in [(&mut a, 1.0), (&mut b, 0.7)] {
        fixture.repeats("single/ext4", "dd-4k", &[100e3 * factor, 101e3 * factor, 99e3 * factor]);
        fixture.repeats("raid1/ext4", "dd-4k", &[150e3, 151e3, 149e3]);
    }
    a.repeats("raid1/btrfs", "dd-4k", &[1e5; 3]);
    b.repeats("single/ext4", "dd-64k", &[1e5; 3]);
    let got = versus(&a, &b, &terms()).expect("in common");
    let listed: Vec<_> =
        got.pairs.iter().map(|p| (p.stack.as_str(), p.change.word(), p.verdict(0.05))).collect();
    assert_eq!(
        listed,
        [
            ("single/ext4", "slower", "slower by 30 % [28, 32]".to_owned()),
            ("raid1/ext4", "identical", "identical".to_owned()),
        ]
    );
    assert_eq!(got.verdict(), RunVerdict::Regression);
    assert_eq!(got.headline(), "B against A: of 2 figures, 1 is slower and 1 is identical.");
    assert_eq!(got.unmatched.stacks_only_in_a, ["raid1/btrfs"]);
    assert_eq!(got.unmatched.workloads_only_in_b, ["dd-64k"]);
    assert_eq!(got.unmatched.not_asked, 1);
    assert_eq!(got.unmatched.sentences().len(), 3);
}

/// Blocks that differ by half, in each of which B is 8 % slower.
#[test]
fn repeats_with_the_same_draws_are_paired() {
    for bench in ["lab", "disks:x"] {
        let of = |factor: f64| {
            let mut fixture = RunFixture::new(ASK);
            fixture.info.bench = bench.parse().unwrap();
            let values = [1e5, 1.5e5, 0.8e5].map(|value| value * factor);
            fixture.repeats("single/ext4", "dd-4k", &values);
            fixture
        };
        let (a, b) = (of(1.0), of(0.92));
        let changed = |info: &RunInfo| {
            let got = versus_as(info, (&a, &b), &terms()).expect("in common");
            (got.paired, got.pairs[0].change == Change::Slower)
        };
        let (other_seed, later) = (
            RunInfo { seed: 7, ..b.info.clone() },
            RunInfo {
                created: b.info.created + jiff::SignedDuration::from_hours(1),
                ..b.info.clone()
            },
        );
        assert_eq!(changed(&b.info), (true, true), "levels of one run");
        assert_eq!(changed(&other_seed), (false, false), "two runs");
        let same_draws = bench == "lab";
        assert_eq!(changed(&later), (same_draws, same_draws), "two runs with one seed: {bench}");
    }
}

/// Other programs' outputs name no steps.
#[test]
fn a_step_of_another_name_is_the_same_where_it_is_the_only_one() {
    let of = |steps: &[&str]| {
        let mut fixture = real(ASK);
        for block in 0..3 {
            let written = |rate: f64| figure(disklab_sample::Direction::Write, 1 << 20, 1.0 / rate);
            let steps =
                steps.iter().zip([1.0, 2.0]).map(|(name, rate)| step(name, vec![written(rate)]));
            fixture.sample("single/ext4", "dd-4k", block, steps.collect());
        }
        fixture
    };
    let matched = |a: &[&str], b: &[&str]| {
        let pairs = versus(&of(a), &of(b), &terms()).map(|versus| versus.pairs);
        pairs.unwrap_or_default().iter().map(|pair| pair.step.clone()).collect::<Vec<_>>()
    };
    assert_eq!(matched(&["x"], &["x"]), ["x"]);
    assert_eq!(matched(&["x"], &["y"]), ["y"]);
    assert_eq!(matched(&["x", "y"], &["y"]), ["y"]);
    assert_eq!(matched(&["x", "w"], &["y"]), [""; 0], "which of A's?");
    assert_eq!(matched(&["x"], &["y", "z"]), [""; 0], "which of B's?");
}

#[test]
fn renamed_stacks_are_the_same() {
    let (mut a, mut b) = (real(ASK), real(ASK));
    a.repeats("single/ext4", "dd-4k", &[100e3, 101e3, 99e3]);
    b.repeats("raid1/ext4", "dd-4k", &[200e3, 201e3, 199e3]);
    let error = versus(&a, &b, &terms()).expect_err("nothing in common");
    assert!(error.to_string().contains("A has single/ext4 and dd-4k, B has"), "{error}");
    let renamed = |old: &str, new: &str| ComparisonTerms {
        renamed: vec![(old.to_owned(), new.to_owned())],
        ..terms()
    };
    let got = versus(&a, &b, &renamed("single/ext4", "raid1/ext4")).expect("mapped");
    assert_eq!((got.pairs.len(), got.verdict()), (1, RunVerdict::Fine));
    assert!(got.unmatched.sentences().is_empty(), "{:?}", got.unmatched);
    let error = versus(&a, &b, &renamed("single/xfs", "raid1/ext4")).expect_err("no such");
    assert!(error.to_string().contains("A has neither a stack nor a workload 'single/xfs'"));
}

#[test]
fn unfinished_cells_count_as_too_few() {
    let (mut a, mut b) = (real(ASK), real(ASK));
    for fixture in [&mut a, &mut b] {
        fixture.repeats("single/ext4", "dd-4k", &[100e3, 101e3, 99e3]);
    }
    a.repeats("raid1/ext4", "dd-4k", &[100e3, 101e3, 99e3]);
    b.unfinished("raid1/ext4", "dd-4k", 0, CellState::Failed);
    let got = versus(&a, &b, &terms()).expect("in common");
    assert_eq!(got.verdict(), RunVerdict::TooFew);
    assert_eq!(got.missing[0].text(), "dd-4k on raid1/ext4 failed in B: no space left");
}

#[test]
fn noise_and_small_numbers_are_distinguished() {
    let with = |a: &[f64], b: &[f64]| {
        let (mut one, mut two) = (real(ASK), real(ASK));
        one.repeats("single/ext4", "dd-4k", a);
        two.repeats("single/ext4", "dd-4k", b);
        versus(&one, &two, &terms()).expect("in common")
    };
    let few = with(&[100e3, 102e3, 98e3], &[101e3, 99e3, 104e3]);
    assert_eq!(few.verdict(), RunVerdict::TooFew);
    assert!(few.pairs[0].verdict(0.05).contains("repeats on each side would show"), "{few:?}");
    let wild = with(&[100e3, 300e3, 50e3], &[120e3, 40e3, 250e3]);
    assert_eq!(wild.verdict(), RunVerdict::TooNoisy);
    assert!(wild.pairs[0].verdict(0.05).contains("60 on each side would not"), "{wild:?}");
    let once = with(&[100e3], &[50e3]);
    assert_eq!(once.verdict(), RunVerdict::TooFew);
    assert!(once.pairs[0].verdict(0.05).contains("measured once in both runs"), "{once:?}");
}

#[test]
fn suspect_figures_carry_no_verdict_unless_that_is_accepted() {
    use disklab_sample::Direction;

    use crate::testing::{figure, on_drives, step};
    let fixture = |seconds: f64| {
        let mut fixture = real(ASK);
        for block in 0..3 {
            let write =
                figure(Direction::Write, 1 << 20, seconds * (1.0 + f64::from(block) / 100.0));
            let step = on_drives(step("dd-4k", vec![write]), &[(0, 1 << 12)]);
            fixture.sample("single/btrfs", "dd-4k", block, vec![step]);
        }
        fixture
    };
    let got = versus(&fixture(1.0), &fixture(2.0), &terms()).expect("in common");
    assert_eq!(got.verdict(), RunVerdict::TooNoisy);
    let verdict = got.pairs[0].verdict(0.05);
    assert_eq!(verdict, "inconclusive: suspect (zeros-compressed in A, zeros-compressed in B)");
    let accepted = ComparisonTerms { accepted: vec!["zeros-compressed".to_owned()], ..terms() };
    let got = versus(&fixture(1.0), &fixture(2.0), &accepted).expect("in common");
    assert_eq!(got.verdict(), RunVerdict::Regression);
}

#[test]
fn the_worst_change_comes_first() {
    let (mut a, mut b) = (real(ASK), real(ASK));
    for (stack, factor) in
        [("single/ext4", 2.0), ("single/btrfs", 0.9), ("raid1/ext4", 0.5), ("raid1/btrfs", 4.0)]
    {
        a.repeats(stack, "dd-4k", &[100e3, 100.5e3, 99.5e3]);
        b.repeats(stack, "dd-4k", &[100e3 * factor, 100.4e3 * factor, 99.6e3 * factor]);
    }
    let got = versus(&a, &b, &terms()).expect("in common");
    let order: Vec<_> = got.worst_first().iter().map(|p| p.stack.as_str()).collect();
    assert_eq!(order, ["raid1/ext4", "single/btrfs", "raid1/btrfs", "single/ext4"]);
}

#[test]
fn empty_runs_are_not_called_different_studies() {
    let (mut a, mut b) = (real(ASK), real(ASK));
    a.repeats("single/ext4", "dd-4k", &[1e5; 3]);
    b.unfinished("single/ext4", "dd-4k", 0, CellState::Failed);
    let said = |a: &RunFixture, b: &RunFixture| {
        versus(a, b, &terms()).map(|v| v.headline()).map_err(|e| e.to_string())
    };
    let text = said(&a, &b).expect("a missing cell");
    assert!(text.starts_with("B against A: no figure was measured in both."), "{text}");
    let error = said(&b, &b).expect_err("nothing");
    assert!(error.starts_with("in both runs, no cell has finished"), "{error}");
}
