//! No sentence of a finished page, post or terminal screen can be refuted with the run's own
//! samples; one that was changed can.

use disklab_cell::{Cell, Levels, LossTree};
use disklab_decision::{Analyser, FailureSamples, RiskTerms};
use disklab_report::{Report, ReportFormat, TextStyle, first_screen, render};
use disklab_sample::{
    Direction, DrivePass, DriveTraffic, Figure, OperationKind, PassWindow, Sample, Step,
    StepProfile, Task,
};
use disklab_store::{CellRecord, CellState};
use disklab_study::PlannedStack;
use proptest::prelude::*;

use crate::reader::{Card, Medium, refute};
use crate::support;

/// Layouts, how many drives they may lose, and bytes that they store.
const LAYOUTS: [(&str, u32, u64); 6] = [
    ("raid0", 0, 40_000_000_000_000),
    ("raid1", 3, 10_000_000_000_000),
    ("raid5", 1, 30_000_000_000_000),
    ("raid6", 2, 20_000_000_000_000),
    ("raid10", 1, 20_000_000_000_000),
    ("linear", 0, 40_000_000_000_000),
];
const FILE_SYSTEMS: [&str; 10] =
    ["ext4", "xfs", "btrfs", "f2fs", "jfs", "nilfs2", "reiser4", "ext3", "ext2", "bcachefs"];
const WORK: [(&str, Direction, Task); 2] = [
    ("read-1m", Direction::Read, Task::LargeRead),
    ("write-1m", Direction::Write, Task::LargeWrite),
];

fn step(workload: &str, direction: Direction, task: Task, rate: f64) -> Step {
    let figure = Figure {
        direction,
        bytes: 1 << 30,
        operations: Some(1 << 10),
        elapsed_ns: ((1_u64 << 30) as f64 / rate * 1e9) as u64,
        bytes_per_second: Some(rate),
        operations_per_second: Some(rate / 1_048_576.0),
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    };
    let profile = StepProfile { task: Some(task), ..StepProfile::default() };
    Step {
        name: workload.to_owned(),
        figures: vec![figure],
        profile: Some(profile),
        elapsed_ns: 1_000_000_000,
        ..Step::default()
    }
}

fn study(repeats: usize) -> String {
    let layouts = LAYOUTS.map(|(id, ..)| format!("{id} = \"md-{id}\"\n"));
    let systems = FILE_SYSTEMS.map(|id| format!("{id} = \"ext4\"\n"));
    let work =
        WORK.map(|(id, ..)| format!("[[workloads]]\nid = \"{id}\"\nfio = {{ rw = \"read\" }}\n"));
    format!(
        "id = \"made\"\ntitle = \"Made\"\nrepeats = {}\nbaseline = \"raid0/ext4\"\n[[drives]]\n\
         model = \"hdn721010ale604\"\nname = \"hgst\"\ncount = 4\nsize = \"10 TB\"\n\
         [layouts]\n{}[file-systems]\n{}{}",
        repeats,
        layouts.concat(),
        systems.concat(),
        work.concat(),
    )
}

/// A run of the first stacks: `rates` are their MB/s in each work, `scatter` that of each block.
pub fn run(stacks: usize, rates: &[[f64; 2]], scatter: &[f64]) -> Report {
    run_of(stacks, rates, scatter, &|_, _, _, step| Some(step))
}

/// What becomes of a step of a stack, by its number, in a workload and a block; none if it fails.
type StepChange<'a> = &'a dyn Fn(u32, &str, usize, Step) -> Option<Step>;

fn run_of(stacks: usize, rates: &[[f64; 2]], scatter: &[f64], altered: StepChange<'_>) -> Report {
    let mut report = support::made(1, 1, "lab", 1);
    let all = FILE_SYSTEMS.iter().flat_map(|fs| LAYOUTS.iter().map(move |l| (*l, *fs)));
    let stacks: Vec<_> = all.take(stacks).collect();
    report.study = disklab_study::load("made.toml", &study(scatter.len())).expect("a study");
    report.info.repeats = scatter.len() as u32;
    report.info.scale = 1.0;
    report.info.stacks = stacks
        .iter()
        .map(|((layout, tolerates, capacity), fs)| PlannedStack {
            id: format!("{layout}/{fs}"),
            layers: Vec::new(),
            drives: (1..=4).map(|n| format!("hgst-{n}")).collect(),
            capacity: *capacity,
            tolerates: *tolerates,
            loss: Some(lost(layout, *tolerates)),
            copies: layout.starts_with("raid1"),
        })
        .collect();
    let mut analyser = Analyser::new(report.study.clone(), report.info.clone());
    report.cells.clear();
    for (block, shift) in scatter.iter().enumerate() {
        for ((stack, rates), n) in report.info.stacks.iter().zip(rates).zip(0_u32..) {
            for ((workload, direction, task), rate) in WORK.into_iter().zip(rates) {
                let number = report.cells.len() as u32;
                let levels = Levels::new(stack.id.clone(), workload);
                let cell = Cell { number, block: block as u32, levels, seed: 1 };
                // Each stack has its own luck in each block.
                let luck = 1.0 + shift * f64::from((n * 7 + block as u32 * 3 + number) % 5);
                let step = step(workload, direction, task, rate * 1e6 * luck);
                let step = altered(n, workload, block, step);
                let (state, error) = match step {
                    Some(_) => (CellState::Done, None),
                    None => (CellState::Failed, Some("no space".to_owned())),
                };
                let record = CellRecord { error, ..CellRecord::new(cell, state) };
                match step {
                    Some(step) => {
                        analyser.add(&record, Sample { steps: vec![step], ..Sample::default() });
                    }
                    None => analyser.add_unfinished(&record),
                }
                report.cells.push(record);
            }
        }
    }
    report.analysis = analyser.finish();
    let mut failures = FailureSamples::default();
    // Of every other stack that can be rebuilt it was measured how long that takes.
    for stack in report.info.stacks.iter().filter(|stack| stack.tolerates > 0).step_by(2) {
        for repeat in 0..3 {
            failures.add(&stack.id, &rebuilt(16 + repeat + u64::from(stack.tolerates)));
        }
    }
    report.failures = failures.finish(&report.info, &report.study, RiskTerms::default());
    report
}

fn lost(layout: &str, tolerates: u32) -> LossTree {
    let drives = [0, 1, 2, 3].map(LossTree::Drive);
    match layout {
        "raid10" => LossTree::neighbours(2, 2, 10_000_000_000_000, &drives),
        _ => LossTree::parts(tolerates, 10_000_000_000_000, drives.to_vec()),
    }
}

/// A rebuild of so many hours.
fn rebuilt(hours: u64) -> Sample {
    let window = PassWindow {
        stands_for: hours * 3600 * 100_000_000,
        at: 0,
        bytes: 100_000_000,
        elapsed_ns: 1_000_000_000,
        limit: Some(205e6),
        busy: vec![0.9, 0.4, 0.4, 0.4],
    };
    let rebuild = DrivePass { drive: "hgst-1".to_owned(), windows: vec![window] };
    let step = Step { name: "rebuilding".to_owned(), rebuild: Some(rebuild), ..Step::default() };
    Sample { steps: vec![step], ..Sample::default() }
}

/// The run's JSON, and what people read.
fn texts(report: &Report) -> (String, Vec<(Medium, String)>) {
    let screen = first_screen(report, "page", TextStyle { verbose: true, ..TextStyle::default() });
    let all = vec![
        (Medium::Page, render(report, ReportFormat::Html)),
        (Medium::Post, render(report, ReportFormat::Markdown)),
        (Medium::Terminal, screen),
    ];
    (render(report, ReportFormat::Json), all)
}

fn refuted(json: &str, texts: &[(Medium, String)]) -> Vec<String> {
    let texts: Vec<(Medium, &str)> = texts.iter().map(|(m, text)| (*m, text.as_str())).collect();
    refute(json, &texts)
}

/// One text at a time with one word or digit of an answer replaced by what is not so.
fn changed(medium: Medium, text: &str, card: &Card, other: &str, digit: u32) -> Vec<String> {
    let at = |part: &str, with: &str| {
        let begin = text.find(&card.take).unwrap_or(0);
        let begin = begin - text[..begin].chars().rev().take(60).map(char::len_utf8).sum::<usize>();
        let found = text[begin..].find(part)? + begin;
        Some(format!("{}{with}{}", &text[..found], &text[found + part.len()..]))
    };
    let wrong_digit = |value: &str| {
        let (first, rest) = value.split_at(1);
        let digit = (first.parse::<u32>().unwrap_or(0) + digit - 1) % 9 + 1;
        format!("{digit}{rest}")
    };
    let mut all = vec![at(&card.take, other)];
    all.extend(card.values.first().map(|value| at(value, &wrong_digit(value))));
    all.push(at(&card.usable, &wrong_digit(&card.usable)));
    if medium != Medium::Terminal {
        let class = if card.class.starts_with("One") {
            "Two drives may fail"
        } else {
            "One drive may fail"
        };
        all.push(Some(text.replace(&card.class, class)));
    }
    all.into_iter().flatten().filter(|changed| changed != text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_printed_holds_and_what_is_changed_does_not(
        rates in prop::collection::vec([50.0_f64..600.0, 50.0_f64..600.0], 24),
        stacks in prop::sample::select(vec![1_usize, 2, 5, 12, 24]),
        scatter in prop::collection::vec(0.0_f64..0.02, 3..8),
        digit in 1_u32..8, which: prop::sample::Index,
    ) {
        let report = run(stacks, &rates, &scatter);
        let (json, texts) = texts(&report);
        let wrong = refuted(&json, &texts);
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        for (n, (medium, text)) in texts.iter().enumerate() {
            let cards = medium.cards(text);
            prop_assert!(stacks < 2 || !cards.is_empty(), "{medium:?} has no answers:\n{text}");
            // The first of a text: a change is made where it is found first.
            let Some(card) = cards.first() else { continue };
            let others: Vec<&str> = ["RAID 0 · ext4", "RAID 5 · ext4", "RAID 1 · Btrfs", "RAID 6 · XFS"]
                .into_iter().filter(|label| *label != card.take).collect();
            for changed in changed(*medium, text, card, others[which.index(others.len())], digit) {
                let mut with = texts.clone();
                with[n].1 = changed;
                prop_assert!(!refuted(&json, &with).is_empty(), "{medium:?} may say:\n{}", with[n].1);
            }
        }
    }
}

#[test]
fn sentences_are_refuted_by_the_samples() {
    let rates = [300.0, 260.0, 220.0, 180.0, 140.0].map(|rate| [rate, 200.0]);
    let (json, texts) = texts(&run(5, &rates, &[0.0, 0.002, 0.001, 0.003, 0.001, 0.002]));
    assert_eq!(refuted(&json, &texts), [""; 0]);
    let page = &texts[0].1;
    for (word, instead) in [
        (" slower than ", " faster than "),
        ("raid0/ext4 is the fastest of", "raid1/ext4 is the fastest of"),
        (" reaches 2", " reaches 7"),
        ("it is 1.57 times", "it is 2.57 times"),
        (" against 140 MB/s", " against 120 MB/s"),
        ("as good as raid10/ext4: ", "as good as raid6/ext4: "),
    ] {
        assert!(page.contains(word), "{word}");
        let changed = page.replacen(word, instead, 1);
        assert!(!refute(&json, &[(Medium::Page, &changed)]).is_empty(), "{instead}");
    }
}

#[test]
fn the_table_of_stacks_and_purposes_is_refuted_by_the_samples() {
    let rates = [300.0, 260.0, 220.0, 180.0, 140.0].map(|rate| [rate, 200.0]);
    let (json, texts) = texts(&run(5, &rates, &[0.0, 0.002, 0.001, 0.003, 0.001, 0.002]));
    let page = &texts[0].1;
    let (before, table) = page.split_once("<table class=\"matrix").expect("a table");
    for (word, instead) in [
        (">0.73<", ">0.93<"),
        ("behind in what decides: 0.6", "behind in what decides: 0.8"),
        ("behind by all that counts: 0.8", "behind by all that counts: 1.8"),
        ("\"taken", "\"as good"),
        (">best<", ">0.50<"),
        ("10 TB", "20 TB"),
    ] {
        assert!(table.contains(word), "{word}: {table}");
        let changed = format!("{before}<table class=\"matrix{}", table.replacen(word, instead, 1));
        assert!(!refute(&json, &[(Medium::Page, &changed)]).is_empty(), "{instead}");
    }
}

#[test]
fn equal_figures_have_no_ends() {
    let (json, texts) = texts(&run(5, &[[300.0, 200.0]; 5], &[0.0]));
    assert_eq!(refuted(&json, &texts), [""; 0]);
    let page = &texts[0].1;
    let changed = page.replacen("all 5 figures are 200 MB/s", "all 5 figures are 300 MB/s", 1);
    assert!(changed != *page, "{page}");
    assert!(!refute(&json, &[(Medium::Page, &changed)]).is_empty());
}

#[test]
fn the_ends_of_what_was_measured_once_are_refuted() {
    let rates = [300.0, 260.0, 220.0, 180.0, 140.0].map(|rate| [rate, 200.0 + rate]);
    let (json, texts) = texts(&run(5, &rates, &[0.0]));
    assert_eq!(refuted(&json, &texts), [""; 0]);
    let page = &texts[0].1;
    for (word, instead) in [
        ("the highest raid0/ext4's", "the highest raid1/ext4's"),
        ("figures is raid10/ext4's", "figures is raid6/ext4's"),
        ("figures is raid10/ext4's 1", "figures is raid10/ext4's 2"),
    ] {
        assert!(page.contains(word), "{word}");
        let changed = page.replacen(word, instead, 1);
        assert!(!refute(&json, &[(Medium::Page, &changed)]).is_empty(), "{instead}");
    }
}

/// What drives moved: mirrors read from one of them, and more is written than was asked for.
fn moved(n: u32, workload: &str, block: usize, mut step: Step) -> Option<Step> {
    if (n, workload, block) == (2, "write-1m", 1) {
        return None;
    }
    let drive = |number: u64| {
        let (read, written) = match workload {
            "read-1m" => ((1 << 30) / 50 * if number == 0 { 49 } else { 1 }, 0),
            _ => (0, (1 << 30) * (2 + u64::from(n))),
        };
        let drive = format!("hgst-{}", number + 1);
        DriveTraffic { drive, read_bytes: read, write_bytes: written, ..DriveTraffic::default() }
    };
    step.drives = (0..2).map(drive).collect();
    // One repeat met something else.
    if (n, block) == (1, 3) {
        let figure = &mut step.figures[0];
        figure.elapsed_ns /= 2;
        figure.bytes_per_second = figure.bytes_per_second.map(|rate| rate * 2.0);
        figure.operations_per_second = figure.operations_per_second.map(|rate| rate * 2.0);
    }
    Some(step)
}

#[test]
fn findings_are_refuted_by_the_samples() {
    let scatter = [0.0, 0.002, 0.001, 0.003, 0.001, 0.002, 0.001, 0.002];
    let rates = [300.0, 260.0, 220.0, 180.0, 140.0].map(|rate| [rate, 200.0]);
    let mut report = run_of(5, &rates, &scatter, &moved);
    let (json, all) = texts(&report);
    assert_eq!(refuted(&json, &all), [""; 0]);
    let findings = report.analysis.findings.clone();
    for (audit, said, instead) in [
        ("failed-cells", "1 cell failed", "3 cells failed"),
        ("outlier", "2.0 times the median", "3.0 times the median"),
        ("outlier", "raid1/ext4 in block 4", "raid1/ext4 in block 5"),
        ("outlier", "with raid1/ext4 in", "with raid6/ext4 in"),
        ("one-mirror-read", "98 % of what", "91 % of what"),
        ("write-amplification", "4.0 to 12", "4.0 to 15"),
        ("write-amplification", "4.0 to 12", "4.5 to 12"),
        ("write-amplification", "with raid0/ext4, raid1/ext4", "with raid0/ext4, raid0/ext4"),
    ] {
        let index = findings.iter().position(|f| f.audit == audit && f.text.contains(said));
        let index = index.unwrap_or_else(|| panic!("no '{said}' in {findings:#?}"));
        // As if the audit itself had said so: all texts agree.
        report.analysis.findings[index].text = findings[index].text.replacen(said, instead, 1);
        let (json, changed) = texts(&report);
        assert!(!refuted(&json, &changed).is_empty(), "{}", report.analysis.findings[index].text);
        report.analysis.findings.clone_from(&findings);
        // As if one text alone said so.
        let mut one = all.clone();
        one[0].1 = one[0].1.replace(said, instead);
        assert!(one[0].1 == all[0].1 || !refuted(&json, &one).is_empty(), "{instead}");
    }
}
