//! Recommendations of runs that are made up.

use disklab_sample::{Direction, OperationKind, StepProfile, Task};
use disklab_study::{Measure, Percentile, PlannedStack};

use super::*;
use crate::testing::{DECIDING_WORK, RunFixture, figure, on_drives, step};

/// Random reads whose caches are kept, as a study may mean.
const KEPT: &str = r#"
[[workloads]]
id = "again"
caches = "keep"
fio = { size = "1G", rw = "randread", bs = "8k", direct = 1 }
"#;

fn fixture() -> RunFixture {
    let mut fixture = RunFixture::new(&[DECIDING_WORK, KEPT].concat());
    let stacks = [("single/ext4", 0), ("single/btrfs", 0), ("raid1/ext4", 1), ("raid1/btrfs", 1)];
    fixture.info.stacks = stacks
        .map(|(id, tolerates)| PlannedStack {
            id: id.to_owned(),
            layers: Vec::new(),
            drives: Vec::new(),
            capacity: 0,
            tolerates,
            loss: None,
            copies: false,
        })
        .to_vec();
    fixture
}

fn measured(fixture: &mut RunFixture, stack: &str, workload: &str, rates: [f64; 4]) {
    let direction = if workload == "safe" { Direction::Write } else { Direction::Read };
    for (block, rate) in rates.into_iter().enumerate() {
        let bytes = (rate * 60.0) as u64;
        let mut figure = figure(direction, bytes, 60.0);
        figure.operations = Some(bytes / 4096);
        let traffic = if direction == Direction::Read { (bytes, 0) } else { (0, bytes) };
        let step = on_drives(step(workload, vec![figure]), &[traffic]);
        fixture.sample(stack, workload, block as u32, vec![step]);
    }
}

/// The decision of those that survive so many lost drives.
fn of_class(recommendation: &Recommendation, survives: u32) -> &StackChoice {
    let mut all = recommendation.decisions.iter();
    all.find(|decision| decision.survives == Some(survives)).expect("a decision")
}

fn database(fixture: &RunFixture) -> Recommendation {
    let all = fixture.analyse().recommendations;
    all.into_iter().find(|r| r.purpose.word == "database").expect("a purpose")
}

const CALM: [f64; 4] = [1.0, 1.01, 0.995, 1.005];

fn times(rate: f64, jitter: [f64; 4]) -> [f64; 4] {
    jitter.map(|j| j * rate)
}

fn all(fixture: &mut RunFixture, stack: &str, safe: f64, random: f64, stream: f64) {
    measured(fixture, stack, "safe", times(safe * 1e6, [1.0, 1.008, 0.997, 1.003]));
    measured(fixture, stack, "fio", times(random * 1e6, CALM));
    measured(fixture, stack, "stream", times(stream * 1e8, CALM));
}

#[test]
fn the_best_of_each_class_is_named_with_reasons_and_objections() {
    let mut fixture = fixture();
    all(&mut fixture, "single/ext4", 4.0, 1.0, 1.0);
    all(&mut fixture, "single/btrfs", 1.0, 1.0, 2.0);
    all(&mut fixture, "raid1/ext4", 3.0, 1.4, 1.0);
    all(&mut fixture, "raid1/btrfs", 1.5, 1.2, 1.0);
    let got = database(&fixture);
    assert_eq!(got.why_not, None, "{got:?}");
    let (single, mirror) = (of_class(&got, 0), of_class(&got, 1));
    assert_eq!((single.take.as_str(), mirror.take.as_str()), ("single/ext4", "raid1/ext4"));
    assert_eq!((single.confidence, single.as_good.len()), (Confidence::Sure, 0), "{single:?}");
    assert_eq!(single.figures.len(), 1, "{single:?}");
    assert_eq!(single.figures[0].aspect, "small synchronous writes");
    assert!(single.reasons[0].starts_with("In what decides, single/ext4 is"), "{single:?}");
    assert!(single.reasons.iter().all(|r| r.contains('[')), "{single:?}");
    assert!(single.reasons[1].contains("small synchronous writes"), "{single:?}");
    assert!(single.against[0].contains("single/btrfs is 2.00 times ["), "{single:?}");
    let change = "If small synchronous writes did not matter to you, take SINGLE/BTRFS.";
    let sentence = |c: &AdviceChange| c.sentence(&str::to_uppercase);
    assert!(single.would_change.iter().any(|c| sentence(c) == change), "{single:?}");
    assert_eq!(single.places[0].verdict, RankVerdict::Taken);
    assert_eq!(single.places[1].verdict, RankVerdict::Behind);
    assert!(single.places[1].distance.contains('['), "{single:?}");
    assert_eq!(single.how_sure(&got, &str::to_owned), "Sure.");
    assert!(single.next.as_ref().is_some_and(|next| (next.times - 4.0).abs() < 0.01));
}

#[test]
fn each_database_that_decides_is_shown() {
    let mut fixture = fixture();
    for (stack, rate) in [("single/ext4", 2), ("single/btrfs", 1)] {
        for (workload, operation) in
            [("safe", OperationKind::Commit), ("fio", OperationKind::Transaction)]
        {
            for block in 0..4 {
                let mut one = figure(Direction::Write, 4096, 1.0);
                (one.operations, one.operation) = (Some(rate * 100 + block), operation);
                let mut step = step(workload, vec![one]);
                let task = Some(Task::Commit);
                step.profile = Some(StepProfile { task, ..StepProfile::default() });
                fixture.sample(stack, workload, block as u32, vec![step]);
            }
        }
    }
    let got = database(&fixture);
    let decision = of_class(&got, 0);
    assert_eq!(decision.take, "single/ext4");
    let values: Vec<&str> = decision.figures.iter().map(|figure| figure.value.as_str()).collect();
    let has = |unit: &str| values.iter().any(|value| value.ends_with(unit));
    assert!(has(" commits/s") && has(" transactions/s") && values.len() == 2, "{values:?}");
}

#[test]
fn nothing_pleasant_outvotes_what_decides() {
    let mut fixture = fixture();
    // A fifth fewer commits, ten times the random reads and streams.
    all(&mut fixture, "single/ext4", 1.0, 1.0, 1.0);
    all(&mut fixture, "single/btrfs", 0.8, 10.0, 10.0);
    assert_eq!(of_class(&database(&fixture), 0).take, "single/ext4");
    // Within the margin all that counts decides.
    let mut fixture = super::tests::fixture();
    all(&mut fixture, "single/ext4", 1.0, 1.0, 1.0);
    all(&mut fixture, "single/btrfs", 0.95, 10.0, 10.0);
    let got = database(&fixture);
    let decision = of_class(&got, 0);
    assert_eq!(decision.take, "single/btrfs");
    assert!(decision.next.as_ref().is_some_and(|next| next.times < 1.0), "{decision:?}");
    assert!(decision.against[0].contains("small synchronous writes"), "{decision:?}");
}

#[test]
fn the_other_side_of_the_trade_is_named() {
    let mut fixture = fixture();
    all(&mut fixture, "raid1/ext4", 1.0, 1.0, 1.0);
    all(&mut fixture, "raid1/btrfs", 0.8, 1.0, 1.0);
    assert_eq!(of_class(&database(&fixture), 1).trade, None);
    for stack in &mut fixture.info.stacks {
        stack.capacity =
            if stack.id == "raid1/btrfs" { 30_000_000_000_000 } else { 20_000_000_000_000 };
    }
    let got = database(&fixture);
    let trade = of_class(&got, 1).trade.clone().expect("more space");
    assert_eq!(trade.sentence(&str::to_owned), "raid1/btrfs: 10 TB more space for 20 % less");
    assert!(trade.is_significant && !trade.is_as_good);
}

#[test]
fn of_stacks_with_more_space_one_that_is_as_good_is_named_before_a_faster_one() {
    let mut fixture = fixture();
    let mut faster = fixture.info.stacks[3].clone();
    faster.id = "raid1/xfs".to_owned();
    fixture.info.stacks.push(faster);
    for stack in &mut fixture.info.stacks {
        stack.capacity = if stack.id == "raid1/ext4" { 20 } else { 30 } * 1_000_000_000_000;
    }
    all(&mut fixture, "raid1/ext4", 1.0, 1.0, 1.0);
    all(&mut fixture, "raid1/btrfs", 0.99, 1.0, 1.0);
    all(&mut fixture, "raid1/xfs", 1.08, 0.5, 0.5);
    let got = database(&fixture);
    let choice = of_class(&got, 1);
    assert_eq!(choice.take, "raid1/ext4");
    assert_eq!(choice.as_good, ["raid1/btrfs"]);
    let trade = choice.trade.as_ref().expect("more space");
    assert_eq!(trade.sentence(&str::to_owned), "raid1/btrfs: 10 TB more space, and is as good");
}

#[test]
fn of_two_with_the_same_figures_the_larger_is_taken() {
    let mut fixture = fixture();
    for stack in ["raid1/ext4", "raid1/btrfs"] {
        all(&mut fixture, stack, 1.0, 1.0, 1.0);
    }
    for larger in ["raid1/ext4", "raid1/btrfs"] {
        for stack in &mut fixture.info.stacks {
            stack.capacity = if stack.id == larger { 30 } else { 20 } * 1_000_000_000_000;
        }
        assert_eq!(of_class(&database(&fixture), 1).take, larger);
    }
}

#[test]
fn equivalent_stacks_tie_and_inconclusive_ones_get_no_advice() {
    let mut fixture = fixture();
    all(&mut fixture, "single/ext4", 1.0, 1.0, 1.0);
    all(&mut fixture, "single/btrfs", 1.001, 1.0, 1.0);
    for (stack, wild) in
        [("raid1/ext4", [1.0, 1.6, 0.7, 1.1]), ("raid1/btrfs", [0.9, 0.7, 1.5, 1.2])]
    {
        measured(&mut fixture, stack, "safe", times(1e6, wild));
        measured(&mut fixture, stack, "fio", times(1e6, wild));
    }
    let got = database(&fixture);
    let single = of_class(&got, 0);
    assert_eq!((single.as_good.len(), single.confidence), (1, Confidence::Equivalent), "{got:?}");
    // Its stream is not measured on any stack: a guess.
    let mirror = of_class(&got, 1);
    assert!(
        mirror.is_partial && mirror.how_sure(&got, &str::to_owned).starts_with("A guess: "),
        "{mirror:?}"
    );
    measured(&mut fixture, "raid1/ext4", "stream", times(1e8, CALM));
    measured(&mut fixture, "raid1/btrfs", "stream", times(1e8, CALM));
    let got = database(&fixture);
    assert_eq!(of_class(&got, 1).confidence, Confidence::Inconclusive, "{got:?}");
    // And how it could be decided, unless that is what the run was for.
    let decides = |fixture: &RunFixture, all: &[Recommendation]| {
        Recommendation::how_to_decide(all, &fixture.info)
    };
    fixture.info.repeats = 4;
    let text = decides(&fixture, std::slice::from_ref(&got)).expect("a way");
    assert!(text.contains("4 repeats do not decide") && text.contains("--goal purposes"), "{text}");
    assert_eq!(decides(&fixture, &[]), None);
    fixture.info.options.goal = Some(disklab_study::StudyGoal::Best);
    assert_eq!(decides(&fixture, &[got]), None);
}

/// The next is significantly behind, and one that is slower on average may yet be better.
#[test]
fn a_guess_names_the_stack_that_may_be_better() {
    let mut fixture = fixture();
    fixture.info.stacks.iter_mut().for_each(|stack| stack.tolerates = 0);
    all(&mut fixture, "single/ext4", 4.0, 1.0, 1.0);
    all(&mut fixture, "raid1/ext4", 3.0, 1.0, 1.0);
    all(&mut fixture, "single/btrfs", 1.0, 1.0, 1.0);
    all(&mut fixture, "raid1/btrfs", 1.0, 1.0, 1.0);
    fixture.cells.retain(|(record, _)| {
        let levels = &record.cell.levels;
        (levels.stack.as_str(), levels.workload.as_str()) != ("raid1/btrfs", "safe")
    });
    measured(&mut fixture, "raid1/btrfs", "safe", times(2e6, [0.4, 2.6, 0.5, 2.2]));
    let got = database(&fixture);
    let decision = of_class(&got, 0);
    assert_eq!(decision.next.as_ref().map(|next| next.stack.as_str()), Some("raid1/ext4"));
    let sure = decision.how_sure(&got, &str::to_uppercase);
    assert_eq!(sure, "A guess: better than RAID1/BTRFS in 2 of 4 repeats.", "{decision:?}");
    let open = ["raid1/btrfs", "single/ext4"].map(|stack| (stack, "safe"));
    assert_eq!(got.unsettled_cells().into_iter().collect::<Vec<_>>(), open);
}

#[test]
fn one_repeat_gives_a_guess() {
    let mut fixture = fixture();
    for stack in ["single/ext4", "single/btrfs"] {
        for work in ["safe", "fio", "stream"] {
            measured(&mut fixture, stack, work, [1e7; 4]);
        }
    }
    fixture.cells.retain(|(record, _)| record.cell.block == 0);
    let got = database(&fixture);
    let decision = of_class(&got, 0);
    assert_eq!(decision.how_sure(&got, &str::to_owned), "A guess: measured once.");
}

/// Cells failed, so that only one repeat has all that counts of both.
#[test]
fn one_repeat_that_both_have_is_reported_as_such() {
    let mut fixture = fixture();
    all(&mut fixture, "single/ext4", 4.0, 1.0, 1.0);
    all(&mut fixture, "single/btrfs", 1.0, 1.0, 2.0);
    fixture.cells.retain(|(record, _)| {
        let (stack, block) = (record.cell.levels.stack.as_str(), record.cell.block);
        if stack == "single/ext4" { block < 3 } else { block >= 2 }
    });
    let got = database(&fixture);
    let decision = of_class(&got, 0);
    assert_eq!(decision.confidence, Confidence::Inconclusive);
    let sure = decision.how_sure(&got, &str::to_owned);
    assert_eq!(sure, "A guess: better than the next in 1 of 1 repeats.");
}

#[test]
fn missing_figures_are_named() {
    let mut fixture = fixture();
    measured(&mut fixture, "single/ext4", "stream", times(1e8, CALM));
    measured(&mut fixture, "single/btrfs", "stream", times(2e8, CALM));
    let got = database(&fixture);
    assert!(got.decisions.is_empty());
    assert_eq!(
        got.why_not.as_deref(),
        Some("the run has no usable figure of small synchronous writes")
    );
    assert_eq!(fixture.analyse().recommendations.len(), PURPOSES.len());
}

#[test]
fn a_severe_finding_blocks() {
    let mut fixture = fixture();
    all(&mut fixture, "single/ext4", 4.0, 1.0, 1.0);
    all(&mut fixture, "single/btrfs", 1.0, 1.0, 2.0);
    let mut analysis = fixture.analyse();
    let safe =
        analysis.groups.iter().position(|g| g.key.levels.workload == "safe").expect("measured");
    analysis.findings.push(disklab_audits::Finding {
        audit: "zeros-compressed",
        severity: disklab_audits::Severity::Severe,
        text: String::new(),
        advice: String::new(),
        groups: vec![safe],
    });
    let all = recommend(&fixture.study, &fixture.info, &analysis.groups, &analysis.findings);
    let got = all.iter().find(|r| r.purpose.word == "database").expect("a purpose");
    let why = got.why_not.clone().unwrap_or_default();
    assert!(
        why.contains("a severe finding blocks small synchronous writes (safe: zeros-compressed)"),
        "{got:?}"
    );
}

/// The file of one stack lies in one place, which says nothing against the others' figures.
#[test]
fn a_file_in_one_place_leaves_out_its_stack_alone() {
    let mut fixture = fixture();
    all(&mut fixture, "single/ext4", 4.0, 1.0, 1.0);
    all(&mut fixture, "single/btrfs", 1.0, 1.0, 2.0);
    all(&mut fixture, "raid1/btrfs", 9.0, 1.0, 2.0);
    let mut analysis = fixture.analyse();
    let is_other =
        |g: &Group| g.key.levels.workload == "safe" && g.key.levels.stack == "raid1/btrfs";
    let other = analysis.groups.iter().position(is_other).expect("measured");
    analysis.findings.push(disklab_audits::Finding {
        audit: "in-one-place",
        severity: disklab_audits::Severity::Warning,
        text: String::new(),
        advice: String::new(),
        groups: vec![other],
    });
    let all = recommend(&fixture.study, &fixture.info, &analysis.groups, &analysis.findings);
    let got = all.iter().find(|r| r.purpose.word == "database").expect("a purpose");
    assert_eq!((got.why_not.as_deref(), got.suspect.len()), (None, 0));
    assert_eq!(of_class(got, 0).take, "single/ext4");
    assert!(got.scores.iter().all(|score| score.stack != "raid1/btrfs"), "{got:?}");
}

#[test]
fn a_run_without_samples_recommends_nothing() {
    let fixture = fixture();
    let all = fixture.analyse().recommendations;
    assert!(all.iter().all(|r| r.why_not.is_some() && r.decisions.is_empty()));
}

#[test]
fn large_requests_at_random_are_no_small_ones() {
    let of = |options: &str| {
        let work = format!("[[workloads]]\nid = \"w\"\nfio = {{ size = \"1G\", {options} }}\n");
        let mut fixture = RunFixture::new(&work);
        let mut one = figure(Direction::Write, 1 << 30, 60.0);
        one.operations = Some(1 << 10);
        fixture.sample("single/ext4", "w", 0, vec![step("w", vec![one])]);
        work::task(&fixture.analyse().groups[0])
    };
    assert_eq!(of("rw = \"randwrite\", bs = \"8k\""), Some(Task::RandomWrite));
    assert_eq!(of("rw = \"randwrite\", bs = \"1M\""), None);
    let stream = "rw = \"write\", bs = \"1M\"";
    assert_eq!(of(stream), Some(Task::LargeWrite));
    assert_eq!(of(&format!("{stream}, fdatasync = 1")), None, "each is waited for");
    assert_eq!(of("rw = \"write\", bs = \"64k\""), None, "neither small nor large");
}

#[test]
fn more_samples_settle_only_what_is_open() {
    use Confidence::{Equivalent, Inconclusive, Likely, Once, Only, Sure};
    assert!([Likely, Inconclusive, Once].into_iter().all(Confidence::is_unsettled));
    assert!(![Sure, Equivalent, Only].into_iter().any(Confidence::is_unsettled));
}

#[test]
fn one_stack_alone_is_no_choice() {
    let mut fixture = fixture();
    all(&mut fixture, "single/ext4", 4.0, 1.0, 1.0);
    assert!(database(&fixture).decisions.is_empty());
    all(&mut fixture, "single/btrfs", 1.0, 1.0, 1.0);
    assert_eq!(database(&fixture).decisions.len(), 1);
}

/// Samples of `safe` whose writes take so long, and commits, where they are recorded, so
/// long: in nanoseconds.
fn committed(fixture: &mut RunFixture, stack: &str, write_ns: u64, commit_ns: Option<u64>) {
    use disklab_sample::{Direction, Latency, LatencyHistogram};
    let latency = |ns: u64| {
        let mut histogram = LatencyHistogram::new();
        histogram.record(ns, 1000);
        Latency::from_histogram(histogram)
    };
    for block in 0..4 {
        let near = |ns: u64| ns + ns * u64::from(block) / 200;
        let mut one = figure(Direction::Write, 8 << 20, 20.0);
        one.operations = Some(1000);
        one.latency = Some(latency(near(write_ns)));
        one.commit = commit_ns.map(|ns| latency(near(ns)));
        let step = on_drives(step("safe", vec![one]), &[(0, 8 << 20)]);
        fixture.sample(stack, "safe", block, vec![step]);
    }
}

/// What a purpose for virtual machines reads of small synchronous writes.
fn durable_writes(fixture: &RunFixture) -> Criterion {
    let analysis = fixture.analyse();
    let stacks = stacks(&analysis.groups);
    let vm = PURPOSES.iter().find(|purpose| purpose.word == "vm").expect("a purpose");
    let (criteria, _) = super::criteria::criteria(
        &fixture.study,
        (&analysis.groups, &analysis.findings),
        vm,
        &stacks,
    );
    let named = |c: &Criterion| c.aspect.name == "small synchronous writes";
    criteria.into_iter().find(named).expect("an aspect")
}

#[test]
fn small_durable_writes_are_those_of_write_and_sync() {
    // The write alone is twice as quick, the commit half as quick.
    let mut fixture = fixture();
    committed(&mut fixture, "single/ext4", 512, Some(16_000_000));
    committed(&mut fixture, "single/btrfs", 256, Some(50_000_000));
    let criterion = durable_writes(&fixture);
    assert_eq!(criterion.measure, Measure::Latency(Percentile::P99));
    let first = |stack: usize| criterion.values[stack].values().next().copied().expect("a block");
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
    assert!(near(first(0), 16e6) && near(first(1), 50e6), "{criterion:?}");
    let analysis = fixture.analyse();
    assert!(analysis.groups.iter().all(|group| group.committed));
}

#[test]
fn a_write_without_its_sync_is_no_wait() {
    // As runs of before have it: their rate is right, their latency is not.
    let mut fixture = fixture();
    committed(&mut fixture, "single/ext4", 512, None);
    committed(&mut fixture, "single/btrfs", 256, None);
    assert_eq!(durable_writes(&fixture).measure, Measure::Iops);
}

#[test]
fn another_level_of_an_axis_may_have_another_stack_to_take() {
    use crate::versus::ComparedRun;
    let level = |of_btrfs: f64| {
        let mut fixture = fixture();
        all(&mut fixture, "single/ext4", 4.0, 1.0, 1.0);
        all(&mut fixture, "single/btrfs", of_btrfs, 1.0, 1.0);
        all(&mut fixture, "raid1/ext4", 3.0, 1.4, 1.0);
        all(&mut fixture, "raid1/btrfs", 1.5, 1.2, 1.0);
        fixture
    };
    let effect = |one: f64, other: f64| {
        let levels = [one, other].map(level);
        let sides = levels.each_ref().map(|fixture| {
            let cells: Vec<_> = fixture.cells.iter().map(|(record, _)| record.clone()).collect();
            (fixture, cells, fixture.analyse())
        });
        let [a, b] = sides.each_ref().map(|(fixture, cells, analysis)| {
            let (info, study) = (&fixture.info, &fixture.study);
            ComparedRun { info, study, cells, analysis }
        });
        crate::AxisEffect::of("memory", ("1GiB", &a), ("8GiB", &b)).expect("both were measured")
    };
    let found = effect(1.0, 9.0);
    assert_eq!(found.title(), "memory 8GiB against 1GiB");
    assert!(found.headline().starts_with("memory 8GiB against 1GiB: of "), "{}", found.headline());
    let changed: Vec<_> = found.changed().iter().map(|p| (&*p.stack, &*p.workload)).collect();
    assert_eq!(changed, [("single/btrfs", "safe")]);
    let expected = "With memory 8GiB, for databases, if no drive may fail: single/btrfs instead of \
                    single/ext4.";
    assert!(found.choices.iter().any(|choice| choice == expected), "{:?}", found.choices);
    assert!(
        !found.choices.iter().any(|choice| choice.contains("one drive")),
        "{:?}",
        found.choices
    );
    // Nothing is said where nothing else is to be taken, or what is taken is as good.
    assert_eq!(effect(1.0, 1.0).choices, [""; 0]);
    assert_eq!(effect(4.0, 4.1).choices, [""; 0]);
}

#[test]
fn reads_from_memory_decide_nothing() {
    let mut fixture = fixture();
    measured(&mut fixture, "raid1/ext4", "again", times(1e6, CALM));
    for block in 0..4 {
        let mut one = figure(Direction::Read, 60_000_000_000, 60.0);
        one.operations = Some(7_324_218);
        let step = on_drives(step("again", vec![one]), &[(0, 0)]);
        fixture.sample("raid1/btrfs", "again", block, vec![step]);
    }
    let all = fixture.analyse().recommendations;
    let vm = all.into_iter().find(|r| r.purpose.word == "vm").expect("a purpose");
    assert_eq!(of_class(&vm, 1).take, "raid1/ext4");
    assert!(vm.scores.iter().all(|score| score.stack != "raid1/btrfs"), "{:?}", vm.scores);
}

#[test]
fn the_cost_of_space_is_neither_all_nor_endless() {
    let cost = |times: f64| {
        let stack = String::new();
        Trade { stack, more_bytes: 1, times, is_as_good: false, is_significant: true }.cost()
    };
    let shown = [0.0004, 0.5, 1.0, 2.5, 4000.0].map(cost);
    let expected =
        [">99 % less", "50 % less", "the same speed", "150 % more", "4000 times as much"];
    assert_eq!(shown, expected);
    let next = |times: f64| {
        NextBest { stack: String::new(), times, ahead: 1, by_deciding: true, repeats: 1 }
            .times_short()
    };
    assert_eq!(next(0.04).as_deref(), Some("0.040x"));
    assert_eq!(next(1.84).as_deref(), Some("1.8x"));
}
