//! What a run says as a whole.

use std::collections::HashSet;

use disklab_audits::{Finding, Group, SuspectGroups, describe};
use disklab_comparisons::{Answer, Comparison, ComparisonOutcome, Lead, StandingClaims, leads};
use disklab_stats::CONFIDENCE;
use disklab_study::{Part, Study};
use disklab_units::{count, list};

use crate::contradictions::{mixed, severe};
use crate::sentences::{AnswerWriter, strength};

/// Sentences of comparisons, and as many of leads.
const SENTENCES: usize = 8;
/// Before others have had their turn, one question has this many.
const OF_ONE_QUESTION: usize = 2;
/// Names in a list.
const NAMES: usize = 4;

/// The summary: the strongest comparisons over all questions, which is significantly
/// fastest, then what makes no difference, what is inconclusive and what is suspect.
pub(crate) fn summary(
    study: &Study,
    groups: &[Group],
    answers: &[Answer],
    findings: &[Finding],
) -> Vec<String> {
    let suspicions = SuspectGroups::of(findings);
    let (asked, others): (Vec<&Answer>, Vec<&Answer>) = answers.iter().partition(|a| a.by_study);
    let writer = |answer| AnswerWriter { study, groups, suspicions: &suspicions, answer };
    let writers: Vec<AnswerWriter<'_>> = asked.iter().copied().map(writer).collect();
    let screen = StandingClaims::of(groups, &asked);
    let chosen = strongest(&writers, &screen);
    let mut last = String::new();
    let mut all: Vec<String> =
        chosen.iter().filter_map(|(t, c)| writers[*t].difference_after(&mut last, c)).collect();
    all.extend(fastest(&writers, &chosen, &screen));
    let sure = comparisons(&writers, &[ComparisonOutcome::Better, ComparisonOutcome::Worse])
        .filter(|(t, c)| !is_suspect(&writers[*t], c));
    all.extend(mixed(&writers, sure, &screen));
    all.extend(level(&writers));
    all.extend(open(&writers));
    all.extend(once(&asked));
    all.extend(fallen(&writers, &screen));
    all.extend(suspect(&writers));
    let decides =
        [ComparisonOutcome::Better, ComparisonOutcome::Worse, ComparisonOutcome::Equivalent];
    if comparisons(&writers, &decides).next().is_none() {
        all.extend(writers.iter().flat_map(AnswerWriter::bare_figures).take(SENTENCES));
    }
    all.extend(unasked(study, &others));
    all.extend(shared(&writers, findings));
    all.extend(severe(findings, &all));
    all
}

fn comparisons<'a>(
    writers: &'a [AnswerWriter<'_>],
    outcomes: &'a [ComparisonOutcome],
) -> impl Iterator<Item = (usize, &'a Comparison)> {
    writers
        .iter()
        .enumerate()
        .flat_map(|(t, writer)| writer.answer.comparisons.iter().map(move |c| (t, c)))
        .filter(move |(_, c)| outcomes.contains(&c.outcome))
}

fn is_suspect(writer: &AnswerWriter<'_>, comparison: &Comparison) -> bool {
    !writer.suspicions.about(&[comparison.group, comparison.baseline_group]).is_empty()
}

/// The strongest differences without doubt that stand among all of the run, at first no more than two of one
/// question and one of one stack there; then whatever is left, if there is room.
fn strongest<'a>(
    writers: &'a [AnswerWriter<'_>],
    screen: &StandingClaims,
) -> Vec<(usize, &'a Comparison)> {
    let mut sure: Vec<(usize, &Comparison)> =
        comparisons(writers, &[ComparisonOutcome::Better, ComparisonOutcome::Worse])
            .filter(|(t, c)| !is_suspect(&writers[*t], c))
            .filter(|(t, c)| screen.stands(writers[*t].answer.measure, c))
            .collect();
    // The same figures may answer several questions, by one measure or another.
    let mut seen = HashSet::new();
    sure.retain(|(_, c)| seen.insert((c.group, c.baseline_group)));
    let by_strength = |a: &(usize, &Comparison), b: &(usize, &Comparison)| {
        strength(b.1.interval).total_cmp(&strength(a.1.interval))
    };
    sure.sort_by(by_strength);
    let mut chosen: Vec<(usize, &Comparison)> = Vec::new();
    let mut rest = Vec::new();
    for candidate in sure {
        let (writer, comparison) = candidate;
        let of_question = chosen.iter().filter(|(t, _)| *t == writer);
        let room = of_question.clone().count() < OF_ONE_QUESTION
            && !of_question.clone().any(|(_, c)| c.stack == comparison.stack);
        if room && chosen.len() < SENTENCES { chosen.push(candidate) } else { rest.push(candidate) }
    }
    let left = SENTENCES.saturating_sub(chosen.len());
    chosen.extend(rest.into_iter().take(left));
    chosen.sort_by(by_strength);
    chosen
}

/// The significantly fastest, strongest first, where no comparison told it already. Each
/// counts as one of all questions (Bonferroni), unless its answer compares the two: then it
/// stands or falls with that comparison.
fn fastest(
    writers: &[AnswerWriter<'_>],
    compared: &[(usize, &Comparison)],
    screen: &StandingClaims,
) -> Vec<String> {
    let mut all: Vec<(usize, Lead<'_>)> = Vec::new();
    for (index, writer) in writers.iter().enumerate() {
        for lead in leads(writer.groups, writer.answer) {
            let pair = [lead.first.group, lead.second.group];
            let is_pair =
                |c: &&Comparison| pair.contains(&c.group) && pair.contains(&c.baseline_group);
            let is_compared = compared.iter().any(|(_, c)| is_pair(c));
            // As of differences, only what stands among all questions.
            let stands = match writer.answer.comparisons.iter().find(is_pair) {
                Some(comparison) => screen.stands(writer.answer.measure, comparison),
                None => lead.p * writers.len() as f64 <= 1.0 - CONFIDENCE,
            };
            let sure = lead.is_sure() && stands && writer.suspicions.about(&pair).is_empty();
            if sure && !is_compared {
                all.push((index, lead));
            }
        }
    }
    all.sort_by(|(_, a), (_, b)| strength(b.ratio.interval).total_cmp(&strength(a.ratio.interval)));
    let mut named: Vec<usize> = Vec::new();
    let mut sentences = Vec::new();
    for (writer, lead) in &all {
        if named.contains(writer) || sentences.len() == SENTENCES {
            continue;
        }
        named.push(*writer);
        sentences.extend(writers[*writer].lead(lead));
    }
    sentences
}

/// The question's figures of these comparisons, each once, in words.
fn subjects<'a>(
    writers: &[AnswerWriter<'_>],
    comparisons: impl Iterator<Item = (usize, &'a Comparison)>,
) -> (usize, String) {
    let mut nouns: Vec<String> = Vec::new();
    let mut seen: Vec<(&str, &str, Part)> = Vec::new();
    let mut number = 0;
    for (t, comparison) in comparisons {
        number += 1;
        let writer = &writers[t];
        let key = &writer.groups[comparison.group].key;
        let work = (key.levels.workload.as_str(), key.step.as_str(), key.part);
        if !seen.contains(&work) {
            seen.push(work);
            nouns.push(describe(writer.study, writer.groups, key).full());
        }
    }
    (number, list(nouns.iter().map(String::as_str), NAMES))
}

fn total(writers: &[AnswerWriter<'_>]) -> usize {
    writers.iter().map(|t| t.answer.comparisons.len()).sum()
}

fn level(writers: &[AnswerWriter<'_>]) -> Option<String> {
    let all = comparisons(writers, &[ComparisonOutcome::Equivalent])
        .filter(|(t, c)| !is_suspect(&writers[*t], c));
    let (number, nouns) = subjects(writers, all);
    (number > 0).then(|| {
        format!(
            "Equivalent to the baseline, within 5 %: {number} of {}, of {nouns}.",
            count(total(writers), "comparison")
        )
    })
}

fn open(writers: &[AnswerWriter<'_>]) -> Option<String> {
    let (number, nouns) =
        subjects(writers, comparisons(writers, &[ComparisonOutcome::Inconclusive]));
    (number > 0).then(|| {
        format!(
            "Inconclusive: {number} of {} {} undecided by these samples, of {nouns}.",
            count(total(writers), "comparison"),
            if number == 1 { "is" } else { "are" }
        )
    })
}

/// Workloads that ran and that no question covers.
fn unasked(study: &Study, others: &[&Answer]) -> Option<String> {
    let is_shown = |id: &str| {
        let of = |pattern: &String| pattern.split(':').next() == Some(id);
        others.iter().any(|answer| answer.question.workloads.iter().any(of))
    };
    let names = study.unasked_workloads().map(|w| w.id.as_str()).filter(|id| is_shown(id));
    (!others.is_empty()).then(|| {
        format!("No question asks about {}: see the figures at the end.", list(names, NAMES))
    })
}

fn once(answers: &[&Answer]) -> Option<String> {
    let all: Vec<&Comparison> = answers.iter().flat_map(|a| &a.comparisons).collect();
    let once = all.iter().filter(|c| c.outcome == ComparisonOutcome::Once).count();
    if once == 0 {
        return None;
    }
    Some(if once == all.len() {
        "Every figure was measured once, so no comparison has a verdict.".to_owned()
    } else {
        format!(
            "Measured once, so without a verdict: {} of {}.",
            count(once, "comparison"),
            all.len()
        )
    })
}

/// How many differences hold in their answer, but not among all of the run.
fn fallen(writers: &[AnswerWriter<'_>], screen: &StandingClaims) -> Option<String> {
    let number = comparisons(writers, &[ComparisonOutcome::Better, ComparisonOutcome::Worse])
        .filter(|(t, c)| !is_suspect(&writers[*t], c))
        .filter(|(t, c)| !screen.stands(writers[*t].answer.measure, c))
        .count();
    (number > 0).then(|| {
        format!(
            "Not significant after correction for all {}: {} that {} for {} question.",
            count(total(writers), "comparison"),
            count(number, "difference"),
            if number == 1 { "holds" } else { "hold" },
            if number == 1 { "its own" } else { "their own" }
        )
    })
}

fn suspect(writers: &[AnswerWriter<'_>]) -> Option<String> {
    let mut audits: Vec<&str> = Vec::new();
    let outcomes =
        [ComparisonOutcome::Better, ComparisonOutcome::Worse, ComparisonOutcome::Equivalent];
    let mut number = 0;
    for (t, comparison) in comparisons(writers, &outcomes) {
        let about = writers[t].suspicions.about(&[comparison.group, comparison.baseline_group]);
        number += usize::from(!about.is_empty());
        for audit in about {
            if !audits.contains(&audit) {
                audits.push(audit);
            }
        }
    }
    (number > 0).then(|| {
        format!(
            "Left out, because a severe finding makes them suspect ({}): {}.",
            audits.join(", "),
            count(number, "comparison")
        )
    })
}

/// On a bench whose drives share a disk, differences between layouts are not to
/// be had.
fn shared(writers: &[AnswerWriter<'_>], findings: &[Finding]) -> Option<String> {
    let finding = findings.iter().find(|f| f.audit == "shared-spindle")?;
    let concerned = comparisons(writers, &[ComparisonOutcome::Better, ComparisonOutcome::Worse])
        .any(|(_, c)| {
            finding.groups.contains(&c.group) != finding.groups.contains(&c.baseline_group)
        });
    concerned.then(|| {
        "The drives here are files on one machine: what several gain or lose against one is not what real drives would."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use disklab_comparisons::ComparisonOutcome;
    use disklab_sample::Direction;

    use crate::testing::{RunFixture, figure, on_drives, step};

    const ASK: &str = "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"";

    #[test]
    fn the_strongest_difference_comes_first_with_its_interval() {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[180e3, 178e3, 182e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[20.5e3, 20.7e3, 20.9e3]);
        fixture.repeats("raid1/ext4", "dd-4k", &[155e3, 157e3, 158e3]);
        let analysis = fixture.analyse();
        let first = &analysis.summary[0];
        assert!(
            first.starts_with(
                "For 4 KiB synchronous writes (dd-4k), single/ext4 reaches 180 kB/s ["
            ),
            "{first}"
        );
        assert!(
            first.contains("8.7 times [") && first.contains("as fast as single/btrfs"),
            "{first}"
        );
        let second = &analysis.summary[1];
        assert!(
            second.contains("raid1/ext4 reaches 157 kB/s [") && second.contains("% ["),
            "{second}"
        );
        assert!(second.contains("slower than single/ext4"), "{second}");
        assert_eq!(analysis.summary.len(), 2, "{:?}", analysis.summary);
    }

    #[test]
    fn each_question_has_its_turn() {
        let works = ["dd-4k", "dd-1M", "buffered", "fio"];
        let questions =
            works.map(|work| format!("[[questions]]\nask = \"{work}?\"\nworkloads = \"{work}\"\n"));
        let mut fixture = RunFixture::new(&questions.concat());
        // All differences of one question are larger than any of the next.
        for (work, times) in works.into_iter().zip([64.0, 32.0, 16.0, 8.0]) {
            fixture.repeats("single/ext4", work, &[1e6, 1.001e6, 0.999e6]);
            for (stack, more) in [("single/btrfs", 1.0), ("raid1/ext4", 1.1), ("raid1/btrfs", 1.2)]
            {
                let rates = [1.0, 0.999, 1.001].map(|noise| 1e6 * noise / times / more);
                fixture.repeats(stack, work, &rates);
            }
        }
        let summary = fixture.analyse().summary;
        // Two of each, although a third of the first is larger than all of the last.
        let least = |line: &&String| line.contains(" as single/btrfs");
        let (compared, others) = summary.split_at(8);
        assert_eq!(compared.iter().filter(least).count(), 0, "{summary:#?}");
        assert!(others.iter().filter(least).count() > 0, "{summary:#?}");
    }

    #[test]
    fn one_repeat_gives_no_verdict() {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[180e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[20e3]);
        let analysis = fixture.analyse();
        assert_eq!(
            analysis.summary,
            [
                "Every figure was measured once, so no comparison has a verdict.",
                "For 4 KiB synchronous writes (dd-4k), single/ext4 reaches 180 kB/s (once) and \
                 single/btrfs 20.0 kB/s (once).",
            ]
        );
        assert_eq!(
            analysis.sentences[0],
            ["Measured once, so chance may explain the differences: single/ext4 180 kB/s and \
              single/btrfs 20.0 kB/s."]
        );
    }

    #[test]
    fn one_stack_has_its_figures_reported() {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[180e3, 178e3, 182e3]);
        let summary = fixture.analyse().summary;
        assert_eq!(summary.len(), 1, "{summary:?}");
        assert!(
            summary[0].starts_with(
                "For 4 KiB synchronous writes (dd-4k), single/ext4 reaches 180 kB/s ["
            ),
            "{summary:?}"
        );
    }

    #[test]
    fn the_fastest_is_named_only_if_significant() {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[100e3, 101e3, 102e3]);
        fixture.repeats("raid1/ext4", "dd-4k", &[150e3, 152e3, 153e3]);
        fixture.repeats("raid1/btrfs", "dd-4k", &[130e3, 131e3, 133e3]);
        let named = |fixture: &RunFixture| {
            let summary = fixture.analyse().summary;
            summary.into_iter().find(|s| s.contains("is the fastest of 3 stacks"))
        };
        let sentence = named(&fixture).expect("raid1/ext4 leads");
        assert!(
            sentence.contains("raid1/ext4 is the fastest of 3 stacks: 152 kB/s ["),
            "{sentence}"
        );
        assert!(sentence.contains("faster than raid1/btrfs, the next."), "{sentence}");
        fixture.measured("raid1/btrfs", "dd-4k", 3, 180e3);
        fixture.measured("raid1/ext4", "dd-4k", 3, 150e3);
        assert_eq!(named(&fixture), None);
    }

    #[test]
    fn suspect_figures_are_left_out_of_the_summary() {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[100e3, 101e3, 102e3]);
        // Zeros on a compressing stack: the drives were hardly written to.
        for block in 0..3 {
            let write = figure(Direction::Write, 1 << 20, 1.0 + f64::from(block) / 100.0);
            let step = on_drives(step("dd-4k", vec![write]), &[(0, 1 << 12)]);
            fixture.sample("single/btrfs", "dd-4k", block, vec![step]);
        }
        let analysis = fixture.analyse();
        assert_eq!(
            analysis.summary,
            ["Left out, because a severe finding makes them suspect (zeros-compressed): \
              1 comparison."]
        );
        let sentence = &analysis.sentences[0][0];
        assert!(sentence.ends_with("(suspect: zeros-compressed)."), "{sentence}");
    }

    #[test]
    fn layouts_on_files_of_one_machine_have_a_caveat() {
        let said = |bench: &str, stacks: [&str; 2]| {
            let mut fixture = RunFixture::new(ASK);
            fixture.info.bench = bench.parse().expect("a bench");
            fixture.repeats(stacks[0], "dd-4k", &[100e3, 101e3, 102e3]);
            fixture.repeats(stacks[1], "dd-4k", &[200e3, 201e3, 202e3]);
            let summary = fixture.analyse().summary;
            summary.iter().any(|s| s.starts_with("The drives here are files on one machine"))
        };
        assert!(said("loop", ["single/ext4", "raid1/ext4"]));
        assert!(!said("loop", ["raid1/ext4", "raid1/btrfs"]), "all share what lies below");
        assert!(!said("loop", ["single/ext4", "single/btrfs"]), "a drive each");
        assert!(!said("lab", ["single/ext4", "raid1/ext4"]));
    }

    #[test]
    fn a_long_study_has_a_short_summary() {
        let mut fixture = RunFixture::new("");
        for (s, stack) in
            ["single/ext4", "single/btrfs", "raid1/ext4", "raid1/btrfs"].iter().enumerate()
        {
            for workload in
                ["dd-4k", "dd-64k", "dd-1M", "fio", "buffered", "copy", "kept", "hdparm"]
            {
                let rate = 1e6 * (1.0 + s as f64);
                fixture.repeats(stack, workload, &[rate, rate * 1.01, rate * 0.99]);
            }
        }
        let analysis = fixture.analyse();
        assert!(analysis.summary.len() <= 2 * super::SENTENCES + 4, "{:#?}", analysis.summary);
        assert!(analysis.summary.iter().all(|s| s.contains('[')), "{:#?}", analysis.summary);
    }

    #[test]
    fn a_run_without_samples_says_nothing() {
        assert!(RunFixture::new("").analyse().summary.is_empty());
        let analysis = RunFixture::new(ASK).analyse();
        assert!(analysis.summary.is_empty());
        assert_eq!(analysis.sentences[0], [""; 0]);
    }

    #[test]
    fn two_repeats_that_differ_have_no_interval() {
        let mut fixture = RunFixture::new(&format!("{ASK}\nmeasure = \"throughput\""));
        fixture.repeats("single/ext4", "dd-4k", &[100e3, 300e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[20e3, 10e3]);
        let analysis = fixture.analyse();
        let answer = &analysis.answers[0];
        assert_eq!(
            (answer.comparisons[0].outcome, answer.comparisons[0].interval),
            (ComparisonOutcome::Inconclusive, None)
        );
        assert!(answer.points.iter().all(|p| p.estimate.interval.is_none()), "{:?}", answer.points);
        let text = [analysis.sentences[0].join(" "), analysis.summary.join(" ")].join(" ");
        assert!(text.contains("single/ext4 reaches 173 kB/s (2 repeats, no interval)"), "{text}");
    }

    #[test]
    fn a_workload_that_no_question_covers_is_named() {
        let mut fixture = RunFixture::new("[[questions]]\nask = \"Well?\"\nworkloads = [\"dd-*\"]");
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        fixture.measured("single/ext4", "buffered", 0, 1e6);
        let summary = fixture.analyse().summary;
        let names = |s: &String| s.starts_with("No question asks about buffered");
        assert!(summary.iter().any(names), "{summary:?}");
    }

    /// Twelve questions about the same two stacks, of which the first differ by this
    /// factor, and the others not at all.
    fn run(different: usize, factor: f64) -> crate::Analysis {
        let mut questions = String::new();
        for n in 0..12 {
            questions += &format!(
                "[[workloads]]\nid = \"w{n}\"\nfio = {{ size = \"1G\", rw = \"write\", bs = \"1M\", direct = 1 }}\n\
                 [[questions]]\nask = \"{n}?\"\nworkloads = \"w{n}\"\nmeasure = \"throughput\"\n"
            );
        }
        let mut fixture = RunFixture::new(&questions);
        for n in 0..12 {
            let times = if n < different { factor } else { 1.0 };
            let rates = [100e6, 104e6, 97e6, 101e6];
            fixture.repeats("single/ext4", &format!("w{n}"), &rates);
            let others = [101e6, 101e6, 100e6, 99.5e6].map(|rate| rate * times);
            fixture.repeats("raid1/ext4", &format!("w{n}"), &others);
        }
        fixture.analyse()
    }

    #[test]
    fn a_lone_weak_claim_of_many_questions_is_not_the_runs_summary() {
        // Differs in its own answer with p near 0.02.
        let alone = run(1, 1.07);
        assert_eq!(alone.answers[0].comparisons[0].outcome, ComparisonOutcome::Better);
        assert!(alone.summary.iter().all(|s| !s.starts_with("For ")), "{:?}", alone.summary);
        let left_out = alone.summary.iter().find(|s| s.contains("for all 12 comparisons"));
        assert!(left_out.is_some(), "{:?}", alone.summary);
        // A strong one is, and so are weak ones that are many.
        let strong = run(1, 2.0);
        assert!(strong.summary[0].starts_with("For "), "{:?}", strong.summary);
        let many = run(10, 1.07);
        assert!(many.summary[0].starts_with("For "), "{:?}", many.summary);
        assert!(
            !many.summary.iter().any(|s| s.contains("Not significant after")),
            "{:?}",
            many.summary
        );
    }

    #[test]
    fn the_faster_of_two_stands_or_falls_with_their_comparison() {
        let mut questions = String::new();
        for id in ["w0", "w1"] {
            questions += &format!(
                "[[workloads]]\nid = \"{id}\"\nfio = {{ size = \"1G\", rw = \"write\", bs = \"1M\", direct = 1 }}\n\
                 [[questions]]\nask = \"{id}?\"\nworkloads = \"{id}\"\nmeasure = \"throughput\"\n"
            );
        }
        let mut fixture = RunFixture::new(&questions);
        // Two equal stacks in the lab, each with its own drives, as they came out.
        let same = [
            [173.89, 181.14, 182.89, 177.34, 181.72, 179.76, 180.0, 181.71],
            [184.15, 175.4, 177.07, 175.56, 181.09, 180.96, 176.39, 174.26],
        ];
        let by_chance = [
            [110.36, 113.17, 109.84, 115.51, 110.36, 109.54, 115.69, 108.05],
            [109.92, 113.3, 109.16, 103.0, 100.09, 106.74, 101.13, 103.41],
        ];
        for (id, rates) in [("w0", same), ("w1", by_chance)] {
            for (stack, rates) in ["single/ext4", "raid1/ext4"].iter().zip(rates) {
                fixture.repeats(stack, id, &rates.map(|rate| rate * 1e6));
            }
        }
        let analysis = fixture.analyse();
        assert_eq!(analysis.answers[1].comparisons[0].outcome, ComparisonOutcome::Worse);
        let summary = &analysis.summary;
        assert!(summary.iter().any(|s| s.starts_with("Not significant after")), "{summary:?}");
        assert!(summary.iter().all(|s| !s.starts_with("For ")), "{summary:?}");
    }
}
