//! The figures that a question covers, and what they are called.

use disklab_audits::Group;
use disklab_config::Node;
use disklab_sample::Direction;
use disklab_study::{ChartKind, Study, WorkloadSpec, matches};

use crate::asked::AskedQuestion;
use crate::label::without;

/// The same work on several stacks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FigureSet {
    /// What tells it from the question's others; empty where it is the only one.
    pub name: String,
    /// Its position along a line.
    pub x: Option<String>,
    /// One group per stack, by index, in the study's order.
    pub groups: Vec<usize>,
}

/// A group's place in a question.
struct QuestionGroup<'a> {
    group: usize,
    /// The workload, without the part of its id that the line runs over.
    label: String,
    step: String,
    direction: Direction,
    x: Option<String>,
    spec: Option<&'a WorkloadSpec>,
}

/// The figures of a question: for bars in the study's order, for lines line by
/// line.
pub(crate) fn figures(study: &Study, groups: &[Group], asked: &AskedQuestion) -> Vec<FigureSet> {
    let over = match &asked.question.chart {
        ChartKind::LinesOver(over) => Some(over.as_str()),
        ChartKind::Bars | ChartKind::Distribution => None,
    };
    let mut placed: Vec<QuestionGroup<'_>> = groups
        .iter()
        .enumerate()
        .filter(|(_, group)| covers(study, asked, group))
        .map(|(index, group)| place(study, over, index, group))
        .collect();
    if placed.iter().any(|p| p.x.is_some()) {
        placed.retain(|p| p.x.is_some());
    }
    let names = names(&placed);
    let mut sets: Vec<(usize, usize, FigureSet)> = Vec::new();
    let mut keys: Vec<(&GroupWork<'_>, &str)> = Vec::new();
    let works: Vec<GroupWork<'_>> = placed
        .iter()
        .map(|p| {
            let key = &groups[p.group].key;
            (key.levels.workload.as_str(), key.step.as_str(), key.direction)
        })
        .collect();
    for ((placed, name), work) in placed.iter().zip(&names).zip(&works) {
        let key = (work, name.as_str());
        if let Some(at) = keys.iter().position(|k| *k == key) {
            sets[at].2.groups.push(placed.group);
            continue;
        }
        keys.push(key);
        let workload = placed.spec.map_or(usize::MAX, |spec| {
            study.workloads.iter().position(|w| w.id == spec.id).unwrap_or(usize::MAX)
        });
        // Along a line, a name's first workload says where the line stands.
        let line = names.iter().position(|n| n == name).unwrap_or_default();
        let set = FigureSet { name: name.clone(), x: placed.x.clone(), groups: vec![placed.group] };
        sets.push((if over.is_some() { line } else { 0 }, workload, set));
    }
    // Stable: steps and directions of a workload stay in their own order.
    sets.sort_by_key(|(line, workload, _)| (*line, *workload));
    sets.into_iter().map(|(.., set)| set).collect()
}

type GroupWork<'a> = (&'a str, &'a str, Direction);

/// Whether a question's patterns match a group. A stack that is none of the
/// study's, such as the directory of the `dir` bench, belongs to every question.
fn covers(study: &Study, asked: &AskedQuestion, group: &Group) -> bool {
    let (question, key) = (&asked.question, &group.key);
    let stack = question.stacks.is_empty()
        || question.stacks.iter().any(|p| matches(p, &key.levels.stack))
        || question.baseline.as_deref() == Some(key.levels.stack.as_str())
        || study.stack_index(&key.levels.stack).is_none();
    let workload = || {
        question.workloads.iter().any(|pattern| match pattern.split_once(':') {
            Some((workload, step)) => {
                matches(workload, &key.levels.workload) && matches(step, &key.step)
            }
            None => matches(pattern, &key.levels.workload),
        })
    };
    key.part == question.part
        && stack
        && asked.direction.is_none_or(|d| d == key.direction)
        && workload()
}

fn place<'a>(
    study: &'a Study,
    over: Option<&str>,
    index: usize,
    group: &Group,
) -> QuestionGroup<'a> {
    let key = &group.key;
    let spec = study.workloads.iter().find(|w| w.id == key.levels.workload);
    let x = over.zip(spec).and_then(|(over, spec)| {
        spec.parameters.get(over).cloned().or_else(|| field(&spec.body, over))
    });
    let strip = |text: &str| x.as_ref().map_or_else(|| text.to_owned(), |x| without(text, x));
    QuestionGroup {
        group: index,
        label: strip(&key.levels.workload),
        step: strip(&key.step),
        direction: key.direction,
        x,
        spec,
    }
}

/// A field of a workload as text; `None` if it is absent or no plain value.
fn field(body: &Node, name: &str) -> Option<String> {
    let (_, node) = body.entries().ok()?.iter().find(|(key, _)| key.name == name)?;
    node.as_text().ok()
}

/// A name for each: of workload, step and direction those that are needed to
/// tell the figures apart.
fn names(placed: &[QuestionGroup<'_>]) -> Vec<String> {
    let Some(first) = placed.first() else { return Vec::new() };
    let labels = placed.iter().any(|p| p.label != first.label);
    let differ = |same: fn(&QuestionGroup<'_>, &QuestionGroup<'_>) -> bool,
                  other: fn(&QuestionGroup<'_>, &QuestionGroup<'_>) -> bool| {
        // The first of each kind is enough to compare with.
        let mut firsts: Vec<&QuestionGroup<'_>> = Vec::new();
        placed.iter().any(|p| match firsts.iter().find(|f| same(f, p)) {
            Some(first) => other(first, p),
            None => {
                firsts.push(p);
                false
            }
        })
    };
    let steps = differ(|a, b| a.label == b.label, |a, b| a.step != b.step);
    let directions =
        differ(|a, b| a.label == b.label && a.step == b.step, |a, b| a.direction != b.direction);
    placed
        .iter()
        .map(|p| {
            let mut parts = Vec::new();
            if labels {
                parts.push(p.label.as_str());
            }
            if steps && !(labels && p.step == p.label) {
                parts.push(p.step.as_str());
            }
            if directions {
                parts.push(p.direction.word());
            }
            parts.join(" ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn named(fixture: &RunFixture, question: &str) -> Vec<(String, Option<String>, usize)> {
        let text = format!("{}\n{question}", fixture.info.study_text);
        let study = disklab_study::load("x", &text).expect("valid");
        let asked =
            AskedQuestion { question: study.questions[0].clone(), direction: None, by_study: true };
        let groups = fixture.analyse().groups;
        figures(&study, &groups, &asked)
            .into_iter()
            .map(|f| (f.name, f.x, f.groups.len()))
            .collect()
    }

    fn fixture() -> RunFixture {
        let mut fixture = RunFixture::new("");
        for stack in ["single/ext4", "raid1/ext4"] {
            for workload in ["dd-4k", "dd-64k", "dd-1M"] {
                fixture.measured(stack, workload, 0, 1e6);
            }
            let one = |d| figure(d, 1 << 20, 1.0);
            fixture.sample(
                stack,
                "copy",
                0,
                vec![
                    step("cp", vec![one(Direction::Copy)]),
                    step("rm", vec![one(Direction::Remove)]),
                ],
            );
            let both = vec![one(Direction::Read), one(Direction::Write)];
            fixture.sample(stack, "fio", 0, vec![step("fio", both)]);
        }
        fixture
    }

    #[test]
    fn names_distinguish_figures() {
        let fixture = fixture();
        let ask = |rest: &str| named(&fixture, &format!("[[questions]]\nask = \"?\"\n{rest}"));
        let name = |name: &str, n| (name.to_owned(), None, n);
        assert_eq!(ask(r#"workloads = "dd-4k""#), [name("", 2)]);
        assert_eq!(ask(r#"workloads = "copy:cp""#), [name("", 2)]);
        assert_eq!(ask(r#"workloads = "copy""#), [name("cp", 2), name("rm", 2)]);
        assert_eq!(ask(r#"workloads = "fio""#), [name("read", 2), name("write", 2)]);
        assert_eq!(ask("workloads = \"dd-4k\"\nstacks = \"raid1/*\""), [name("", 1)]);
        assert_eq!(ask(r#"workloads = ["copy:cp", "dd-1M"]"#), [name("dd-1M", 2), name("copy", 2)],);
    }

    #[test]
    fn a_directory_answers_questions_about_any_stack() {
        let mut fixture = RunFixture::new("");
        fixture.measured("as-it-is", "dd-4k", 0, 1e6);
        let question = "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"\nstacks = \"raid1/*\"";
        assert_eq!(named(&fixture, question), [(String::new(), None, 1)]);
    }

    #[test]
    fn a_line_has_one_name_and_many_positions() {
        let got =
            named(&fixture(), "[[questions]]\nask = \"?\"\nworkloads = \"dd-*\"\nover = \"bs\"");
        let at = |x: &str| (String::new(), Some(x.to_owned()), 2);
        assert_eq!(got, [at("4k"), at("64k"), at("1M")]);
    }

    #[test]
    fn a_line_runs_over_what_its_workloads_say_themselves() {
        let mut fixture = fixture();
        fixture.measured("single/ext4", "buffered", 0, 1e6);
        // 'copy' has no block size, so that it has no place on the line.
        let ask = "[[questions]]\nask = \"?\"\nworkloads = [\"buffered\", \"fio:fio\", \"copy\"]";
        let got = named(&fixture, &format!("{ask}\nover = \"bs\""));
        let at = |name: &str, x: &str, n| (name.to_owned(), Some(x.to_owned()), n);
        let of_fio = ["fio read", "fio write"].map(|name| at(name, "4k", 2));
        assert_eq!(got, [of_fio.to_vec(), vec![at("buffered write", "1M", 1)]].concat());
    }
}
