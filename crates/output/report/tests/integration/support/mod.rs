//! A made-up run that looks like a real one: 9 layouts × 4 file systems × 14
//! workloads, as in the study 'synology-2018'.

mod run;

use std::fmt::Write as _;

use disklab_audits::{DriveBytes, Finding, Group, GroupKey, LatencySummary, Observation, Severity};
use disklab_cell::Levels;
use disklab_comparisons::{Answer, Comparison, ComparisonOutcome, Point};
use disklab_decision::Analysis;
use disklab_report::{Collector, Report};
use disklab_sample::{Direction, LatencyHistogram, Order, Requests, StepProfile, TimeIn};
use disklab_stats::{Estimate, Interval, Method};
use disklab_store::{CellState, Session};
use disklab_study::{ChartKind, Measure, Percentile, Question, Study};

/// Layouts and how many times faster than one disk they read.
const LAYOUTS: [(&str, f64); 9] = [
    ("single", 1.0),
    ("jbod", 1.02),
    ("raid0", 1.7),
    ("raid1", 0.97),
    ("raid10", 1.4),
    ("raid5", 1.5),
    ("shr", 1.48),
    ("raid6", 1.3),
    ("shr2", 1.29),
];

/// File systems and how fast they are, next to ext4.
const FILE_SYSTEMS: [(&str, f64); 4] =
    [("ext4", 1.0), ("btrfs", 0.93), ("btrfs[csum]", 0.71), ("btrfs[csum,compress]", 0.74)];

const BLOCKS: [(&str, f64); 6] =
    [("512", 512.0), ("4K", 4096.0), ("128K", 131e3), ("1M", 1e6), ("128M", 134e6), ("1G", 1e9)];

/// Numbers that look random and are the same each time.
struct Noise(u64);

impl Noise {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1_u32 << 24)
    }

    /// About 1, by at most `share`.
    fn about_one(&mut self, share: f64) -> f64 {
        1.0 + share * (2.0 * self.next() - 1.0)
    }
}

/// The study's text.
fn study_text(layouts: usize, file_systems: usize) -> String {
    let mut text = String::from(
        "id = \"synology-2018\"\ntitle = \"ext4 or Btrfs, and which RAID type, on a 4-disk NAS?\"\n\
         about = \"\"\"After a study published in 2018.\nIts figures were measured once; here each \
         is measured three times.\"\"\"\n\
         repeats = 3\nbaseline = \"single/ext4\"\n\
         [[drives]]\nmodel = \"hdn721010ale604\"\nname = \"hgst\"\ncount = 4\nsize = \"10 TB\"\n\
         [layouts]\n",
    );
    for (layout, _) in &LAYOUTS[..layouts] {
        let _ = writeln!(text, "{layout} = \"md-{layout}\"");
    }
    text.push_str("[file-systems]\n");
    for (name, _) in &FILE_SYSTEMS[..file_systems] {
        let _ = writeln!(text, "\"{name}\" = \"{}\"", name.split('[').next().unwrap_or(name));
    }
    for (id, _, _, _) in FIO {
        let _ = writeln!(text, "[[workloads]]\nid = \"{id}\"\nfio = {{ rw = \"{id}\" }}");
    }
    for (bs, _) in BLOCKS {
        let _ = writeln!(text, "[[workloads]]\nid = \"dd-write-{bs}\"\ndd = {{ bs = \"{bs}\" }}");
    }
    text
}

/// fio workloads: id, direction, bytes per second on one disk, block size.
const FIO: [(&str, Direction, f64, f64); 8] = [
    ("read-1M", Direction::Read, 180e6, 1e6),
    ("write-1M", Direction::Write, 170e6, 1e6),
    ("randread-1M", Direction::Read, 72e6, 1e6),
    ("randwrite-1M", Direction::Write, 81e6, 1e6),
    ("read-4K", Direction::Read, 36e6, 4096.0),
    ("write-4K", Direction::Write, 12e6, 4096.0),
    ("randread-4K", Direction::Read, 0.7e6, 4096.0),
    ("randwrite-4K", Direction::Write, 1.1e6, 4096.0),
];

/// A report on the made-up run, with `repeats` repeats.
pub fn report(bench: &str, repeats: u32) -> Report {
    made(LAYOUTS.len(), FILE_SYSTEMS.len(), bench, repeats)
}

/// A report on the first few layouts and file systems.
pub fn made(layouts: usize, file_systems: usize, bench: &str, repeats: u32) -> Report {
    let text = study_text(layouts, file_systems);
    let study = disklab_study::load("studies/synology-2018.toml", &text).expect("the study");
    let mut noise = Noise(7);
    let mut groups = Vec::new();
    for stack in &study.stacks {
        let layout = LAYOUTS.iter().find(|(l, _)| *l == stack.layout).expect("a layout").1;
        let fs = FILE_SYSTEMS.iter().find(|(f, _)| *f == stack.file_system).expect("one").1;
        for (id, direction, speed, block) in FIO {
            let speed = speed * layout * fs;
            groups.push(group(&mut noise, (&stack.id, id), (direction, speed, block), repeats));
        }
        for (bs, block) in BLOCKS {
            let speed = layout * fs.powf(3.0) * 160e6 * block / (block + 5.4e6);
            let work = (Direction::Write, speed, block);
            let id = format!("dd-write-{bs}");
            groups.push(group(&mut noise, (&stack.id, &id), work, repeats));
        }
    }
    let info = run::info(bench, &text, &study, repeats);
    let cells = run::cells(&study, repeats);
    let mut collector = Collector::default();
    for record in cells.iter().filter(|c| c.state == CellState::Done) {
        collector.add(record, &run::sample(&mut noise, record));
    }
    let facts = collector.finish(&info, &study);
    let mut analysis = analysis(&study, groups);
    let command = ["disklab", "run", "synology-2018", "--on", bench, "--budget", "3h"];
    let session = Session {
        began: info.created,
        command: command.map(str::to_owned).to_vec(),
        disklab: info.disklab.clone(),
        kernel: info.environment.kernel.clone(),
    };
    let published = None;
    analysis.recommendations =
        disklab_decision::recommend(&study, &info, &analysis.groups, &analysis.findings);
    let terms = disklab_decision::RiskTerms::default();
    let failures = disklab_decision::FailureSamples::default().finish(&info, &study, terms);
    Report {
        info,
        cells,
        outputs: Default::default(),
        at: Default::default(),
        effects: Vec::new(),
        sessions: vec![session],
        study,
        analysis,
        facts,
        published,
        campaign: None,
        failures,
    }
}

fn group(
    noise: &mut Noise,
    (stack, workload): (&str, &str),
    (direction, speed, block): (Direction, f64, f64),
    repeats: u32,
) -> Group {
    let mut merged = LatencyHistogram::new();
    let observations = (0..repeats)
        .map(|repeat| {
            let throughput = speed * noise.about_one(0.06);
            let mut histogram = LatencyHistogram::new();
            let typical = block / throughput * 1e9;
            for _ in 0..1500 {
                let tail = 1.0 + 0.02 / (1.0 - noise.next() + 1e-4);
                histogram.record((typical * tail * noise.about_one(0.4)) as u64, 1);
            }
            merged.merge(&histogram);
            let bytes = 256 << 20;
            let writes = direction == Direction::Write;
            let moved = |share: f64| (bytes as f64 * share) as u64;
            let (read, written) = if writes { (moved(0.4), moved(1.35)) } else { (moved(1.0), 0) };
            Observation {
                missed: None,
                committed: false,
                operations: Some((bytes as f64 / block) as u64),
                cell: repeat,
                block: repeat,
                throughput: Some(throughput),
                iops: Some(throughput / block),
                elapsed: bytes as f64 / throughput,
                latency: Some(LatencySummary::new(&histogram)),
                bytes,
                drive_read: read,
                drive_write: written,
                drives: (1..=4)
                    .map(|n| DriveBytes {
                        drive: format!("hgst-{n}"),
                        read: read / 4,
                        written: written / 4,
                    })
                    .collect(),
                memory_reads: None,
                cpu_seconds: 1.5,
            }
        })
        .collect();
    let key = GroupKey {
        levels: Levels::new(stack, workload),
        step: workload.to_owned(),
        direction,
        part: Default::default(),
    };
    let operation = disklab_sample::OperationKind::Io;
    let profile = Some(profile(workload, direction));
    Group { key, observations, latency: Some(merged), operation, committed: false, profile }
}

/// What a workload of the study does: fio jobs have blocks of 4 KiB, whatever their names say.
fn profile(workload: &str, direction: Direction) -> StepProfile {
    let block = workload.strip_prefix("dd-write-");
    let size = block.map_or(4096, |bs| bs.parse::<disklab_units::Bytes>().expect("a size").0);
    let order = match workload.starts_with("rand") {
        true => Order::Random,
        false => Order::Sequential,
    };
    let requests = Some(Requests::of_size(size, order));
    let writes = direction == Direction::Write;
    StepProfile {
        reads: requests.filter(|_| !writes),
        writes: requests.filter(|_| writes),
        time_in: Some(if writes { TimeIn::Writes } else { TimeIn::Reads }),
        stream: block.is_some(),
        ..StepProfile::default()
    }
}

fn question(
    ask: &str,
    workloads: &[&str],
    measure: Measure,
    chart: ChartKind,
) -> (Question, Measure) {
    let question = Question {
        ask: ask.to_owned(),
        workloads: workloads.iter().map(|w| (*w).to_owned()).collect(),
        stacks: Vec::new(),
        measure: Some(measure),
        part: Default::default(),
        chart,
        baseline: Some("single/ext4".to_owned()),
    };
    (question, measure)
}

fn analysis(study: &Study, groups: Vec<Group>) -> Analysis {
    let over = || ChartKind::LinesOver("bs".to_owned());
    let questions = [
        question(
            "How fast are large files read?",
            &["read-1M"],
            Measure::Throughput,
            ChartKind::Bars,
        ),
        question(
            "How fast are large files written?",
            &["write-1M"],
            Measure::Throughput,
            ChartKind::Bars,
        ),
        question(
            "How many small blocks can be read and written at random places?",
            &["randread-4K", "randwrite-4K"],
            Measure::Iops,
            ChartKind::Bars,
        ),
        question("What do safe writes cost?", &["dd-write-*"], Measure::Throughput, over()),
        question(
            "How long do small random reads take?",
            &["randread-4K"],
            Measure::Latency(Percentile::P99),
            ChartKind::Distribution,
        ),
    ];
    let mut answers: Vec<Answer> =
        questions.into_iter().map(|(q, m)| answer(study, &groups, q, m)).collect();
    // The same over few stacks.
    let few = ["single/ext4", "single/btrfs", "raid5/ext4", "raid5/btrfs"];
    for (workloads, measure, chart) in [
        ("dd-write-*", Measure::Throughput, over()),
        ("randread-4K", Measure::Latency(Percentile::P99), ChartKind::Distribution),
    ] {
        let (mut q, m) = question("And with few stacks?", &[workloads], measure, chart);
        q.stacks = few.map(str::to_owned).to_vec();
        answers.push(answer(study, &groups, q, m));
    }
    let finding = |severity, audit, text: &str, advice: &str, groups| Finding {
        audit,
        severity,
        text: text.to_owned(),
        advice: advice.to_owned(),
        groups,
    };
    let sentences = [
        "raid0/ext4 is fastest: 1.70× (1.62–1.79) of single/ext4.",
        "btrfs[csum] is slower than ext4 on every layout.",
    ];
    Analysis {
        recommendations: Vec::new(),
        groups,
        sentences: vec![sentences.map(str::to_owned).to_vec(); answers.len()],
        answers,
        findings: vec![
            finding(
                Severity::Severe,
                "zeros-compressed",
                "dd-write-1M wrote zeros to single/btrfs[csum,compress]: 256 MiB were asked for, \
                 the drives wrote 11 MiB. The figure says how fast zeros are compressed.",
                "Write data that cannot be compressed: fio with refill_buffers, or dd from a file \
                 of random data.",
                vec![45],
            ),
            finding(
                Severity::Warning,
                "few-repeats",
                "Three repeats cannot show differences below about 12 %.",
                "Run with --repeats 6 to halve the intervals.",
                Vec::new(),
            ),
            finding(
                Severity::Warning,
                "spread",
                "raid5/ext4, randread-4K: the repeats differ by 11 %.",
                "Look at the foreign I/O of the cells.",
                (0..groups_of("randread-4K")).collect(),
            ),
            finding(Severity::Note, "order", "No drift over the run was seen.", "", Vec::new()),
        ],
        summary: [
            "Btrfs with checksums writes large files at 0.71× (0.67–0.75) of ext4's throughput on a single disk.",
            "RAID 0 over four disks reads large files 1.70× (1.63–1.78) as fast as one disk, not four times.",
            "For 512-byte safe writes, Btrfs reaches 0.80× (0.74–0.87) of ext4 on RAID 5.",
            "Between RAID 5 and SHR no difference was found: 0.99× (0.95–1.03), level.",
        ]
        .map(str::to_owned)
        .to_vec(),
    }
}

fn groups_of(workload: &str) -> usize {
    workload.len()
}

fn answer(study: &Study, groups: &[Group], question: Question, measure: Measure) -> Answer {
    let several = question.workloads.len() > 1;
    let mut points = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let key = &group.key;
        let asks = |patterns: &[String], id: &str| {
            patterns.is_empty() || patterns.iter().any(|p| disklab_study::matches(p, id))
        };
        if !asks(&question.workloads, &key.levels.workload)
            || !asks(&question.stacks, &key.levels.stack)
        {
            continue;
        }
        let spec = &study.stacks[study.stack_index(&key.levels.stack).expect("a stack")];
        let is_line = matches!(question.chart, ChartKind::LinesOver(_));
        points.push(Point {
            group: index,
            layout: spec.layout.clone(),
            file_system: spec.file_system.clone(),
            figure: if several { key.levels.workload.clone() } else { String::new() },
            x: is_line.then(|| key.levels.workload.trim_start_matches("dd-write-").to_owned()),
            estimate: estimate(group, measure),
        });
    }
    let baseline = |p: &Point| {
        points.iter().find(|b| {
            b.figure == p.figure && b.x == p.x && groups[b.group].key.levels.stack == "single/ext4"
        })
    };
    let comparisons = points
        .iter()
        .filter_map(|p| {
            let b = baseline(p).filter(|b| b.group != p.group)?;
            let ratio = p.estimate.centre / b.estimate.centre;
            let once = p.estimate.n < 2;
            Some(Comparison {
                stack: groups[p.group].key.levels.stack.clone(),
                baseline: "single/ext4".to_owned(),
                group: p.group,
                baseline_group: b.group,
                figure: p.figure.clone(),
                x: p.x.clone(),
                pairs: p.estimate.n,
                ratio,
                interval: (!once).then_some(Interval {
                    low: ratio * 0.95,
                    high: ratio * 1.05,
                    confidence: 0.95,
                }),
                p: (!once).then_some(0.01),
                outcome: match ratio {
                    _ if once => ComparisonOutcome::Once,
                    r if r > 1.05 => ComparisonOutcome::Better,
                    r if r < 0.95 => ComparisonOutcome::Worse,
                    _ => ComparisonOutcome::Inconclusive,
                },
            })
        })
        .collect();
    Answer {
        question,
        measure,
        operation: disklab_sample::OperationKind::Io,
        committed: false,
        covered: points.iter().map(|p| p.group).collect(),
        points,
        comparisons,
        looks: 1,
        by_study: true,
    }
}

fn estimate(group: &Group, measure: Measure) -> Estimate {
    let values: Vec<f64> = group.values(measure).collect();
    let n = values.len();
    let centre = values.iter().sum::<f64>() / n as f64;
    let spread = values.iter().map(|v| (v - centre).abs()).fold(0.0, f64::max) * 1.5;
    let interval = Interval { low: centre - spread, high: centre + spread, confidence: 0.95 };
    match n {
        1 => Estimate { n, centre, interval: None, method: Method::Once },
        _ => Estimate { n, centre, interval: Some(interval), method: Method::LogT },
    }
}
