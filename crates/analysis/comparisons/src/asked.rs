//! The questions: the study's own, or made up where it asks none.

use disklab_audits::{Group, GroupKey, describe};
use disklab_sample::Direction;
use disklab_study::{ChartKind, Part, Question, Study, WorkloadSpec};

use crate::label::without;

/// A line needs this many points to be worth drawing.
const POINTS_OF_A_LINE: usize = 3;
/// Parameters that lines are drawn over rather than over any other.
const PREFERRED: [&str; 3] = ["bs", "block-size", "size"];

/// A question, and the direction it is about where it is about one alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedQuestion {
    pub question: Question,
    pub direction: Option<Direction>,
    /// Whether the study asks this, or asks nothing at all.
    pub by_study: bool,
}

/// The study's questions, and behind them one per figure of each workload that none of
/// them covers; where it asks none, one per workload, step and
/// direction that has data. Workloads that one parameter tells apart, with three
/// values or more, share one question with a line over that parameter.
pub(crate) fn asked(study: &Study, groups: &[Group]) -> Vec<AskedQuestion> {
    if !study.questions.is_empty() {
        let own = |question: &Question| AskedQuestion {
            question: question.clone(),
            direction: None,
            by_study: true,
        };
        let mut all: Vec<AskedQuestion> = study.questions.iter().map(own).collect();
        let unasked: Vec<&str> = study.unasked_workloads().map(|w| w.id.as_str()).collect();
        let mut others = made_up(study, groups);
        others.retain(|a| {
            a.question.workloads.iter().all(|w| {
                unasked.contains(&w.split_once(':').map_or(w.as_str(), |(workload, _)| workload))
            })
        });
        others.iter_mut().for_each(|a| a.by_study = false);
        all.append(&mut others);
        return all;
    }
    made_up(study, groups)
}

/// One question per workload, step and direction that has data.
fn made_up(study: &Study, groups: &[Group]) -> Vec<AskedQuestion> {
    let mut works: Vec<&GroupKey> = Vec::new();
    for group in groups {
        let key = &group.key;
        if !works.iter().any(|w| same_work(w, key)) {
            works.push(key);
        }
    }
    let of_workload = |w: &WorkloadSpec| -> Vec<&GroupKey> {
        works.iter().filter(|k| k.levels.workload == w.id).copied().collect()
    };
    let mut done: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for workload in &study.workloads {
        if done.contains(&workload.id.as_str()) {
            continue;
        }
        let line = line_of(study, workload);
        if let Some((over, family)) = line {
            // Steps of the others differ at most in the parameter's value.
            let keys: Vec<_> = family.iter().flat_map(|w| of_workload(w)).collect();
            done.extend(family.iter().map(|w| w.id.as_str()));
            if let Some(first) = keys.first() {
                let question = line_question(study, groups, first, &family, over);
                all.push(AskedQuestion { question, direction: None, by_study: true });
            }
            continue;
        }
        for key in of_workload(workload) {
            let described = describe(study, groups, key);
            let mut ask = wording(&described.noun, described.plural);
            if all.iter().any(|a: &AskedQuestion| a.question.ask == ask) {
                ask = wording(&described.full(), described.plural);
            }
            all.push(single_question(ask, key));
        }
    }
    all
}

fn same_work(a: &GroupKey, b: &GroupKey) -> bool {
    a.levels.workload == b.levels.workload && a.step == b.step && a.direction == b.direction
}

fn wording(noun: &str, plural: bool) -> String {
    format!("How fast {} {noun}?", if plural { "are" } else { "is" })
}

fn single_question(ask: String, key: &GroupKey) -> AskedQuestion {
    let question = Question {
        ask,
        workloads: vec![format!("{}:{}", key.levels.workload, key.step)],
        stacks: Vec::new(),
        measure: None,
        part: Part::Whole,
        chart: ChartKind::Bars,
        baseline: None,
    };
    AskedQuestion { question, direction: Some(key.direction), by_study: true }
}

fn line_question(
    study: &Study,
    groups: &[Group],
    first: &GroupKey,
    family: &[&WorkloadSpec],
    over: &str,
) -> Question {
    let what = match (over, describe(study, groups, first).sizeless) {
        ("bs" | "block-size", Some(noun)) => format!("How fast are {noun} of each block size?"),
        (_, Some(noun)) => format!("How do {noun} depend on '{over}'?"),
        (_, None) => {
            let value = family.first().and_then(|w| w.parameters.get(over));
            let label = value.map_or_else(String::new, |v| without(&first.levels.workload, v));
            format!("How does '{label}' depend on '{over}'?")
        }
    };
    Question {
        ask: what,
        workloads: family.iter().map(|w| w.id.clone()).collect(),
        stacks: Vec::new(),
        measure: None,
        part: Part::Whole,
        chart: ChartKind::LinesOver(over.to_owned()),
        baseline: None,
    }
}

/// The parameter that a line through this workload runs over, and the workloads
/// on it: those of the same entry of the study whose other parameters are the
/// same, apart from those that the one determines (such as a `count` that goes
/// with each `bs`).
fn line_of<'a>(
    study: &'a Study,
    workload: &WorkloadSpec,
) -> Option<(&'a str, Vec<&'a WorkloadSpec>)> {
    let siblings: Vec<&WorkloadSpec> =
        study.workloads.iter().filter(|w| w.place == workload.place).collect();
    let mut names: Vec<&str> = siblings.first()?.parameters.keys().map(String::as_str).collect();
    names.sort_by_key(|n| PREFERRED.iter().position(|p| p == n).unwrap_or(PREFERRED.len()));
    let value = |w: &'a WorkloadSpec, name: &str| w.parameters.get(name).map(String::as_str);
    names.into_iter().find_map(|over| {
        // What `over` determines has the same value wherever `over` has.
        let determined = |other: &str| {
            siblings.iter().all(|a| {
                siblings
                    .iter()
                    .all(|b| value(a, over) != value(b, over) || value(a, other) == value(b, other))
            })
        };
        let free: Vec<&String> =
            workload.parameters.keys().filter(|name| *name != over && !determined(name)).collect();
        let family: Vec<&WorkloadSpec> = siblings
            .iter()
            .copied()
            .filter(|w| free.iter().all(|n| w.parameters.get(*n) == workload.parameters.get(*n)))
            .collect();
        (family.len() >= POINTS_OF_A_LINE).then_some((over, family))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, STUDY, figure, step};

    #[test]
    fn without_questions_each_figure_has_one() {
        let mut fixture = RunFixture::new("");
        for workload in ["dd-4k", "dd-64k", "dd-1M", "buffered"] {
            fixture.measured("single/ext4", workload, 0, 1e6);
        }
        // The job reads: what its writes are is not known.
        let both = vec![figure(Direction::Read, 1, 1.0), figure(Direction::Write, 1, 1.0)];
        fixture.sample("single/ext4", "fio", 0, vec![step("fio", both)]);
        let groups = fixture.analyse().groups;
        let got = asked(&fixture.study, &groups);
        let asks: Vec<_> = got.iter().map(|a| a.question.ask.as_str()).collect();
        assert_eq!(
            asks,
            [
                "How fast are synchronous writes of each block size?",
                "How fast are 4 KiB random reads?",
                "How fast is 'fio' (write)?",
                "How fast are 1 MiB writes?",
            ]
        );
        assert_eq!(got[0].question.chart, ChartKind::LinesOver("bs".to_owned()));
        assert_eq!(got[0].question.workloads, ["dd-4k", "dd-64k", "dd-1M"]);
        assert_eq!(
            (got[1].direction, got[2].direction),
            (Some(Direction::Read), Some(Direction::Write))
        );
    }

    #[test]
    fn a_workload_that_no_question_covers_has_its_figures() {
        let mut fixture =
            RunFixture::new("[[questions]]\nask = \"Well?\"\nworkloads = [\"dd-*\", \"copy:cp\"]");
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        fixture.measured("single/ext4", "buffered", 0, 1e6);
        let rm = step("rm", vec![figure(Direction::Remove, 1, 1.0)]);
        fixture.sample("single/ext4", "copy", 0, vec![rm]);
        let analysis = fixture.analyse();
        let asks: Vec<_> =
            analysis.answers.iter().map(|a| (a.question.ask.as_str(), a.by_study)).collect();
        assert_eq!(asks, [("Well?", true), ("How fast are 1 MiB writes?", false)]);
        let point = &analysis.answers[1].points[0];
        assert!((point.estimate.centre / (1e6 / 4096.0) - 1.0).abs() < 1e-6, "{point:?}");
    }

    #[test]
    fn the_studys_questions_stand_as_they_are() {
        let fixture = RunFixture::new("[[questions]]\nask = \"Well?\"\nworkloads = \"dd-*\"");
        let got = asked(&fixture.study, &[]);
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].question, fixture.study.questions[0]);
    }

    #[test]
    fn a_line_runs_over_sizes_rather_than_over_anything_else() {
        let text = STUDY.replacen("id = \"dd-{bs}\"", "id = \"dd-{bs}-{a}-{z}\"\nmatrix = { a = [\"1\", \"2\", \"3\"], z = [\"1\", \"2\", \"3\"] }", 1);
        let study = disklab_study::load("x", &text).expect("valid");
        let (over, family) = line_of(&study, &study.workloads[0]).expect("a line");
        assert_eq!((over, family.len()), ("bs", 3));
    }

    #[test]
    fn a_second_free_parameter_makes_a_second_line() {
        let text = STUDY.replacen(
            r#"id = "dd-{bs}""#,
            "id = \"dd-{bs}-{flags}\"\nmatrix = { flags = [\"dsync\", \"direct\"] }",
            1,
        );
        let study = disklab_study::load("x", &text).expect("valid");
        let line = |id: &str| {
            let workload = &study.workloads[study.workload_index(id).expect(id)];
            line_of(&study, workload).map(|(over, family)| {
                (over, family.iter().map(|w| w.id.as_str()).collect::<Vec<_>>())
            })
        };
        assert_eq!(
            line("dd-4k-dsync"),
            Some(("bs", vec!["dd-4k-dsync", "dd-64k-dsync", "dd-1M-dsync"]))
        );
        assert_eq!(
            line("dd-1M-direct"),
            Some(("bs", vec!["dd-4k-direct", "dd-64k-direct", "dd-1M-direct"]))
        );
        assert_eq!(line("copy"), None);
    }
}
