//! Charts of odd numbers: nothing, one point, zeros, and what is no number.

use disklab_report::{Report, ReportFormat, render};
use disklab_stats::Interval;
use proptest::prelude::*;

use crate::wellformed;

/// A report whose figures are these, in turn.
fn with(values: &[f64]) -> Report {
    let mut report = crate::small();
    for answer in &mut report.analysis.answers {
        let mut values = values.iter().cycle();
        for point in &mut answer.points {
            let mut next = || values.next().copied().unwrap_or_default();
            let (centre, low, high) = (next(), next(), next());
            point.estimate.centre = centre;
            point.estimate.interval = Some(Interval { low, high, confidence: 0.95 });
        }
        for c in &mut answer.comparisons {
            c.ratio = values.next().copied().unwrap_or_default();
        }
    }
    report
}

/// Whether all coordinates of all drawings are numbers within sensible bounds.
fn check(report: &Report) {
    let html = render(report, ReportFormat::Html);
    wellformed::check(&html);
    let mut drawn = 0;
    for element in wellformed::elements(&html).expect("checked") {
        for (name, value) in element.attributes {
            let coordinates: Vec<&str> = match name.as_str() {
                "x" | "y" | "x1" | "x2" | "y1" | "y2" | "cx" | "cy" | "width" => vec![&value],
                "points" => value.split([' ', ',']).filter(|v| !v.is_empty()).collect(),
                _ => continue,
            };
            for coordinate in coordinates {
                let number: f64 = coordinate.trim_end_matches('%').parse().expect(&value);
                assert!((0.0..=100.0).contains(&number), "{name}={value}");
                drawn += 1;
            }
        }
    }
    assert!(drawn > 0);
    let md = render(report, ReportFormat::Markdown);
    assert!(!html.contains("NaN") && !md.contains("NaN"));
    assert!(serde_json::from_str::<serde_json::Value>(&render(report, ReportFormat::Json)).is_ok());
}

#[test]
fn odd_numbers_are_drawn_somewhere() {
    for values in [
        &[0.0][..],
        &[1.0],
        &[f64::NAN],
        &[f64::INFINITY],
        &[f64::NEG_INFINITY, -1.0],
        &[f64::MIN_POSITIVE, f64::MAX],
        &[0.0, 5.0, f64::NAN, -3.0],
        &[1e-300, 1e300],
    ] {
        check(&with(values));
    }
}

#[test]
fn one_point_is_drawn() {
    let mut report = with(&[113e6]);
    for answer in &mut report.analysis.answers {
        answer.points.truncate(1);
    }
    check(&report);
}

#[test]
fn empty_histograms_and_wrong_indices_do_no_harm() {
    let mut report = with(&[1.0]);
    for group in &mut report.analysis.groups {
        group.latency = Some(disklab_sample::LatencyHistogram::new());
        group.observations.clear();
    }
    for (n, answer) in report.analysis.answers.iter_mut().enumerate() {
        if n % 2 == 0 {
            answer.points.iter_mut().for_each(|p| p.group = usize::MAX);
        }
    }
    check(&report);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_numbers(values in prop::collection::vec(any::<f64>(), 1..8)) {
        check(&with(&values));
    }
}
