//! What a comparison of two runs allows to be said.

use disklab_audits::{TWO_MODES, modes};
use disklab_stats::{Ask, BlocksError, CONFIDENCE, Interval, Tails, blocks_needed, holm};
use disklab_study::Measure;

use super::ratio::JudgedRatio;
use super::{Change, InconclusiveReason, blocks, two_sample};

/// Fewer repeats on a side show no noise that one could plan by.
const FEWEST: usize = 3;
/// More repeats than these on each side are not asked for: what they do not show is too
/// noisy. A night of five-minute cells.
pub const MOST: usize = 60;

/// The repeats of one figure in both runs.
#[derive(Debug, Clone)]
pub struct Values {
    /// What the values are.
    pub measure: Measure,
    /// Those of A.
    pub a: Vec<f64>,
    /// Those of B.
    pub b: Vec<f64>,
    /// Those of A and B that belong together, if that is known of repeats.
    pub pairs: Option<Vec<(f64, f64)>>,
    /// Severe findings about it, in either run.
    pub suspicions: Vec<String>,
    /// Findings that repeats of a run depend on each other, so that an interval of two runs is
    /// too narrow.
    pub correlated: Vec<String>,
}

/// How all comparisons are judged.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// What is within 1 ± this is the same.
    pub margin: f64,
    /// Whether both runs are the lab's, in which nothing but the seed is chance.
    pub lab: bool,
    /// Whether to work out how many repeats are needed.
    pub planned: bool,
}

/// What is known of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedFigure {
    /// B ÷ A; none where a count is 0.
    pub ratio: Option<JudgedRatio>,
    /// Holm-corrected over all comparisons.
    pub p: Option<f64>,
    /// What may be said.
    pub change: Change,
}

/// Judges all figures together.
pub fn judge(all: &[Values], manner: Manner) -> Vec<JudgedFigure> {
    let band = 1.0 + manner.margin;
    let family = all.len().max(1);
    let significance = (1.0 - CONFIDENCE) / family as f64;
    let ratios: Vec<Option<JudgedRatio>> =
        all.iter().map(|v| ratio_of(v, band, significance)).collect();
    // A comparison without a p claims nothing, and still is one of the family.
    let raw: Vec<f64> =
        ratios.iter().map(|r| r.as_ref().and_then(|r| r.p_beyond).unwrap_or(1.0)).collect();
    let adjusted = holm(&raw);
    all.iter()
        .zip(ratios)
        .zip(adjusted)
        .map(|((values, ratio), p)| {
            let change = change(values, ratio.as_ref(), p, manner, family);
            let p = ratio.as_ref().and_then(|r| r.p_beyond).map(|_| p);
            let ratio = ratio.filter(|_| !is_counted(values)).map(|ratio| {
                // What is not said is shown with the interval that does not say it.
                let beyond = ratio.interval.is_some_and(|i| i.low > band || i.high < 1.0 / band);
                if !beyond || !matches!(change, Change::Inconclusive(_)) {
                    return ratio;
                }
                let interval = interval_of_all(values, significance);
                JudgedRatio { interval: interval.or(ratio.interval), ..ratio }
            });
            JudgedFigure { ratio, p, change }
        })
        .collect()
}

/// Whether a count of 0 is among the values, which has no ratio.
fn is_counted(values: &Values) -> bool {
    values.measure == Measure::Missed && values.a.iter().chain(&values.b).any(|v| *v == 0.0)
}

/// The ratio. Counts of which some are 0 are judged with one added to each, so that from
/// none to twelve is a step up.
fn ratio_of(values: &Values, band: f64, significance: f64) -> Option<JudgedRatio> {
    let more = if is_counted(values) { 1.0 } else { 0.0 };
    if let Some(pairs) = &values.pairs {
        let pairs: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a + more, b + more)).collect();
        return blocks::paired(&pairs, band, significance);
    }
    let side = |v: &[f64]| v.iter().map(|x| x + more).collect::<Vec<f64>>();
    two_sample::two_sample(&side(&values.a), &side(&values.b), band, significance)
}

/// The interval that holds together with those of all other figures.
fn interval_of_all(values: &Values, level: f64) -> Option<Interval> {
    match &values.pairs {
        Some(pairs) => blocks::interval_of_all(pairs, level),
        None => two_sample::interval_of_all(&values.a, &values.b, level),
    }
}

fn change(
    values: &Values,
    ratio: Option<&JudgedRatio>,
    p: f64,
    manner: Manner,
    family: usize,
) -> Change {
    if are_identical(values, manner) {
        return Change::Identical;
    }
    if !values.suspicions.is_empty() {
        return Change::Inconclusive(InconclusiveReason::Suspect(values.suspicions.clone()));
    }
    let Some(ratio) = ratio else { return Change::Inconclusive(InconclusiveReason::NoRatio) };
    let Some(interval) = ratio.interval else {
        return Change::Inconclusive(InconclusiveReason::TooFew { needed: None });
    };
    let band = 1.0 + manner.margin;
    let within = interval.lies_within(1.0 / band, band);
    if !values.correlated.is_empty() && (within || !are_apart(&values.a, &values.b, band)) {
        return Change::Inconclusive(InconclusiveReason::Suspect(values.correlated.clone()));
    }
    if within {
        let modes = modes_in(values);
        return if modes.is_empty() {
            Change::Equivalent
        } else {
            Change::Inconclusive(InconclusiveReason::Suspect(modes))
        };
    }
    let beyond = interval.low > band || interval.high < 1.0 / band;
    if beyond && p <= 1.0 - CONFIDENCE {
        let more = ratio.centre > 1.0;
        return if more == values.measure.higher_is_better() {
            Change::Faster
        } else {
            Change::Slower
        };
    }
    Change::Inconclusive(why(values, manner, family))
}

/// The runs in which the figure has two modes, as findings.
fn modes_in(values: &Values) -> Vec<String> {
    [(&values.a, 'A'), (&values.b, 'B')]
        .into_iter()
        .filter(|(side, _)| modes(side.iter().copied()).is_some())
        .map(|(_, run)| format!("{TWO_MODES} in {run}"))
        .collect()
}

/// Whether no value of one side comes near the other's: the gap between them, less the share
/// that does not matter, is wider than either side's own range. A swing that outlasts a cell
/// shows within a run, too: its repeats say how far it goes, if not how sure their mean is.
fn are_apart(a: &[f64], b: &[f64], band: f64) -> bool {
    let least = |v: &[f64]| v.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |v: &[f64]| v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = (most(a) / least(a)).max(most(b) / least(b));
    (least(a) / most(b)).max(least(b) / most(a)) > band * range
}

/// Whether the two runs gave the same values to the last digit: in the lab that is no
/// chance even of one.
fn are_identical(values: &Values, manner: Manner) -> bool {
    let sorted = |v: &[f64]| {
        let mut v = v.to_vec();
        v.sort_by(f64::total_cmp);
        v
    };
    let enough = manner.lab || values.a.len() > 1;
    enough && !values.a.is_empty() && sorted(&values.a) == sorted(&values.b)
}

/// Why nothing can be said, and how many repeats on each side would do, by the planner of
/// campaigns.
fn why(values: &Values, manner: Manner, family: usize) -> InconclusiveReason {
    let fewest = values.pairs.as_ref().map_or(values.a.len().min(values.b.len()), Vec::len);
    if fewest < FEWEST || !manner.planned {
        return InconclusiveReason::TooFew { needed: None };
    }
    let ask = Ask {
        effect: manner.margin,
        margin: manner.margin,
        tails: if manner.lab { Tails::Light } else { Tails::Heavy },
        most_blocks: MOST,
        ..Ask::new(family)
    };
    let pilot = values.pairs.as_deref().map_or_else(|| pilot(values), pilot_of_pairs);
    match blocks_needed(&pilot, &ask) {
        Ok(planned) if planned.blocks > fewest => {
            InconclusiveReason::TooFew { needed: Some(planned.blocks) }
        }
        // There are as many already: it is the ratio that lies on the edge.
        Ok(_) => InconclusiveReason::OnTheEdge,
        Err(BlocksError::TooNoisy { noise, .. }) => InconclusiveReason::TooNoisy { noise },
        Err(_) => InconclusiveReason::TooFew { needed: None },
    }
}

/// A pilot of two equal stacks with the noise of these pairs.
fn pilot_of_pairs(pairs: &[(f64, f64)]) -> [Vec<Option<f64>>; 2] {
    let lead = |(a, b): &(f64, f64)| (b / a).ln();
    let mean = pairs.iter().map(lead).sum::<f64>() / pairs.len().max(1) as f64;
    let second = pairs.iter().map(|pair| Some((lead(pair) - mean).exp()));
    [vec![Some(1.0); pairs.len()], second.collect()]
}

/// One in five pilots shows less noise than this share of what there is
/// ([`blocks_needed()`]'s planner reckons so too; Browne 1995).
const UPPER_DEVIATE: f64 = -0.841_621;
/// Blocks of the pilot that the planner gets: with so many it adds little caution of its
/// own.
const PILOT: usize = 48;

/// A pilot of two equal stacks with the noise of the two runs. The planner knows campaigns
/// whose stacks share blocks; repeats of two runs share none, and paired as they happen to
/// stand they would show a noise that depends on their order. So each value's distance
/// from its own run's mean is taken, all of them are stretched to the upper end of what so
/// few allow, and pairs are made of every one with others.
fn pilot(values: &Values) -> [Vec<Option<f64>>; 2] {
    let mut all: Vec<f64> = Vec::new();
    for side in [&values.a, &values.b] {
        let logs: Vec<f64> =
            side.iter().filter(|v| **v > 0.0 && v.is_finite()).map(|v| v.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        all.extend(logs.iter().map(|v| v - mean));
    }
    let n = all.len();
    if n < 3 {
        return [Vec::new(), Vec::new()];
    }
    let freedom = (n - 2) as f64;
    // Wilson and Hilferty's chi-squared quantile, by its degrees of freedom.
    let spread = 2.0 / (9.0 * freedom);
    let lower = (1.0 - spread + UPPER_DEVIATE * spread.sqrt()).max(0.05).powi(3);
    let scale = (n as f64 / freedom / lower).sqrt();
    let blocks = (0..PILOT.max(n)).map(|k| {
        let (first, apart) = (k % n, 1 + k / n % (n - 1));
        (all[first] * scale, all[(first + apart) % n] * scale)
    });
    let (one, other): (Vec<f64>, Vec<f64>) = blocks.unzip();
    [one, other].map(|side| side.into_iter().map(|r| Some(r.exp())).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(measure: Measure, a: &[f64], b: &[f64]) -> Values {
        Values {
            measure,
            a: a.to_vec(),
            b: b.to_vec(),
            pairs: None,
            suspicions: Vec::new(),
            correlated: Vec::new(),
        }
    }

    const REAL: Manner = Manner { margin: 0.05, lab: false, planned: true };
    const LAB: Manner = Manner { margin: 0.05, lab: true, planned: true };

    #[test]
    fn intervals_of_unknown_changes_reach_the_margin() {
        // By itself slower by 8 to 20 %; among forty it is not.
        let one = values(Measure::Throughput, &[100.0, 102.0, 98.0], &[86.0, 88.0, 84.0]);
        let still = values(Measure::Throughput, &[100.0, 104.0, 97.0], &[99.0, 103.0, 101.0]);
        let alone = judge(std::slice::from_ref(&one), REAL);
        let manner = Manner { planned: false, ..REAL };
        let among = judge(&[vec![one], vec![still; 39]].concat(), manner);
        let beyond = |judged: &JudgedFigure| {
            let interval = judged.ratio.expect("a ratio").interval.expect("three each");
            interval.high < 1.0 / 1.05
        };
        assert_eq!(alone[0].change, Change::Slower, "{:?}", alone[0]);
        assert!(beyond(&alone[0]));
        assert!(matches!(among[0].change, Change::Inconclusive(_)), "{:?}", among[0]);
        assert!(!beyond(&among[0]), "{:?}", among[0]);
    }

    fn one(measure: Measure, a: &[f64], b: &[f64], manner: Manner) -> Change {
        judge(&[values(measure, a, b)], manner).remove(0).change
    }

    #[test]
    fn each_change_has_its_case() {
        let rate = |a: &[f64], b: &[f64]| one(Measure::Throughput, a, b, REAL);
        let calm = [100.0, 101.0, 99.0];
        assert_eq!(rate(&calm, &[80.0, 81.0, 79.5]), Change::Slower);
        assert_eq!(rate(&calm, &[130.0, 131.0, 129.5]), Change::Faster);
        assert_eq!(rate(&calm, &[100.2, 101.1, 99.3]), Change::Equivalent);
        assert_eq!(rate(&calm, &calm), Change::Identical);
        assert_eq!(
            rate(&[100.0], &[80.0]),
            Change::Inconclusive(InconclusiveReason::TooFew { needed: None })
        );
        // Equal once is no evidence on a real machine, and all there can be in the lab.
        assert_eq!(
            rate(&[100.0], &[100.0]),
            Change::Inconclusive(InconclusiveReason::TooFew { needed: None })
        );
        assert_eq!(one(Measure::Throughput, &[7.0], &[7.0], LAB), Change::Identical);
        assert_eq!(one(Measure::Elapsed, &calm, &[80.0, 81.0, 79.5], REAL), Change::Faster);
        assert_eq!(
            one(
                Measure::Latency(disklab_study::Percentile::P99),
                &calm,
                &[130.0, 131.0, 129.0],
                REAL
            ),
            Change::Slower
        );
    }

    #[test]
    fn inconclusive_changes_say_why() {
        let rate = |a: &[f64], b: &[f64]| one(Measure::Throughput, a, b, REAL);
        let wild = rate(&[100.0, 300.0, 50.0], &[120.0, 40.0, 250.0]);
        let Change::Inconclusive(InconclusiveReason::TooNoisy { noise }) = wild else {
            panic!("{wild:?}")
        };
        assert!(noise > 0.5, "{noise}");
        let few = rate(&[100.0, 102.0, 98.0], &[101.0, 99.0, 104.0]);
        let Change::Inconclusive(InconclusiveReason::TooFew { needed: Some(needed) }) = few else {
            panic!("{few:?}")
        };
        assert!((4..=MOST).contains(&needed), "{needed}");
        // Slower, but perhaps by less than 5 %.
        let a: Vec<f64> = (0..20).map(|n| 100.0 + f64::from(n % 5) / 5.0).collect();
        let b: Vec<f64> = a
            .iter()
            .enumerate()
            .map(|(n, v)| v / 1.05 + 0.2 * f64::from((n as i32 * 7) % 3 - 1))
            .collect();
        assert_eq!(rate(&a, &b), Change::Inconclusive(InconclusiveReason::OnTheEdge));
        assert_eq!(
            rate(&[0.0, 1.0], &[1.0, 2.0]),
            Change::Inconclusive(InconclusiveReason::NoRatio)
        );
        let mut suspect = values(Measure::Throughput, &[100.0, 101.0, 99.0], &[50.0, 51.0, 50.5]);
        suspect.suspicions.push("read-from-cache".to_owned());
        let got = judge(&[suspect], REAL).remove(0).change;
        assert_eq!(
            got,
            Change::Inconclusive(InconclusiveReason::Suspect(vec!["read-from-cache".to_owned()]))
        );
    }

    #[test]
    fn correlated_repeats_claim_only_separated_samples() {
        let a: Vec<f64> = (0..12).map(|n| 100.0 + f64::from(n / 4)).collect();
        let change = |factor: f64| {
            let b: Vec<f64> = a.iter().map(|v| v * factor).collect();
            let mut values = values(Measure::Throughput, &a, &b);
            let independent = judge(std::slice::from_ref(&values), REAL).remove(0).change;
            values.correlated.push("correlated-repeats in B".to_owned());
            (independent, judge(&[values], REAL).remove(0).change)
        };
        let suspect = Change::Inconclusive(InconclusiveReason::Suspect(vec![
            "correlated-repeats in B".to_owned(),
        ]));
        assert_eq!(change(0.935), (Change::Slower, suspect.clone()));
        assert_eq!(change(1.001), (Change::Equivalent, suspect));
        assert_eq!(change(0.5), (Change::Slower, Change::Slower));
    }

    #[test]
    fn two_modes_are_never_called_the_same() {
        let a: Vec<f64> =
            (0..14).map(|n| if n % 3 == 0 { 80.0 } else { 100.0 + f64::from(n) / 10.0 }).collect();
        let mut b = a.clone();
        b[1] += 0.01;
        let wide = Manner { margin: 0.3, ..REAL };
        let got = judge(&[values(Measure::Throughput, &a, &b)], wide).remove(0).change;
        let both = vec!["two-modes in A".to_owned(), "two-modes in B".to_owned()];
        assert_eq!(got, Change::Inconclusive(InconclusiveReason::Suspect(both)));
    }

    #[test]
    fn missed_deadlines_may_be_none() {
        let missed = |a: &[f64], b: &[f64]| one(Measure::Missed, a, b, LAB);
        assert_eq!(missed(&[0.0; 3], &[12.0, 14.0, 13.0]), Change::Slower);
        assert_eq!(missed(&[0.0; 3], &[0.0; 3]), Change::Identical);
        let judged = judge(&[values(Measure::Missed, &[0.0; 3], &[12.0; 3])], LAB).remove(0);
        assert_eq!((judged.change, judged.ratio), (Change::Slower, None));
    }

    #[test]
    fn many_comparisons_need_stronger_evidence() {
        let pair = values(Measure::Throughput, &[100.0, 103.0, 97.0], &[122.0, 118.0, 125.0]);
        let alone = judge(std::slice::from_ref(&pair), REAL);
        assert_eq!(alone[0].change, Change::Faster, "{alone:?}");
        let mut many = vec![pair];
        many.extend(vec![
            values(Measure::Throughput, &[100.0, 103.0, 97.0], &[101.0, 98.0, 103.0]);
            39
        ]);
        let among = judge(&many, REAL);
        assert!(matches!(among[0].change, Change::Inconclusive(_)), "{:?}", among[0]);
        let low = |judged: &JudgedFigure| judged.ratio.and_then(|r| r.interval).map(|i| i.low);
        assert!(low(&alone[0]) > Some(1.05), "{alone:?}");
        assert!(low(&among[0]) <= Some(1.05), "{:?}", among[0]);
    }

    /// How much noise the planner sees in a pilot: the standard deviation of a value's logarithm.
    fn noise_of(values: &Values) -> f64 {
        let [one, _] = pilot(values);
        let logs = one.iter().map(|v| v.expect("all blocks").ln());
        let squares: f64 = logs.clone().map(|l| l * l).sum();
        (squares / logs.len() as f64).sqrt()
    }

    #[test]
    fn a_pilots_noise_is_the_upper_end_of_what_its_runs_allow() {
        // Ten on each side with a standard deviation of 2 %, about means that are far apart.
        // Of chi-squared with 18 degrees of freedom, one in five is below 12.857.
        let around = |mean: f64| -> Vec<f64> {
            let by = 0.02 * (0.9_f64).sqrt();
            (0..10).map(|n| mean * if n % 2 == 0 { by } else { -by }.exp()).collect()
        };
        let ten = values(Measure::Throughput, &around(100.0), &around(5000.0));
        assert!(
            (noise_of(&ten) / (18.0 * 0.02_f64.powi(2) / 12.857).sqrt() - 1.0).abs() < 0.003,
            "{}",
            noise_of(&ten)
        );
        // With three on each side and 4, below 1.6488.
        let around = |mean: f64| [-1.0, 0.0, 1.0].map(|by: f64| mean * (0.02 * by).exp());
        let three = values(Measure::Throughput, &around(100.0), &around(5000.0));
        assert!(
            (noise_of(&three) / (4.0 * 0.02_f64.powi(2) / 1.6488).sqrt() - 1.0).abs() < 0.01,
            "{}",
            noise_of(&three)
        );
    }

    #[test]
    fn a_pilot_pairs_each_value_with_all_others() {
        let runs = values(Measure::Elapsed, &[1.0, 2.0, 4.0, 0.0, f64::INFINITY], &[7.0, 8.0]);
        let [one, other] = pilot(&runs);
        let pairs: std::collections::BTreeSet<(u64, u64)> = one
            .iter()
            .zip(&other)
            .map(|(a, b)| (a.expect("all").to_bits(), b.expect("all").to_bits()))
            .collect();
        assert!(one.len() == PILOT && pairs.iter().all(|(a, b)| a != b), "{one:?} {other:?}");
        assert_eq!(pairs.len(), 5 * 4, "three and two values that have a logarithm");
        let two = pilot(&values(Measure::Elapsed, &[1.0, -1.0], &[7.0, f64::NAN]));
        assert!(two.iter().all(Vec::is_empty), "two values show no noise: {two:?}");
    }

    fn needed(values: &Values, manner: Manner, family: usize) -> usize {
        let change = judge(&vec![values.clone(); family], manner).remove(0).change;
        match change {
            Change::Inconclusive(InconclusiveReason::TooFew { needed: Some(needed) }) => needed,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_asked_for_follows_from_what_is_asked() {
        let few = values(Measure::Throughput, &[100.0, 102.0, 98.0], &[101.0, 99.0, 104.0]);
        let real = needed(&few, REAL, 1);
        assert!(needed(&few, REAL, 5) > real, "more may be claimed by chance");
        assert!(needed(&few, Manner { margin: 0.04, ..REAL }, 1) > real, "a smaller change");
        assert!(needed(&few, LAB, 1) <= real, "the lab has no outliers");
        let pairs = |values: &Values| values.a.iter().copied().zip(values.b.clone()).collect();
        let paired = Values { pairs: Some(pairs(&few)), ..few.clone() };
        let all = [(&few, REAL, 1), (&few, REAL, 5), (&few, LAB, 1), (&paired, LAB, 1)];
        assert_eq!(
            all.map(|(values, manner, family)| needed(values, manner, family)),
            [25, 36, 25, 39]
        );
        let unplanned = Manner { planned: false, ..REAL };
        let too_few = Change::Inconclusive(InconclusiveReason::TooFew { needed: None });
        assert_eq!(judge(std::slice::from_ref(&few), unplanned)[0].change, too_few);
        let two = values(Measure::Throughput, &few.a, &few.b[..2]);
        assert_eq!(judge(&[two], REAL)[0].change, too_few);
    }

    #[test]
    fn separated_samples_lie_further_apart_than_either_reaches() {
        let low = [70.0, 72.0];
        for (high, apart) in
            [([100.0, 110.0], true), ([100.0, 130.0], true), ([100.0, 135.0], false)]
        {
            assert_eq!(are_apart(&high, &low, 1.05), apart, "{high:?}");
            assert_eq!(are_apart(&low, &high, 1.05), apart, "{high:?}");
        }
        assert!(!are_apart(&low, &low, 1.05));
    }

    proptest! {
        #[test]
        fn verdicts_agree_with_their_intervals_and_mirror(
            a in proptest::collection::vec(0.9_f64..1.1, 2..9),
            b in proptest::collection::vec(0.9_f64..1.1, 2..9),
            factor in 0.7_f64..1.4,
        ) {
            let b: Vec<f64> = b.iter().map(|v| v * factor).collect();
            let unplanned = Manner { planned: false, ..REAL };
            let of = |measure, a: &[f64], b: &[f64]| judge(&[values(measure, a, b)], unplanned).remove(0);
            let judged = of(Measure::Throughput, &a, &b);
            let interval = judged.ratio.and_then(|r| r.interval).expect("two each");
            match &judged.change {
                Change::Faster => prop_assert!(interval.low > 1.05, "{:?}", judged),
                Change::Slower => prop_assert!(interval.high < 1.0 / 1.05, "{:?}", judged),
                Change::Equivalent => prop_assert!(interval.lies_within(1.0 / 1.05, 1.05), "{:?}", judged),
                _ => {}
            }
            let mirrored = |change: &Change| match change {
                Change::Faster => Change::Slower,
                Change::Slower => Change::Faster,
                other => other.clone(),
            };
            prop_assert_eq!(&of(Measure::Throughput, &b, &a).change, &mirrored(&judged.change));
            prop_assert_eq!(of(Measure::Elapsed, &a, &b).change, mirrored(&judged.change));
        }
    }
}
