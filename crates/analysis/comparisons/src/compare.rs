//! Each stack against the baseline, paired over blocks.

use disklab_audits::{Group, modes_of};
use disklab_stats::{
    CONFIDENCE, Interval, Ratio, VariancePrior, block_ratio, block_ratio_judged, holm,
};
use disklab_study::{Measure, Question, Study};

use crate::figures::FigureSet;
use crate::{Comparison, ComparisonOutcome};

/// Two figures whose ratio's interval lies between 1/1.05 and 1.05 are equivalent: what
/// nobody would choose a stack for.
const MARGIN: f64 = 1.05;

/// The level of significance of a single comparison.
const LEVEL_OF_ONE: f64 = 1.0 - CONFIDENCE;

/// The level of each of several comparisons that are judged together.
pub(crate) fn level_of(comparisons: usize) -> f64 {
    LEVEL_OF_ONE / comparisons.max(1) as f64
}

/// The comparisons of one answer. A stack is better or worse where the
/// Holm-corrected p-value stays below 5 %, so that all claims of an answer
/// together hold with a probability of 95 %; level if the whole interval lies
/// within ±5 % and neither stack has two modes. `looks` is how often the campaign looked at its samples to decide whether
/// to continue.
pub(crate) fn comparisons(
    study: &Study,
    groups: &[Group],
    question: &Question,
    figures: &[FigureSet],
    measure: Measure,
    looks: usize,
) -> Vec<Comparison> {
    let wanted = wanted_baseline(study, groups, question, figures, measure);
    let pairs = figure_pairs(groups, figures, measure, wanted);
    let scatter = scatter(groups, &pairs, measure, looks);
    // How many are judged together says which test bears each of them.
    let ratio_of = |n: usize, level: f64| {
        let (_, group, baseline) = pairs[n];
        ratio_of_looks(&groups[group], &groups[baseline], measure, level, &scatter[n])
    };
    let judged = |n: &usize| ratio_of(*n, LEVEL_OF_ONE).is_some_and(|r| r.p.is_some());
    let level = level_of((0..pairs.len()).filter(judged).count());
    let mut all = Vec::new();
    let mut scatter_of = Vec::new();
    for (n, (figure, group, baseline_group)) in pairs.iter().copied().enumerate() {
        if let Some(ratio) = ratio_of(n, level) {
            scatter_of.push(&scatter[n]);
            all.push(comparison(groups, (figure, group, baseline_group), &ratio));
        }
    }
    let own = levels(&all);
    correct(&mut all);
    for ((comparison, own), scatter) in all.iter_mut().zip(own).zip(scatter_of) {
        comparison.outcome = outcome(measure, comparison.ratio, comparison.interval, comparison.p);
        let (group, baseline) = (&groups[comparison.group], &groups[comparison.baseline_group]);
        if let (
            ComparisonOutcome::Better | ComparisonOutcome::Worse | ComparisonOutcome::Inconclusive,
            Some(own),
        ) = (comparison.outcome, own)
            && let Some(judged) = judged_ratio(group, baseline, measure, (level, own), scatter)
        {
            (comparison.ratio, comparison.interval) = (judged.centre, judged.interval);
            comparison.outcome = outcome(measure, judged.centre, judged.interval, comparison.p);
        }
        let (ratio, interval) = (comparison.ratio, comparison.interval);
        let has_modes = || [group, baseline].iter().any(|g| modes_of(g, measure).is_some());
        let is_between_modes = comparison.outcome == ComparisonOutcome::Equivalent && has_modes();
        if is_between_modes || comparison.p.is_some() && are_too_short(group, baseline, measure) {
            comparison.outcome = ComparisonOutcome::Inconclusive;
            comparison.interval = interval.filter(|i| i.contains(1.0));
        } else if comparison.outcome == ComparisonOutcome::Inconclusive {
            comparison.interval = interval.filter(|i| i.says_something(ratio));
        }
    }
    all
}

/// A comparison that is not judged yet.
fn comparison(
    groups: &[Group],
    (figure, group, baseline_group): (&FigureSet, usize, usize),
    ratio: &Ratio,
) -> Comparison {
    Comparison {
        stack: groups[group].key.levels.stack.clone(),
        baseline: groups[baseline_group].key.levels.stack.clone(),
        group,
        baseline_group,
        figure: figure.name.clone(),
        x: figure.x.clone(),
        pairs: ratio.pairs,
        ratio: ratio.centre,
        interval: ratio.interval,
        p: ratio.p,
        outcome: ComparisonOutcome::Once,
    }
}

/// What is known of each pair's scatter: the stacks of a figure share what disturbs them.
fn scatter(
    groups: &[Group],
    pairs: &[(&FigureSet, usize, usize)],
    measure: Measure,
    looks: usize,
) -> Vec<Scatter> {
    let of = |figure: &FigureSet| {
        let of_figure = pairs.iter().filter(|(other, ..)| std::ptr::eq(*other, figure));
        let two = of_figure.map(|(_, group, baseline)| (&groups[*group], &groups[*baseline]));
        Scatter::of(two, measure, looks)
    };
    pairs.iter().map(|(figure, ..)| of(figure)).collect()
}

/// Whether both figures are so short that a few requests make the difference.
fn are_too_short(group: &Group, baseline: &Group, measure: Measure) -> bool {
    let is_short = |group: &Group| {
        group.least(measure).is_some_and(|least| group.values(measure).all(|value| value < least))
    };
    is_short(group) && is_short(baseline)
}

/// Each figure's groups with its baseline: the `wanted` stack's, or else the first with data.
fn figure_pairs<'a>(
    groups: &[Group],
    figures: &'a [FigureSet],
    measure: Measure,
    wanted: Option<&str>,
) -> Vec<(&'a FigureSet, usize, usize)> {
    let mut pairs = Vec::new();
    for figure in figures {
        let with_data: Vec<usize> =
            figure.groups.iter().copied().filter(|g| has_data(&groups[*g], measure)).collect();
        let named =
            with_data.iter().find(|g| Some(groups[**g].key.levels.stack.as_str()) == wanted);
        let Some(&baseline) = named.or(with_data.first()) else { continue };
        let others = with_data.into_iter().filter(|g| *g != baseline);
        pairs.extend(others.map(|group| (figure, group, baseline)));
    }
    pairs
}

/// The level that Holm's procedure judges each comparison at: those that it claims at a
/// level that rises from one to the next, all others at that at which it stopped. None for
/// one without a p.
fn levels(comparisons: &[Comparison]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        comparisons.iter().enumerate().filter_map(|(i, c)| Some((i, c.p?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut levels = vec![None; comparisons.len()];
    let mut stopped = None;
    for (rank, (index, p)) in order.iter().enumerate() {
        let own = level_of(order.len() - rank);
        if stopped.is_none() && *p > own {
            stopped = Some(own);
        }
        levels[*index] = Some(stopped.unwrap_or(own));
    }
    levels
}

/// The baseline: the question's, else the study's, else the first stack that has
/// data; the first two only where they have data here.
fn wanted_baseline<'a>(
    study: &'a Study,
    groups: &'a [Group],
    question: &'a Question,
    figures: &[FigureSet],
    measure: Measure,
) -> Option<&'a str> {
    let mut present = figures
        .iter()
        .flat_map(|f| &f.groups)
        .map(|g| &groups[*g])
        .filter(|g| has_data(g, measure))
        .map(|g| g.key.levels.stack.as_str());
    let named = [question.baseline.as_deref(), study.baseline.as_deref()];
    let here = |id: &&str| present.clone().any(|s| s == *id);
    named.into_iter().flatten().find(here).or_else(|| present.next())
}

fn has_data(group: &Group, measure: Measure) -> bool {
    group.values(measure).next().is_some()
}

/// What is known of the scatter of comparisons beyond their own samples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scatter {
    /// How often the campaign looked at its samples to decide whether to continue.
    pub looks: usize,
    /// What their variances have in common.
    pub prior: Option<VariancePrior>,
}

impl Scatter {
    /// Of the comparisons of one figure: each group with the one that it is compared with.
    pub fn of<'a>(
        two: impl Iterator<Item = (&'a Group, &'a Group)>,
        measure: Measure,
        looks: usize,
    ) -> Self {
        let logs: Vec<Vec<f64>> = two
            .filter_map(|(group, baseline)| pairs(group, baseline, measure))
            .map(|pairs| {
                pairs.iter().map(|(a, b)| (a / b).ln()).filter(|l| l.is_finite()).collect()
            })
            .collect();
        Self { looks, prior: VariancePrior::of(logs.iter().map(Vec::as_slice)) }
    }
}

/// The ratio of two groups, paired over the blocks that both have. None where one
/// of the two missed no deadline in a block: 0 has no ratio, and the blocks that
/// are left would not stand for all. `level` is that at which its p will be judged.
fn ratio(
    group: &Group,
    baseline: &Group,
    measure: Measure,
    level: f64,
    prior: Option<&VariancePrior>,
) -> Option<Ratio> {
    block_ratio(&pairs(group, baseline, measure)?, level, prior)
}

/// The values of two groups in the blocks that both have; none as for [`ratio`].
fn pairs(group: &Group, baseline: &Group, measure: Measure) -> Option<Vec<(f64, f64)>> {
    let pairs = group.in_blocks_with(baseline, measure);
    if measure == Measure::Missed && pairs.iter().any(|(a, b)| *a == 0.0 || *b == 0.0) {
        return None;
    }
    Some(pairs)
}

/// The ratio with the interval that belongs to its verdict: at the second of two levels,
/// by the test that bears the first, for a campaign that looked so often.
pub(crate) fn judged_ratio(
    group: &Group,
    baseline: &Group,
    measure: Measure,
    (family, own): (f64, f64),
    scatter: &Scatter,
) -> Option<Ratio> {
    let looks = scatter.looks.max(1) as f64;
    let pairs = pairs(group, baseline, measure)?;
    let prior = scatter.prior.as_ref();
    let mut ratio = block_ratio_judged(&pairs, family / looks, own / looks, prior)?;
    ratio.p = ratio.p.map(|p| (p * looks).min(1.0));
    Some(ratio)
}

/// The same for a campaign that looked at its samples so often before it ended: each look
/// could have been the one that a chance difference ended it at (Bonferroni).
pub(crate) fn ratio_of_looks(
    group: &Group,
    baseline: &Group,
    measure: Measure,
    level: f64,
    scatter: &Scatter,
) -> Option<Ratio> {
    let looks = scatter.looks.max(1) as f64;
    let mut ratio = ratio(group, baseline, measure, level / looks, scatter.prior.as_ref())?;
    ratio.p = ratio.p.map(|p| (p * looks).min(1.0));
    Some(ratio)
}

/// Puts Holm's adjusted p-values in place of the raw ones.
fn correct(comparisons: &mut [Comparison]) {
    let raw: Vec<f64> = comparisons.iter().filter_map(|c| c.p).collect();
    let with_p = comparisons.iter_mut().filter_map(|c| c.p.as_mut());
    for (p, adjusted) in with_p.zip(holm(&raw)) {
        *p = adjusted;
    }
}

/// What a ratio allows to be said.
pub(crate) fn outcome(
    measure: Measure,
    ratio: f64,
    interval: Option<Interval>,
    p: Option<f64>,
) -> ComparisonOutcome {
    let (Some(interval), Some(p)) = (interval, p) else { return ComparisonOutcome::Once };
    if interval.lies_within(1.0 / MARGIN, MARGIN) {
        ComparisonOutcome::Equivalent
    } else if p > 1.0 - CONFIDENCE || interval.contains(1.0) {
        ComparisonOutcome::Inconclusive
    } else if (ratio > 1.0) == measure.higher_is_better() {
        ComparisonOutcome::Better
    } else {
        ComparisonOutcome::Worse
    }
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Direction, StepProfile, Task};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    const ASK: &str = "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"\nmeasure = \"throughput\"";

    fn compared(fixture: &RunFixture) -> Vec<Comparison> {
        fixture.analyse().answers.remove(0).comparisons
    }

    #[test]
    fn each_outcome_has_its_case() {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[100e3, 101e3, 99e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[20e3, 20.1e3, 20e3]);
        fixture.repeats("raid1/ext4", "dd-4k", &[100e3, 101.1e3, 99e3]);
        fixture.repeats("raid1/btrfs", "dd-4k", &[90e3, 140e3, 70e3]);
        let got: Vec<_> = compared(&fixture).iter().map(|c| (c.stack.clone(), c.outcome)).collect();
        assert_eq!(
            got,
            [
                ("single/btrfs".to_owned(), ComparisonOutcome::Worse),
                ("raid1/ext4".to_owned(), ComparisonOutcome::Equivalent),
                ("raid1/btrfs".to_owned(), ComparisonOutcome::Inconclusive),
            ]
        );
    }

    #[test]
    fn less_time_is_better() {
        let mut fixture = RunFixture::new(&ASK.replace("throughput", "elapsed"));
        fixture.repeats("single/ext4", "dd-4k", &[100e3, 101e3, 99e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[20e3, 20.1e3, 20e3]);
        let got = compared(&fixture);
        assert_eq!(got[0].outcome, ComparisonOutcome::Worse);
        assert!(got[0].ratio > 4.0);
    }

    #[test]
    fn one_block_gives_no_verdict() {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[100e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[20e3]);
        let got = compared(&fixture);
        assert_eq!(
            (got[0].outcome, got[0].interval, got[0].p),
            (ComparisonOutcome::Once, None, None)
        );
    }

    #[test]
    fn only_shared_blocks_are_paired() {
        let mut fixture = RunFixture::new(ASK);
        fixture.measured("single/ext4", "dd-4k", 0, 100e3);
        fixture.measured("single/ext4", "dd-4k", 2, 300e3);
        fixture.measured("single/btrfs", "dd-4k", 1, 999e3);
        fixture.measured("single/btrfs", "dd-4k", 2, 30e3);
        let got = compared(&fixture);
        assert_eq!(got[0].pairs, 1);
        assert!((got[0].ratio - 0.1).abs() < 1e-6);
    }

    #[test]
    fn the_baseline_is_the_questions_then_the_studys_then_the_first() {
        for (question, study, expected) in [
            ("baseline = \"raid1/ext4\"", None, "raid1/ext4"),
            ("baseline = \"raid1/ext4\"", Some("raid1/btrfs"), "raid1/ext4"),
            ("", Some("raid1/btrfs"), "raid1/btrfs"),
            ("", None, "single/ext4"),
            ("stacks = \"raid1/*\"", Some("single/ext4"), "raid1/ext4"),
        ] {
            let mut fixture = RunFixture::new(&format!("{ASK}\n{question}"));
            fixture.study.baseline = study.map(str::to_owned);
            for stack in ["single/ext4", "single/btrfs", "raid1/ext4", "raid1/btrfs"] {
                fixture.repeats(stack, "dd-4k", &[1e6, 2e6]);
            }
            let got = compared(&fixture);
            assert!(got.iter().all(|c| c.baseline == expected), "{question} {study:?}");
        }
    }

    #[test]
    fn many_comparisons_need_stronger_evidence() {
        let rates = [[100e3, 108e3, 95e3], [130e3, 124e3, 121e3]];
        let mut few = RunFixture::new(ASK);
        few.repeats("single/ext4", "dd-4k", &rates[0]);
        few.repeats("single/btrfs", "dd-4k", &rates[1]);
        let alone = compared(&few).remove(0);
        assert_eq!(alone.outcome, ComparisonOutcome::Better);
        let mut many = few.clone();
        many.repeats("raid1/ext4", "dd-4k", &[100e3, 101e3, 103e3]);
        many.repeats("raid1/btrfs", "dd-4k", &[90e3, 101e3, 103e3]);
        let among = compared(&many).remove(0);
        // The interval is that of the verdict.
        assert_eq!(among.outcome, ComparisonOutcome::Inconclusive);
        assert!(alone.interval.is_some_and(|i| !i.contains(1.0)), "{alone:?}");
        assert!(among.interval.is_none_or(|i| i.contains(1.0)), "{among:?}");
        let (alone, among) = (alone.p.expect("three pairs"), among.p.expect("three pairs"));
        assert!((among / alone - 3.0).abs() < 1e-9, "{alone} {among}");
    }

    #[test]
    fn no_label_contradicts_its_interval() {
        for noise in 1..40 {
            let mut fixture = RunFixture::new(ASK);
            let around = |rate: f64, by: f64| {
                let noise = by * f64::from(noise) / 400.0;
                [1.0 - noise, 1.0, 1.0 + 2.0 * noise, 1.0 - noise / 3.0].map(|r| r * rate)
            };
            fixture.repeats("single/ext4", "dd-4k", &around(100e3, 0.0));
            fixture.repeats("single/btrfs", "dd-4k", &around(42e3, 1.0));
            fixture.repeats("raid1/ext4", "dd-4k", &around(90e3, 0.7));
            fixture.repeats("raid1/btrfs", "dd-4k", &around(80e3, 1.5));
            for c in compared(&fixture) {
                let (p, one) = (c.p.expect("pairs"), c.interval.map(|i| i.contains(1.0)));
                match c.outcome {
                    ComparisonOutcome::Better | ComparisonOutcome::Worse => {
                        assert!(p <= 0.05 && one == Some(false), "{c:?}");
                    }
                    ComparisonOutcome::Inconclusive => assert!(one != Some(false), "{c:?}"),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_campaign_that_looks_often_needs_stronger_evidence() {
        let mut fixture = RunFixture::new(ASK);
        fixture.repeats("single/ext4", "dd-4k", &[100e3, 108e3, 95e3, 99e3]);
        fixture.repeats("single/btrfs", "dd-4k", &[118e3, 115e3, 108e3, 108e3]);
        let once = compared(&fixture).remove(0);
        fixture.info.options.looks = Some(12);
        let often = compared(&fixture).remove(0);
        let (p, of_looks) = (once.p.expect("four pairs"), often.p.expect("four pairs"));
        assert!((of_looks / p - 12.0).abs() < 1e-9, "{p} {of_looks}");
        assert_eq!(
            (once.outcome, often.outcome),
            (ComparisonOutcome::Better, ComparisonOutcome::Inconclusive)
        );
        assert!(once.interval.is_some_and(|i| !i.contains(1.0)), "{once:?}");
        assert!(often.interval.is_none_or(|i| i.contains(1.0)), "{often:?}");
    }

    #[test]
    fn who_missed_no_deadline_in_a_block_has_no_ratio() {
        let ask = "[[questions]]\nask = \"?\"\nworkloads = \"fio\"\nmeasure = \"missed\"";
        let compared = |one: [u64; 3], other: [u64; 3]| {
            let mut fixture = RunFixture::new(ask);
            for (stack, missed) in [("single/ext4", one), ("raid1/ext4", other)] {
                for (block, missed) in (0..).zip(missed) {
                    let mut read = figure(Direction::Read, 1 << 20, 1.0);
                    read.missed = Some(missed);
                    fixture.sample(stack, "fio", block, vec![step("fio", vec![read])]);
                }
            }
            compared(&fixture).first().map(|c| c.ratio)
        };
        assert_eq!([compared([5, 0, 6], [9; 3]), compared([9; 3], [5, 0, 6])], [None; 2]);
        assert_eq!(compared([0; 3], [0; 3]), None);
        assert_eq!(compared([4; 3], [2; 3]), Some(0.5));
    }

    /// A delete of 0.15 s rests on a few requests, and was a third faster or slower by chance.
    #[test]
    fn two_short_times_of_work_on_files_are_not_compared() {
        let ask = "[[questions]]\nask = \"?\"\nworkloads = \"copy\"\nmeasure = \"elapsed\"";
        let mut fixture = RunFixture::new(ask);
        for (stack, seconds) in [("single/ext4", 0.15), ("single/btrfs", 0.2), ("raid1/ext4", 3.0)]
        {
            for block in 0..6 {
                let time = seconds * (1.0 + 0.001 * f64::from(block));
                let mut one = step("rm", vec![figure(Direction::Remove, 0, time)]);
                one.profile = Some(StepProfile { task: Some(Task::Delete), ..Default::default() });
                fixture.sample(stack, "copy", block, vec![one]);
            }
        }
        let got = compared(&fixture);
        let of = |stack: &str| got.iter().find(|c| c.stack == stack).expect(stack);
        // The ratio is that of the two figures.
        assert_eq!(of("single/btrfs").outcome, ComparisonOutcome::Inconclusive);
        assert!((of("single/btrfs").ratio - 0.2 / 0.15).abs() < 0.01, "{got:?}");
        assert_eq!(of("raid1/ext4").outcome, ComparisonOutcome::Worse);
        assert!((of("raid1/ext4").ratio - 20.0).abs() < 0.05, "{got:?}");
        let (_, points) = (&got, &fixture.analyse().answers[0].points);
        assert!(points.iter().any(|p| p.estimate.centre < 0.16), "figures are as measured");
    }

    /// Each second or third repeat is slower by a tenth; apart from that, half a per cent.
    fn bimodal(fast: f64, slow: f64, every: usize) -> Vec<f64> {
        (0..14)
            .map(|n| if n % every == 0 { slow } else { fast } * (1.0 + 0.002 * (n % 3) as f64))
            .collect()
    }

    #[test]
    fn figures_with_two_modes_are_never_equivalent() {
        let ask = "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"\nmeasure = \"throughput\"";
        let outcome = |rates: &[f64]| {
            let mut fixture = RunFixture::new(ask);
            fixture.repeats("single/ext4", "dd-4k", rates);
            let moved: Vec<f64> = rates.iter().map(|rate| rate * 1.001).collect();
            fixture.repeats("raid1/ext4", "dd-4k", &moved);
            fixture.analyse().answers[0].comparisons[0].outcome
        };
        assert_eq!(outcome(&bimodal(1e6, 0.999e6, 3)), ComparisonOutcome::Equivalent);
        // Both stacks were slow in the same blocks: each ratio is 1.001.
        assert_eq!(outcome(&bimodal(1e6, 0.8e6, 3)), ComparisonOutcome::Inconclusive);
    }
}
