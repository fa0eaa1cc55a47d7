//! What is said of runs that were drawn, to the digit. A change that means to change nothing
//! changes none of it; another shows here what it changes.

use std::fmt::Write;

use crate::testing::RunFixture;
use crate::{StandingClaims, ahead, answers, leads, value};

/// Every answer: its figures, how they compare, and who leads.
fn all_that_is_said(number: u32) -> String {
    let fixture = RunFixture::drawn(number);
    let groups = fixture.audited().groups;
    let answers = answers(&fixture.study, &fixture.info, &groups);
    let standing = StandingClaims::of(&groups, &answers.iter().collect::<Vec<_>>());
    let mut said = String::new();
    for answer in &answers {
        let measure = answer.measure;
        writeln!(said, "{} {measure:?}", answer.question.ask).expect("a text");
        for point in &answer.points {
            let (stack, x) = (&groups[point.group].key.levels.stack, point.x.as_deref());
            let figure = value(measure, answer.operation, &point.estimate);
            writeln!(said, "  {stack} {}@{} {figure}", point.figure, x.unwrap_or("-"))
                .expect("a text");
        }
        for c in &answer.comparisons {
            let interval = c.interval.map(|i| format!("{:.4}..{:.4}", i.low, i.high));
            writeln!(
                said,
                "  {} vs {} {}@{}: {:.4} {} p {} of {}, {}{}",
                c.stack,
                c.baseline,
                c.figure,
                c.x.as_deref().unwrap_or("-"),
                c.ratio,
                interval.as_deref().unwrap_or("-"),
                c.p.map_or("-".to_owned(), |p| format!("{p:.2e}")),
                c.pairs,
                c.outcome.as_str(),
                if standing.stands(measure, c) { ", stands" } else { "" },
            )
            .expect("a text");
        }
        for lead in leads(&groups, answer) {
            let names = |points: &[&crate::Point]| {
                let names = points.iter().map(|p| groups[p.group].key.levels.stack.as_str());
                names.collect::<Vec<_>>().join(" ")
            };
            let (first, second) = (names(&[lead.first]), names(&[lead.second]));
            writeln!(
                said,
                "  lead {}@{}: {first} {:.4} {second}, of {}, p {:.2e}; as good: {}; open: {}",
                lead.first.figure,
                lead.first.x.as_deref().unwrap_or("-"),
                lead.ratio.centre,
                lead.stacks,
                lead.p,
                names(&lead.equivalent),
                names(&lead.open),
            )
            .expect("a text");
        }
    }
    for workload in ["dd-64k", "fio", "copy", "kept"] {
        if let Some(ahead) = ahead(&fixture.study, &groups, workload) {
            writeln!(said, "{}", ahead.line()).expect("a text");
        }
    }
    said
}

#[test]
fn answers_of_drawn_runs_are_as_they_were() {
    for number in 0..8 {
        insta::assert_snapshot!(format!("run_{number}"), all_that_is_said(number));
    }
}
