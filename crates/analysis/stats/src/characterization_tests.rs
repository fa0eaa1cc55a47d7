//! What each method gives of samples that were drawn, to the digit. A change that means to change
//! nothing changes none of it; another shows here what it changes.

use std::fmt::Write;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::*;

/// Noise, with a trend, a step or two modes; a few values that are no figures.
fn drawn(random: &mut ChaCha8Rng, length: usize, kind: usize, noise: f64) -> Vec<f64> {
    let at = random.random_range(0..length);
    let value = |index: usize| {
        let chance = 1.0 + noise * (random.random::<f64>() + random.random::<f64>() - 1.0);
        let level = match kind {
            1 => 1.0 + index as f64 / length as f64,
            2 if index < at => 0.4,
            3 if random.random_range(0..3) == 0 => 0.7,
            4 if random.random_range(0..12) == 0 => 0.0,
            _ => 1.0,
        };
        100.0 * level * chance
    };
    (0..length).map(value).collect()
}

fn interval(interval: Option<Interval>) -> String {
    interval.map_or("-".to_owned(), |i| format!("{:.6}..{:.6}", i.low, i.high))
}

fn ratio(ratio: Option<Ratio>) -> String {
    let Some(Ratio { centre, interval: within, p, pairs, .. }) = ratio else {
        return "-".to_owned();
    };
    format!("{centre:.6} {} p {} of {pairs}", interval(within), number(p))
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.6e}"))
}

/// All that is said of one sample.
fn alone(values: &[f64]) -> String {
    let at = |confidence| {
        let estimate = estimate_at(values, confidence);
        estimate.map_or("-".to_owned(), |e| format!("{:.4} {}", e.centre, interval(e.interval)))
    };
    let modes = two_modes(values)
        .map(|m| format!("{:.3} {:.3} {} {} {:.3e}", m.low, m.high, m.in_low, m.in_high, m.p));
    format!(
        "estimates {} | {}\n  median {} {} lag {} random {}\n  modes {} changes {:?} steady {:?} snia {:?}",
        at(CONFIDENCE),
        at(CONFIDENCE_OF_LOOKS),
        number(median(values)),
        number(median_low(values)),
        number(lag_1(values)),
        number(randomness_p(values)),
        modes.unwrap_or_default(),
        level_changes(values),
        steadiness(values),
        snia_steady_from(values),
    )
}

#[test]
fn drawn_samples_give_what_they_gave() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut said = String::new();
    for (number, length) in [1, 2, 3, 5, 6, 7, 8, 12, 14, 30, 60, 300].into_iter().enumerate() {
        for kind in 0..5 {
            let noise = [0.004, 0.03, 0.2][(number + kind) % 3];
            let values = drawn(&mut random, length, kind, noise);
            writeln!(said, "{length} of kind {kind}: {}", alone(&values)).expect("a text");
        }
    }
    insta::assert_snapshot!(said);
}

/// Levels of unequal lengths, each with its own noise.
fn levels(random: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for _ in 0..count {
        let length = [3, 8, 20, 60, 150][random.random_range(0..5)];
        let level = [0.6, 1.0, 1.0, 1.08, 3.0][random.random_range(0..5)];
        let noise = [0.0, 0.002, 0.02, 0.1, 0.4][random.random_range(0..5)];
        values.extend(drawn(random, length, 0, noise).iter().map(|value| level * value));
    }
    values
}

#[test]
fn drawn_levels_give_what_they_gave() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut said = String::new();
    for number in 0..40 {
        let values = levels(&mut random, 2 + number % 4);
        writeln!(said, "{} in {} levels: {}", values.len(), 2 + number % 4, alone(&values))
            .expect("a text");
    }
    insta::assert_snapshot!(said);
}

#[test]
fn drawn_pairs_give_what_they_gave() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut said = String::new();
    for (index, length) in [1, 2, 3, 4, 6, 7, 8, 10, 13, 24, 45, 70].into_iter().enumerate() {
        let noise = [0.002, 0.02, 0.15][index % 3];
        let first = drawn(&mut random, length, 0, noise);
        let times = [1.0, 1.02, 1.5, 0.3][index % 4];
        let other = drawn(&mut random, length, [0, 3, 4][index % 3], noise);
        let second: Vec<f64> = other.iter().map(|value| value * times).collect();
        let pairs: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
        let logs: Vec<Vec<f64>> = (0..6)
            .map(|_| drawn(&mut random, 3, 0, noise).iter().map(|v| v.ln() / 9.0).collect())
            .collect();
        let prior = VariancePrior::of(logs.iter().map(Vec::as_slice));
        writeln!(said, "{length}: {}", ratio(paired_ratio(&pairs))).expect("a text");
        for level in [0.05, 0.005] {
            for prior in [None, prior.as_ref()] {
                let judged = block_ratio_judged(&pairs, level, 0.05, prior);
                let both = [block_ratio(&pairs, level, prior), judged].map(ratio);
                writeln!(said, "  at {level}: {}", both.join(" | ")).expect("a text");
            }
        }
        let shift = unpaired_shift(&first, &second, 0.95);
        let unpaired = [unpaired_ratio(&first, &second), unpaired_ratio_at(&first, &second, 0.99)];
        writeln!(said, "  unpaired {} {shift:.4?}", unpaired.map(ratio).join(" | "))
            .expect("a text");
        let p: Vec<f64> = (0..length).map(|_| random.random::<f64>().powi(3)).collect();
        writeln!(said, "  {:.5?}\n  {:.5?}", holm(&p), benjamini_hochberg(&p)).expect("a text");
        let pilot = [first, second].map(|side| side.into_iter().map(Some).collect());
        for (tails, comparisons) in [(Tails::Light, 1), (Tails::Heavy, 6)] {
            let ask = Ask { tails, ..Ask::new(comparisons) };
            writeln!(said, "  {:.5?}", blocks_needed(&pilot, &ask)).expect("a text");
        }
    }
    insta::assert_snapshot!(said);
}
