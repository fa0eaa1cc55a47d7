//! How many blocks a campaign should plan for.
//!
//! A pilot shows the noise; the planner plays the campaign with that noise and the test
//! that the verdict will use, and takes the fewest blocks that find the effect often
//! enough. Formulas would do for normal noise only.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{block_ratio, fewest_despite_a_stall, median};

/// Campaigns played per number of blocks: the power is known to ±4 %.
const PLAYED: usize = 200;
/// Campaigns are planned to miss the effect in so many of the cases in which they may: a
/// pilot of a machine that stalls shows less of that than there is, and planned for 90 %,
/// campaigns there found it in 85 to 90 % (docs/validation/calibration.md).
const MISSED_OF_PERMITTED: f64 = 0.7;
/// A pilot this small may have met less noise than there is. The noise is taken at the
/// upper end of what it allows, which it exceeds in one pilot of five at most (Browne, 'On the
/// use of a pilot sample for sample size determination', Statistics in Medicine 14, 1995;
/// medians leave more than the means that he has).
const UPPER_DEVIATE: f64 = -0.841_621;
/// Seed of what is played: the same pilot gives the same plan.
const SEED: u64 = 1995;

/// What noise must be expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tails {
    /// Nothing but the noise that the pilot shows, as in the lab, whose time is virtual.
    Light,
    /// A stall now and then that a pilot may not have met, as on every real machine. Then at
    /// least as many blocks are asked for as a test needs that a stall does not deceive.
    Heavy,
}

/// What a campaign must find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ask {
    /// The effect, as a share: 0.05 is 5 %.
    pub effect: f64,
    /// How often it must be found, 0 to 1, exclusive.
    pub power: f64,
    /// How often any difference may be claimed where there is none.
    pub error: f64,
    /// Comparisons made together: those of a question.
    pub comparisons: usize,
    /// Ratios whose interval is within 1 ± this are called equivalent and not different.
    pub margin: f64,
    /// What noise must be expected.
    pub tails: Tails,
    /// More blocks than these are not considered.
    pub most_blocks: usize,
}

impl Ask {
    /// What verdicts promise: effects of 5 % found in 90 of 100 campaigns, with false claims
    /// in 5 of 100 questions, on real machines.
    pub fn new(comparisons: usize) -> Self {
        Self {
            effect: 0.05,
            power: 0.9,
            error: 0.05,
            comparisons,
            margin: 0.05,
            tails: Tails::Heavy,
            most_blocks: 200,
        }
    }
}

/// A campaign's size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// Of each stack, so that as many cells of each workload.
    pub blocks: usize,
    /// Standard deviation of a block's log ratio that was reckoned with.
    pub noise: f64,
    /// How often the effect was found in the campaigns played.
    pub power: f64,
}

/// Why no size can be given.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BlocksError {
    /// The pilot has too few blocks.
    #[error(
        "a pilot needs at least two stacks with values in the same two blocks; three blocks or more are better"
    )]
    PilotTooSmall,
    /// The question makes no sense.
    #[error("an effect above 0, and a power and an error between 0 and 1, are needed")]
    Senseless,
    /// Even the most blocks are too few.
    #[error("with noise of {:.1} % from block to block, {most_blocks} blocks do not find it: make the steps longer, use an idle machine, or look for a larger effect", noise * 100.0)]
    TooNoisy {
        /// Standard deviation of a block's log ratio.
        noise: f64,
        /// The most blocks that were allowed.
        most_blocks: usize,
    },
}

/// The size that finds the effect, from a pilot: values by stack, then by block. Blocks in
/// which a stack has no positive, finite value are left out.
///
/// # Errors
/// Where the pilot is too small, the question makes no sense, or no permitted number of
/// blocks is enough.
pub fn blocks_needed(pilot: &[Vec<Option<f64>>], ask: &Ask) -> Result<Planned, BlocksError> {
    let share = |x: f64| x > 0.0 && x < 1.0;
    let sensible = ask.effect > 0.0 && ask.effect.is_finite();
    if !sensible || !share(ask.power) || !share(ask.error) {
        return Err(BlocksError::Senseless);
    }
    let residuals = residuals(pilot).ok_or(BlocksError::PilotTooSmall)?;
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let noise = (2.0 * squares / residuals.len() as f64).sqrt();
    let level = ask.error / ask.comparisons.max(1) as f64;
    let fewest = match ask.tails {
        Tails::Light => 3,
        Tails::Heavy => fewest_despite_a_stall(level),
    };
    let power = |blocks: usize| power(&residuals, blocks, level, ask);
    let wanted = 1.0 - MISSED_OF_PERMITTED * (1.0 - ask.power);
    let fewest = fewest.max(3);
    // Where that takes too many, what was asked for has to do.
    let (blocks, power) = search(&power, fewest, ask.most_blocks, wanted)
        .or_else(|| search(&power, fewest, ask.most_blocks, ask.power))
        .ok_or(BlocksError::TooNoisy { noise, most_blocks: ask.most_blocks })?;
    Ok(Planned { blocks, noise, power })
}

/// The fewest blocks from `fewest` to `most` that find the effect so often, and how often
/// they do; none where `most` do not.
fn search(
    power: &impl Fn(usize) -> f64,
    fewest: usize,
    most: usize,
    wanted: f64,
) -> Option<(usize, f64)> {
    // The first of growing sizes that is enough, then the fewest between it and the one
    // before.
    let (mut few, mut enough) = (fewest, fewest);
    let mut found = power(enough);
    while found < wanted {
        if enough >= most {
            return None;
        }
        few = enough;
        enough = (enough + enough.div_ceil(2)).min(most);
        found = power(enough);
    }
    while enough - few > 1 {
        let middle = few + (enough - few) / 2;
        let there = power(middle);
        if there >= wanted {
            (enough, found) = (middle, there);
        } else {
            few = middle;
        }
    }
    (enough <= most).then_some((enough, found))
}

/// How often the effect is found in so many blocks.
fn power(residuals: &[f64], blocks: usize, level: f64, ask: &Ask) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut pairs = vec![(1.0, 1.0); blocks];
    // Without noise, an effect as large as the margin ends just there.
    let margin_end = (1.0 + ask.margin) * (1.0 - 1e-9);
    let mut found = 0;
    for _ in 0..PLAYED {
        for pair in &mut pairs {
            let mut draw = || residuals[random.random_range(0..residuals.len())];
            *pair = ((1.0 + ask.effect) * f64::exp(draw()), f64::exp(draw()));
        }
        let Some(ratio) = block_ratio(&pairs, level, None) else { continue };
        let apart = ratio.interval.is_some_and(|i| i.low > 1.0 && i.high >= margin_end);
        found += usize::from(apart && ratio.p.is_some_and(|p| p <= level));
    }
    found as f64 / PLAYED as f64
}

/// What is left of the logarithms once stacks and blocks are taken out, at the upper end
/// of what so small a pilot allows. By medians (Tukey's polish), so that a stall stays
/// where it happened.
fn residuals(pilot: &[Vec<Option<f64>>]) -> Option<Vec<f64>> {
    let most = pilot.iter().map(Vec::len).min()?;
    let usable = |v: Option<f64>| v.filter(|v| *v > 0.0 && v.is_finite()).map(f64::ln);
    let mut rows: Vec<Vec<f64>> = (0..most)
        .filter_map(|block| pilot.iter().map(|stack| usable(stack[block])).collect())
        .collect();
    let (blocks, stacks) = (rows.len(), pilot.len());
    if blocks < 2 || stacks < 2 {
        return None;
    }
    for _ in 0..10 {
        for row in &mut rows {
            let middle = median(row).unwrap_or(0.0);
            row.iter_mut().for_each(|v| *v -= middle);
        }
        for stack in 0..stacks {
            let column: Vec<f64> = rows.iter().map(|row| row[stack]).collect();
            let middle = median(&column).unwrap_or(0.0);
            rows.iter_mut().for_each(|row| row[stack] -= middle);
        }
    }
    let all: Vec<f64> = rows.into_iter().flatten().collect();
    let freedom = ((stacks - 1) * (blocks - 1)) as f64;
    // Wilson and Hilferty's chi-squared quantile, by its degrees of freedom.
    let spread = 2.0 / (9.0 * freedom);
    let lower = (1.0 - spread + UPPER_DEVIATE * spread.sqrt()).max(0.05).powi(3);
    let scale = (all.len() as f64 / freedom / lower).sqrt();
    Some(all.into_iter().map(|r| r * scale).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Three stacks in six blocks whose values differ by about so much.
    fn pilot(noise: f64) -> Vec<Vec<Option<f64>>> {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut one = |level: f64| -> Vec<Option<f64>> {
            (0..6)
                .map(|b| {
                    Some(
                        level
                            * (1.0 + 0.1 * f64::from(b))
                            * f64::exp(noise * (random.random::<f64>() - 0.5) * 3.46),
                    )
                })
                .collect()
        };
        vec![one(100.0), one(150.0), one(50.0)]
    }

    #[test]
    fn more_noise_needs_more_blocks_and_a_larger_effect_fewer() {
        let ask = Ask::new(2);
        let blocks = |noise: f64, ask: &Ask| blocks_needed(&pilot(noise), ask).map(|p| p.blocks);
        let calm = Ask { tails: Tails::Light, ..ask };
        let (quiet, usual) =
            (blocks(0.005, &calm).expect("few"), blocks(0.03, &calm).expect("more"));
        assert!((3..=4).contains(&quiet) && usual > 10, "{quiet} {usual}");
        // On a real machine never fewer than ranks need.
        assert_eq!(blocks(0.005, &ask), Ok(fewest_despite_a_stall(0.025)));
        let large = Ask { effect: 0.2, ..calm };
        assert!(blocks(0.03, &large).expect("few") < usual);
        let planned = blocks_needed(&pilot(0.03), &ask).expect("enough");
        assert!(planned.power >= 0.9 && (0.03..0.12).contains(&planned.noise), "{planned:?}");
    }

    #[test]
    fn a_small_pilot_is_taken_to_be_noisier_than_it_looks() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        // Nearly normal, with a variance of 1.
        let mut value = move || {
            let deviate = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            Some(deviate.exp())
        };
        for (stacks, blocks) in [(2, 4), (3, 3), (4, 6)] {
            let mut taken = || {
                let pilot: Vec<Vec<_>> =
                    (0..stacks).map(|_| (0..blocks).map(|_| value()).collect()).collect();
                let residuals = residuals(&pilot).expect("large enough");
                residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64
            };
            let above = (0..2000).filter(|_| taken() > 1.0).count();
            assert!((1550..1850).contains(&above), "{stacks} stacks, {blocks} blocks: {above}");
        }
    }

    #[test]
    fn equal_values_need_the_fewest() {
        let still = vec![vec![Some(5.0); 3], vec![Some(6.0); 3]];
        let ask = Ask { tails: Tails::Light, ..Ask::new(1) };
        assert_eq!(blocks_needed(&still, &ask).map(|p| (p.blocks, p.noise)), Ok((3, 0.0)));
    }

    #[test]
    fn impossible_plans_say_why() {
        let ask = Ask::new(2);
        assert_eq!(blocks_needed(&[], &ask), Err(BlocksError::PilotTooSmall));
        assert_eq!(
            blocks_needed(&[vec![Some(1.0)], vec![Some(1.0)]], &ask),
            Err(BlocksError::PilotTooSmall)
        );
        let holes = vec![vec![Some(1.0), None, Some(f64::NAN)], vec![Some(1.0); 3]];
        assert_eq!(blocks_needed(&holes, &ask), Err(BlocksError::PilotTooSmall));
        for bad in [
            Ask { effect: f64::NAN, ..ask },
            Ask { effect: 0.0, ..ask },
            Ask { effect: f64::INFINITY, ..ask },
            Ask { power: 0.0, ..ask },
            Ask { power: 1.0, ..ask },
            Ask { error: 0.0, ..ask },
            Ask { error: 1.0, ..ask },
        ] {
            assert_eq!(blocks_needed(&pilot(0.01), &bad), Err(BlocksError::Senseless), "{bad:?}");
        }
        let little = Ask { most_blocks: 12, ..ask };
        let error = blocks_needed(&pilot(0.2), &little).expect_err("too noisy");
        assert!(error.to_string().contains("12 blocks do not find it"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_pilot_is_answered(
            values in proptest::collection::vec(
                proptest::collection::vec(proptest::option::of(proptest::num::f64::ANY), 0..5), 0..5
            )
        ) {
            let ask = Ask { most_blocks: 20, ..Ask::new(3) };
            if let Ok(planned) = blocks_needed(&values, &ask) {
                prop_assert!(planned.blocks <= 20 && planned.power >= 0.9);
            }
        }
    }
}
