//! What is said of runs that were drawn, to the letter. A change that means to change nothing
//! changes none of it; another shows here what it changes.

use std::fmt::Write;

use disklab_cell::LossTree;
use disklab_risk::Uncertain;
use disklab_sample::{
    LabOutcome, LabReference, NetworkLink, NetworkShare, Reference, ReferenceFigure,
};
use disklab_store::{CellRecord, RunInfo};
use disklab_study::PlannedStack;

use crate::testing::RunFixture;
use crate::{
    Analysis, AxisEffect, ComparedRun, ComparisonTerms, Recommendation, RiskTable, RiskTerms,
    StackChoice, Versus,
};

fn line(said: &mut String, text: impl std::fmt::Display) {
    writeln!(said, "{text}").expect("a text");
}

fn choice(said: &mut String, of: &Recommendation, choice: &StackChoice) {
    let classes =
        [Recommendation::survives, Recommendation::may_fail, Recommendation::drives_that_may_fail]
            .map(|words| words(choice.survives));
    let StackChoice { take, confidence, .. } = choice;
    line(said, format_args!("  {}: {take}", classes.join(" / ")));
    let sure = choice.how_sure(of, &str::to_uppercase);
    line(said, format_args!("    {} ({:?}) {sure}", confidence.word(), choice.caveat()));
    let means: Vec<_> = choice.figures.iter().filter_map(|figure| figure.mean()).collect();
    let values = choice.values();
    line(said, format_args!("    {} {}", values.as_deref().unwrap_or("-"), means.join(", ")));
    for next in choice.next.iter().chain(&choice.inconclusive) {
        let times = [next.times(), next.times_short()].map(|times| times.unwrap_or_default());
        let rest = if next.is_taken_for_the_rest() { ", for the rest" } else { "" };
        line(said, format_args!("    next {}: {}{rest}", next.stack, times.join(" ")));
    }
    for place in &choice.places {
        let by = if place.by_deciding { " in what decides" } else { "" };
        let (stack, verdict) = (&place.stack, place.verdict.word());
        line(said, format_args!("    {stack} {verdict}{by} {}", place.distance));
    }
    let trade = choice.trade.iter().map(|trade| trade.sentence(&str::to_uppercase));
    let changes = choice.would_change.iter().map(|change| change.sentence(&str::to_uppercase));
    let sentences = choice.reasons.iter().chain(&choice.against).cloned();
    for text in sentences.chain(trade).chain(changes) {
        line(said, format_args!("    {text}"));
    }
}

fn all_that_is_said(fixture: &RunFixture, analysis: &Analysis) -> String {
    let mut said = String::new();
    for sentence in &analysis.summary {
        line(&mut said, sentence);
    }
    for (number, answer) in analysis.answers.iter().enumerate() {
        line(&mut said, format_args!("\n{}", answer.question.ask));
        for sentence in analysis.sentences_of(number) {
            line(&mut said, format_args!("  {sentence}"));
        }
    }
    for of in &analysis.recommendations {
        line(&mut said, format_args!("\n{}: {}", of.purpose.word, of.lacking.join(", ")));
        for why in of.why_not.iter().chain(&of.suspect) {
            line(&mut said, format_args!("  {why}"));
        }
        for decision in &of.decisions {
            choice(&mut said, of, decision);
        }
        line(&mut said, format_args!("  not settled: {}", of.unsettled_cells().len()));
    }
    if let Some(way) = Recommendation::how_to_decide(&analysis.recommendations, &fixture.info) {
        line(&mut said, way);
    }
    said
}

fn all_that_changed(versus: &Versus) -> String {
    let mut said = String::new();
    line(&mut said, format_args!("{:?}: {}", versus.verdict(), versus.headline()));
    for pair in versus.worst_first() {
        let ([a, b], ratio) = (pair.values(), pair.ratio_text());
        line(&mut said, format_args!("  {} {}: {a} {b} {ratio}", pair.stack, pair.noun));
        let apart = pair.distance().unwrap_or_default();
        line(&mut said, format_args!("    {}; {apart}", pair.verdict(versus.margin)));
    }
    for missing in &versus.missing {
        line(&mut said, format_args!("  {}", missing.text()));
    }
    for sentence in versus.unmatched.sentences() {
        line(&mut said, format_args!("  {sentence}"));
    }
    said
}

#[test]
fn drawn_runs_are_described_as_they_were() {
    for number in 0..8 {
        let fixture = RunFixture::drawn(number);
        let mut said = all_that_is_said(&fixture, &fixture.analyse());
        for ahead in ["dd-4k", "stream"].iter().filter_map(|work| fixture.analyser().ahead(work)) {
            line(&mut said, ahead.line());
        }
        insta::assert_snapshot!(format!("run_{number}"), said);
    }
}

/// The second run has other repeats of the same speeds, of which two are others.
#[test]
fn two_drawn_runs_differ_as_they_did() {
    for number in [1, 3, 4, 5, 7] {
        let (a, mut b) = (RunFixture::drawn(number), RunFixture::drawn(number));
        let lasting = |stack: &str| match stack {
            "single/btrfs" => 1.3,
            "raid1/ext4" => 0.4,
            "raid1/btrfs" => 1.01,
            _ => 1.0,
        };
        for (record, sample) in &mut b.cells {
            let Some(sample) = sample else { continue };
            for figure in sample.steps.iter_mut().flat_map(|step| &mut step.figures) {
                let block = 1.0 + 0.01 * f64::from(record.cell.block * 7 % 5);
                let times = lasting(&record.cell.levels.stack) * block;
                figure.elapsed_ns = (figure.elapsed_ns as f64 * times) as u64;
            }
        }
        b.cells.retain(|(record, _)| record.cell.levels.workload != "kept");
        let other = RunInfo { seed: 2, ..b.info.clone() };
        let (of_a, of_b) = (a.analyse(), b.analyse());
        let cells = |fixture: &RunFixture| -> Vec<CellRecord> {
            fixture.cells.iter().map(|(record, _)| record.clone()).collect()
        };
        let (cells_a, cells_b) = (cells(&a), cells(&b));
        let side_a =
            ComparedRun { info: &a.info, study: &a.study, cells: &cells_a, analysis: &of_a };
        let side_b =
            ComparedRun { info: &other, study: &b.study, cells: &cells_b, analysis: &of_b };
        // How many repeats are needed takes long to work out.
        let terms = ComparisonTerms {
            margin: 0.03,
            accepted: vec!["few-repeats".to_owned()],
            unplanned: number != 3,
            ..ComparisonTerms::default()
        };
        let mut said =
            all_that_changed(&Versus::of(&side_a, &side_b, &terms).expect("common figures"));
        let effect = AxisEffect::of("memory", ("8GiB", &side_a), ("1GiB", &side_b));
        let effect = effect.expect("figures of both");
        line(&mut said, effect.headline());
        line(&mut said, format_args!("{} changed", effect.changed().len()));
        for sentence in &effect.choices {
            line(&mut said, sentence);
        }
        insta::assert_snapshot!(format!("runs_{number}"), said);
    }
}

/// A directory of a run that asks about all that it did.
fn of_directory(number: u32) -> RunFixture {
    let mut fixture = RunFixture::drawn(number);
    fixture.study.questions.clear();
    fixture.cells.retain(|(record, _)| record.cell.levels.stack == "single/ext4");
    fixture
}

#[test]
fn directories_are_judged_as_they_were() {
    let mut said = String::new();
    for number in [1, 5] {
        let mut fixture = of_directory(number);
        let answers = fixture.analyse().answers;
        // What the lab would give: a tenth as much, nearly as much, and more.
        let times = [0.1, 0.97, 1.6, 3.0, 1.2].into_iter().cycle();
        let points = answers.iter().flat_map(|a| a.points.iter().map(move |point| (a, point)));
        let expected = points.zip(times).map(|((answer, point), times)| ReferenceFigure {
            ask: answer.question.ask.clone(),
            figure: point.figure.clone(),
            value: point.estimate.centre * times,
        });
        let lab = LabReference {
            stack: "partition/ext4".to_owned(),
            drives: "a drive".to_owned(),
            by_class: vec!["X1".to_owned(); number as usize],
            figures: expected.collect(),
        };
        let none = LabReference { figures: Vec::new(), ..lab.clone() };
        let share = |megabits, is_wireless, round_trip_ns| {
            let link = (megabits != Some(0)).then(|| NetworkLink {
                name: "eth0".to_owned(),
                megabits,
                is_wireless,
            });
            let (protocol, server) = ("NFS".to_owned(), "nas".to_owned());
            Some(NetworkShare { protocol, server, link, round_trip_ns })
        };
        let unknown = || LabOutcome::Unknown("it is virtual".to_owned());
        for (share, lab) in [
            (None, LabOutcome::Figures(lab)),
            (None, LabOutcome::Figures(none)),
            (None, unknown()),
            (share(Some(1000), false, Some(90_000)), unknown()),
            (share(Some(2500), false, Some(2_000_000)), unknown()),
            (share(None, false, None), unknown()),
            (share(Some(0), false, None), unknown()),
        ] {
            // Behind its verdict a share says the same each time.
            let sentences = if share.is_some() { 1 } else { usize::MAX };
            fixture.info.reference = Some(Reference { lies_on: "ext4".to_owned(), share, lab });
            for sentence in fixture.analyse().summary.into_iter().take(sentences) {
                line(&mut said, sentence);
            }
        }
    }
    insta::assert_snapshot!(said);
}

/// Drives of which the first alone is as fast as it looks.
const AT_RISK: &str = "[[drives]]\nname = \"fast\"\nmodel = \"huh721212ale604\"\nsize = \"4 TB\"\ncount = 4\n\
    [[drives]]\nname = \"slow\"\nmodel = \"st8000dm004\"\nsize = \"6 TB\"\ncount = 2\n";

fn at_risk(id: &str, tolerates: u32, drives: &[&str], by_use: bool) -> PlannedStack {
    let parts = (0..drives.len() as u32).map(LossTree::Drive).collect();
    let tree = LossTree::parts(tolerates, 4_000_000_000_000, parts);
    PlannedStack {
        id: id.to_owned(),
        layers: Vec::new(),
        drives: drives.iter().map(|name| (*name).to_owned()).collect(),
        capacity: 1,
        tolerates,
        loss: Some(if by_use { tree.rebuilt_by_use() } else { tree }),
        copies: false,
    }
}

#[test]
fn risks_are_described_as_they_were() {
    let fixture = RunFixture::new(AT_RISK);
    let mut stacks = vec![
        at_risk("raid0/ext4", 0, &["fast-1", "fast-2"], false),
        at_risk("raid5/ext4", 1, &["fast-1", "fast-2", "fast-3"], false),
        at_risk("raid5/xfs", 1, &["fast-1", "fast-2", "fast-3"], false),
        at_risk("zfs-raidz2", 2, &["fast-1", "fast-2", "fast-3", "fast-4"], true),
        at_risk("raid1/ext4", 1, &["fast-1", "slow-1"], false),
        at_risk("dir", 0, &["fast-1"], false),
    ];
    stacks[5].loss = None;
    let mut said = String::new();
    let given =
        |failures, rebuild, spares| RiskTerms { failures, rebuild, spares, ..RiskTerms::default() };
    for terms in [
        RiskTerms::default(),
        RiskTerms { years: 1.0, used: 0.9, ..given(Some(0.03), Some(30.0), 0) },
        RiskTerms { bits_per_unreadable: Some(1e14), ..given(None, None, 2) },
        RiskTerms { replaced_after: Some(0.5), ..given(Some(0.2), Some(1.25), 1) },
    ] {
        let table = RiskTable::of_study(&stacks, &fixture.study, terms);
        said += &table.text();
        for stack in &table.stacks {
            let words = [stack.rebuild_words(), stack.all_alone_words()];
            line(&mut said, format_args!("  {}: {}", stack.stack, words.join(", ")));
        }
    }
    let drives: Vec<_> = ["fast-1", "fast-2", "fast-3", "slow-1"]
        .into_iter()
        .zip([[2e8, 3e8], [2e8, 3e8], [2e8, 3e8], [1e8, 1e8]])
        .map(|(name, rates)| {
            let found = disklab_sample::DriveState {
                drive: name.to_owned(),
                size_bytes: 4_000_000_000_000,
                ..disklab_sample::DriveState::default()
            };
            crate::risk::DriveAtRisk {
                rates: Some(rates),
                ..crate::risk::DriveAtRisk::real(&found)
            }
        })
        .collect();
    let measured = |stack: &str| {
        (stack == "raid5/xfs").then_some(Uncertain { value: 9.0, low: 8.0, high: 11.0 })
    };
    said += &RiskTable::new(&stacks, &drives, &measured, RiskTerms::default()).text();
    insta::assert_snapshot!(said);
}
