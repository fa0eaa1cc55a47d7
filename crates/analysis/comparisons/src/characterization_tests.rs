//! What is said of runs that were drawn, to the digit. A change that means to change nothing
//! changes none of it; another shows here what it changes.

use std::fmt::Write;

use disklab_audits::{Group, GroupKey};
use disklab_sample::OperationKind;
use disklab_stats::Interval;
use disklab_study::{Measure, Percentile};

use crate::testing::RunFixture;
use crate::{
    Answer, Change, Distance, Manner, Quantity, StandingClaims, Values, ahead, answers,
    confidence_level, judge, leads, ratio, show_figure, times, times_range, value,
};

/// Every answer: its figures, how they compare, and who leads.
fn all_that_is_said(number: u32) -> String {
    let fixture = RunFixture::drawn(number);
    let groups = fixture.audited().groups;
    let answers = answers(&fixture.study, &fixture.info, &groups);
    let screen = StandingClaims::of(&groups, &answers.iter().collect::<Vec<_>>());
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
                if screen.stands(measure, c) { ", stands" } else { "" },
            )
            .expect("a text");
        }
        add_leads(&mut said, &groups, answer);
    }
    for workload in ["dd-64k", "fio", "copy", "kept"] {
        if let Some(ahead) = ahead(&fixture.study, &groups, workload) {
            writeln!(said, "{}", ahead.line()).expect("a text");
        }
    }
    said
}

fn add_leads(said: &mut String, groups: &[Group], answer: &Answer) {
    for lead in leads(groups, answer) {
        let names = |points: &[&crate::Point]| {
            let names = points.iter().map(|p| groups[p.group].key.levels.stack.as_str());
            names.collect::<Vec<_>>().join(" ")
        };
        let (first, second) = (names(&[lead.first]), names(&[lead.second]));
        writeln!(
            said,
            "  lead {}@{}: {first} {:.4} {second} (alone {:.5?}), of {}, p {:.2e}; as good: {}; open: {}",
            lead.first.figure,
            lead.first.x.as_deref().unwrap_or("-"),
            lead.ratio.centre,
            lead.ratio.p,
            lead.stacks,
            lead.p,
            names(&lead.equivalent),
            names(&lead.open),
        )
        .expect("a text");
    }
}

#[test]
fn answers_of_drawn_runs_are_as_they_were() {
    for number in 0..8 {
        insta::assert_snapshot!(format!("run_{number}"), all_that_is_said(number));
    }
}

/// Figures of the first stack against those of the others, as if of two runs.
#[test]
fn two_drawn_runs_are_judged_as_they_were() {
    let mut said = String::new();
    for number in [0, 1, 2, 3, 6, 7] {
        let groups = RunFixture::drawn(number).audited().groups;
        let first = |other: &Group| {
            groups.iter().find(|group| {
                let (key, other) = (&group.key, &other.key);
                let work = |key: &GroupKey| (key.levels.workload.clone(), key.step.clone());
                key.levels.stack == "single/ext4" && work(key) == work(other)
            })
        };
        let values = groups.iter().enumerate().filter_map(|(index, group)| {
            let measures = [Measure::Throughput, Measure::Elapsed, Measure::Missed];
            let measure = measures[index % 3];
            let other = first(group)?;
            let pairs = other.in_blocks_with(group, measure);
            let shift = |value: f64| if measure == Measure::Missed { value - 2.0 } else { value };
            Some(Values {
                measure,
                a: other.values(measure).map(shift).map(|value| value.max(0.0)).collect(),
                b: group.values(measure).collect(),
                pairs: (index % 2 == 0).then_some(pairs),
                suspicions: vec!["cold in A".to_owned(); usize::from(index % 11 == 3)],
                correlated: vec!["near in B".to_owned(); usize::from(index % 5 == 4)],
            })
        });
        let values: Vec<Values> = values.filter(|values| !values.a.is_empty()).collect();
        // How many repeats are needed takes long to work out.
        let manner = Manner { margin: 0.03, lab: number % 2 == 0, planned: number < 3 };
        for (values, judged) in values.iter().zip(judge(&values, manner)) {
            let ratio = judged.ratio.map(|r| {
                let interval = r.interval.map(|i| format!("{:.4}..{:.4}", i.low, i.high));
                format!("{:.4} {} {:.2?}", r.centre, interval.unwrap_or_default(), r.p_beyond)
            });
            writeln!(
                said,
                "{number} {:?}: {} p {:.3?}: {} {:.4?}",
                values.measure,
                ratio.unwrap_or_default(),
                judged.p,
                match &judged.change {
                    Change::Inconclusive(why) => why.word(),
                    change => change.word(),
                },
                judged.change
            )
            .expect("a text");
        }
    }
    insta::assert_snapshot!(said);
}

#[test]
fn figures_are_shown_as_they_were() {
    let mut said = String::new();
    let measures = [
        Measure::Throughput,
        Measure::Iops,
        Measure::Latency(Percentile::P99),
        Measure::Elapsed,
        Measure::Missed,
    ];
    for quantity in measures.map(|measure| Quantity::new(measure, OperationKind::Io)) {
        for exponent in [-2, 0, 2, 3, 5, 8, 11] {
            for digits in [1.0, 1.9996, 6.5432, 9.9996] {
                let value = digits * 10_f64.powi(exponent);
                let (column, alone) = (quantity.unit_for(value), quantity.unit_alone(value));
                writeln!(
                    said,
                    "{quantity:?} {value}: {} {} {}, {} {}, {}",
                    quantity.show(value),
                    column.show(value),
                    column.name,
                    alone.show_range(value, value * 1.0004),
                    alone.name,
                    quantity.tick(value, column),
                )
                .expect("a text");
            }
        }
    }
    for centre in [0.0004, 0.08, 0.66, 0.667, 0.999, 1.3, 1.5, 9.994, 9.996, 250.0] {
        for width in [1.0, 1.000_01, 1.004, 1.05, 1.7, 40.0, 5000.0] {
            let confidence = if width > 2.0 { 0.875 } else { 0.95 };
            let interval = Interval { low: centre / width, high: centre * width, confidence };
            let Interval { low, high, .. } = interval;
            let apart = (!interval.contains(1.0)).then(|| Distance::of(centre, interval));
            writeln!(
                said,
                "{centre} {width}: {} {} {}{} {} {apart:?}",
                ratio(centre, Some(interval)),
                times(centre),
                times_range(low, high),
                confidence_level(interval),
                show_figure(
                    Measure::Throughput,
                    OperationKind::Io,
                    centre * 1e6,
                    Some(Interval { low: low * 1e6, high: high * 1e6, confidence })
                ),
            )
            .expect("a text");
        }
    }
    // Ends beyond all sense are shown as bounds.
    for (low, high) in [(200.0, 1e6), (0.01, 300.0), (200.0, 250_000.0), (0.25, 300.0)] {
        let interval = Interval { low, high, confidence: 0.95 };
        writeln!(said, "{:?}", Distance::of(250.0, interval)).expect("a text");
    }
    insta::assert_snapshot!(said);
}
