//! Answers all questions: their points, comparisons and leads.

use disklab_audits::{Group, measure_of, modes_of};
use disklab_sample::OperationKind;
use disklab_stats::{CONFIDENCE, CONFIDENCE_OF_LOOKS, Interval, Ratio, estimate_at};
use disklab_store::RunInfo;
use disklab_study::{Measure, Study};

use crate::asked::{AskedQuestion, asked};
use crate::compare::{Scatter, comparisons, judged_ratio, level_of, outcome, ratio_of_looks};
use crate::figures::{FigureSet, figures};
use crate::{Answer, ComparisonOutcome, Point};

/// Answers the study's questions, or those made up where it asks none.
pub fn answers(study: &Study, info: &RunInfo, groups: &[Group]) -> Vec<Answer> {
    asked(study, groups).into_iter().map(|asked| answer(study, info, groups, asked)).collect()
}

fn answer(study: &Study, info: &RunInfo, groups: &[Group], asked: AskedQuestion) -> Answer {
    let looks = info.looks();
    let confidence = if info.is_for_precision() { CONFIDENCE_OF_LOOKS } else { CONFIDENCE };
    let figures = figures(study, groups, &asked);
    let covered: Vec<usize> = figures.iter().flat_map(|f| &f.groups).copied().collect();
    let AskedQuestion { question, by_study, .. } = asked;
    let measure = question.measure.unwrap_or_else(|| {
        let covered: Vec<&Group> = covered.iter().map(|g| &groups[*g]).collect();
        measure_of(&covered, &question.chart)
    });
    let points = points(study, groups, &figures, measure, confidence);
    let comparisons = comparisons(study, groups, &question, &figures, measure, looks);
    let of_points = || points.iter().map(|p| &groups[p.group]);
    let operation = of_points().map(|g| g.operation).reduce(OperationKind::join);
    let committed = !points.is_empty() && of_points().all(|g| g.committed);
    Answer {
        question,
        measure,
        operation: operation.unwrap_or_default(),
        committed,
        points,
        comparisons,
        covered,
        looks,
        by_study,
    }
}

fn points(
    study: &Study,
    groups: &[Group],
    figures: &[FigureSet],
    measure: Measure,
    confidence: f64,
) -> Vec<Point> {
    let mut points = Vec::new();
    for figure in figures {
        for &index in &figure.groups {
            let group = &groups[index];
            let values: Vec<f64> = group.values(measure).collect();
            let Some(mut estimate) = estimate_at(&values, confidence) else { continue };
            if let (Measure::Missed, Some(interval)) = (measure, &mut estimate.interval) {
                // Nobody misses fewer than none.
                interval.low = interval.low.max(0.0);
            }
            // Counts may be none in one repeat and many in another.
            let says =
                |i: &Interval| measure == Measure::Missed || i.says_something(estimate.centre);
            estimate.interval = estimate.interval.filter(says);
            let id = &group.key.levels.stack;
            let spec = study.stacks.iter().find(|s| s.id == *id);
            let (layout, file_system) = spec.map_or((id, id), |s| {
                (&s.layout, if s.file_system.is_empty() { id } else { &s.file_system })
            });
            points.push(Point {
                group: index,
                layout: layout.clone(),
                file_system: file_system.clone(),
                figure: figure.name.clone(),
                x: figure.x.clone(),
                estimate,
            });
        }
    }
    points
}

/// The best stack of one figure, and how the others stand to it.
#[derive(Debug)]
pub struct Lead<'a> {
    /// The best.
    pub first: &'a Point,
    /// The next.
    pub second: &'a Point,
    /// First ÷ second, paired over blocks.
    pub ratio: Ratio,
    /// Those that are equivalent to the best, best first.
    pub equivalent: Vec<&'a Point>,
    /// Those of which the samples do not show that they are slower.
    pub open: Vec<&'a Point>,
    /// How many stacks have this figure.
    pub stacks: usize,
    /// The largest corrected p of the ratios to the others.
    pub p: f64,
}

impl Lead<'_> {
    /// Whether the best is significantly the fastest.
    pub fn is_sure(&self) -> bool {
        self.equivalent.is_empty() && self.open.is_empty()
    }
}

/// The lead of each figure that at least two stacks have, in order. Figures
/// measured once have none. The leader is seen in the samples first and tested on
/// them afterwards, so each statement counts as one of all pairs of stacks that
/// it might have been about (Bonferroni).
pub fn leads<'a>(groups: &[Group], answer: &'a Answer) -> Vec<Lead<'a>> {
    let mut leads = Vec::new();
    if answer.measure == Measure::Missed {
        // Who misses none has no lead that a ratio could tell.
        return leads;
    }
    let figures = || answer.points.chunk_by(|a, b| a.figure == b.figure && a.x == b.x);
    let pairs: usize = figures().map(|points| points.len() * (points.len() - 1) / 2).sum();
    let corrected = |p: f64| (p * pairs as f64).min(1.0);
    for points in figures() {
        let mut ranked: Vec<&Point> = points.iter().collect();
        ranked.sort_by(|a, b| a.estimate.centre.total_cmp(&b.estimate.centre));
        if answer.measure.higher_is_better() {
            ranked.reverse();
        }
        let [first, others @ ..] = ranked.as_slice() else { continue };
        let level = level_of(pairs);
        let two = others.iter().map(|other| (&groups[first.group], &groups[other.group]));
        let scatter = Scatter::of(two, answer.measure, answer.looks);
        let to = |other: &Point| {
            let (first, other) = (&groups[first.group], &groups[other.group]);
            ratio_of_looks(first, other, answer.measure, level, &scatter)
        };
        let has_modes = |p: &Point| modes_of(&groups[p.group], answer.measure).is_some();
        let Some(second) = others.first() else { continue };
        // The interval of a lead is that of its verdict among all of them.
        let (one, two) = (&groups[first.group], &groups[second.group]);
        let ratio = judged_ratio(one, two, answer.measure, (level, level), &scatter);
        let Some(ratio) = ratio.filter(|r| r.interval.is_some()) else { continue };
        let (mut equivalent, mut open, mut largest_p) = (Vec::new(), Vec::new(), 0.0_f64);
        for other in others {
            let ratio = to(other);
            let p = ratio.and_then(|r| r.p).map(corrected);
            largest_p = largest_p.max(p.unwrap_or(1.0));
            let outcome = ratio.map(|r| outcome(answer.measure, r.centre, r.interval, p));
            match outcome {
                Some(ComparisonOutcome::Better) => {}
                Some(ComparisonOutcome::Equivalent) if !has_modes(first) && !has_modes(other) => {
                    equivalent.push(*other);
                }
                _ => open.push(*other),
            }
        }
        let stacks = points.len();
        leads.push(Lead { first, second, ratio, equivalent, open, stacks, p: largest_p });
    }
    leads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn points_carry_layout_and_file_system() {
        let mut fixture = RunFixture::new("[stacks]\n\"zfs-mirror\" = \"zfs-mirror\"");
        fixture.repeats("raid1/btrfs", "dd-4k", &[1e6, 1.1e6]);
        fixture.repeats("zfs-mirror", "dd-4k", &[1e6]);
        let analysis = fixture.analyse();
        let got: Vec<_> = analysis.answers[0]
            .points
            .iter()
            .map(|p| (p.layout.as_str(), p.file_system.as_str(), p.estimate.n))
            .collect();
        assert_eq!(got, [("raid1", "btrfs", 2), ("zfs-mirror", "zfs-mirror", 1)]);
        assert_eq!(analysis.answers[0].points[0].x.as_deref(), Some("4k"));
    }

    #[test]
    fn a_lead_counts_only_where_the_samples_show_it() {
        let mut fixture =
            RunFixture::new("[[questions]]\nask = \"?\"\nworkloads = [\"dd-4k\", \"dd-1M\"]");
        fixture.repeats("single/ext4", "dd-4k", &[100e3, 200e3, 100e3]);
        fixture.repeats("raid1/ext4", "dd-4k", &[201e3, 403e3, 199e3]);
        fixture.repeats("single/ext4", "dd-1M", &[100e3, 300e3, 100e3]);
        fixture.repeats("raid1/ext4", "dd-1M", &[201e3, 203e3, 199e3]);
        let analysis = fixture.analyse();
        let leads = leads(&analysis.groups, &analysis.answers[0]);
        let got: Vec<_> = leads
            .iter()
            .map(|l| (analysis.groups[l.first.group].key.levels.stack.as_str(), l.is_sure()))
            .collect();
        assert_eq!(got, [("raid1/ext4", true), ("raid1/ext4", false)]);
    }

    #[test]
    fn a_lead_is_corrected_for_all_pairs_that_it_might_have_been_about() {
        for (slower, pairs) in
            [(&[50e3][..], 1.0), (&[50e3, 51e3], 3.0), (&[50e3, 51e3, 52e3], 6.0)]
        {
            let mut fixture = RunFixture::new("[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"");
            let noise = [1.0, 1.02, 0.97, 1.01, 0.99, 1.03];
            let stacks = ["single/btrfs", "raid1/ext4", "raid1/btrfs"];
            fixture.repeats("single/ext4", "dd-4k", &noise.map(|n| 54e3 * n));
            for (number, (stack, rate)) in stacks.into_iter().zip(slower).enumerate() {
                let turned = |block: usize| noise[(block * 5 + number + 1) % 6];
                let rates: Vec<f64> = (0..6).map(|block| rate * turned(block)).collect();
                fixture.repeats(stack, "dd-4k", &rates);
            }
            let analysis = fixture.analyse();
            let answer = &analysis.answers[0];
            let lead = leads(&analysis.groups, answer).remove(0);
            let level = level_of(pairs as usize);
            let of = |point: &Point| &analysis.groups[point.group];
            let others = || answer.points.iter().filter(|point| point.group != lead.first.group);
            let scatter = Scatter::of(
                others().map(|other| (of(lead.first), of(other))),
                answer.measure,
                answer.looks,
            );
            let p = |other: &Point| {
                let (first, other) = (of(lead.first), of(other));
                ratio_of_looks(first, other, answer.measure, level, &scatter).and_then(|r| r.p)
            };
            let largest = others().filter_map(p).fold(0.0, f64::max);
            assert!(largest > 0.0 && largest * pairs < 1.0, "{largest}");
            assert!(
                (lead.p - largest * pairs).abs() < 1e-12,
                "{pairs} pairs: {} {largest}",
                lead.p
            );
        }
    }

    #[test]
    fn a_stack_with_two_modes_is_as_good_as_no_other() {
        let steady: Vec<f64> = (0..14).map(|n| 1e6 * (1.0 + 0.002 * f64::from(n % 3))).collect();
        let both = |n: usize, rate: &f64| if n.is_multiple_of(3) { rate * 0.965 } else { *rate };
        let modes: Vec<f64> = steady.iter().enumerate().map(|(n, rate)| both(n, rate)).collect();
        for (rates, others, is_equivalent) in [
            (&steady, &steady, true),
            (&modes, &modes, false),
            // All ratios are within 5 %, and yet only one of the two has a typical repeat.
            (&modes, &steady, false),
            (&steady, &modes, false),
        ] {
            let ask = "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"";
            let mut fixture = RunFixture::new(ask);
            fixture.repeats("single/ext4", "dd-4k", rates);
            let moved: Vec<f64> = others.iter().map(|rate| rate * 1.001).collect();
            fixture.repeats("raid1/ext4", "dd-4k", &moved);
            let analysis = fixture.analyse();
            let lead = leads(&analysis.groups, &analysis.answers[0]).remove(0);
            assert_eq!(
                (lead.equivalent.len() == 1, lead.open.is_empty()),
                (is_equivalent, is_equivalent)
            );
            assert!(!lead.is_sure());
        }
    }
}
