//! How often the analysis is wrong, covers the truth, and finds what is there.

use disklab_audits::Severity;
use disklab_campaign::{Conclusion, Contest, Decision, Goal, Rules, StackStanding, decide, looks};
use disklab_comparisons::ComparisonOutcome;
use disklab_decision::{Analysis, PurposeRank, RankVerdict};
use disklab_stats::{Ask, blocks_needed};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::fixture::RunFixture;
use crate::noise_models::NoiseModel;

/// The rate of every stack in a campaign without differences, in bytes per second.
const RATE: f64 = 2e8;

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Cases.
    pub hits: u64,
    /// All.
    pub of: u64,
}

impl Share {
    /// Enters a trial, in which `hit` came true or not.
    pub fn count(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.of += 1;
    }

    /// The share, in per cent.
    pub fn per_cent(self) -> f64 {
        100.0 * self.hits as f64 / self.of.max(1) as f64
    }
}

/// What campaigns without any difference gave.
#[derive(Debug, Clone, Copy, Default)]
pub struct FalseClaims {
    /// Questions whose answer claims a difference, or a fastest stack.
    pub answers: Share,
    /// Campaigns whose summary claims one.
    pub summaries: Share,
    /// An audit with a severe finding, which would hide claims.
    pub doubted: Option<&'static str>,
}

/// The seed of a case, so that each is repeated alone as in a table.
fn seeded(noise_model: &NoiseModel, salt: u64) -> ChaCha8Rng {
    let name = noise_model
        .name
        .bytes()
        .fold(salt, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    ChaCha8Rng::seed_from_u64(name)
}

fn claims(sentences: &[String]) -> bool {
    sentences.iter().any(|s| s.contains("is the fastest of"))
}

/// Whether a sentence of a summary claims a difference. Where the samples decide nothing, it
/// lists figures instead.
fn is_claim(sentence: &str) -> bool {
    let words = [" faster than ", " slower than ", " as fast as ", "is the fastest of"];
    sentence.starts_with("For ") && words.iter().any(|word| sentence.contains(word))
}

/// Campaigns in which all stacks are the same.
pub fn false_claims(
    fixture: &RunFixture,
    noise_model: &NoiseModel,
    stacks: usize,
    blocks: u32,
    campaigns: u32,
) -> FalseClaims {
    let mut random = seeded(noise_model, u64::from(blocks));
    let mut all = FalseClaims::default();
    for _ in 0..campaigns {
        let analysis = fixture.analyse(fixture.campaign(
            noise_model,
            &vec![RATE; stacks],
            blocks,
            &mut random,
        ));
        for (answer, sentences) in analysis.answers.iter().zip(&analysis.sentences) {
            let differs = |o: ComparisonOutcome| {
                matches!(o, ComparisonOutcome::Better | ComparisonOutcome::Worse)
            };
            let wrong = answer.comparisons.iter().any(|c| differs(c.outcome));
            all.answers.count(wrong || claims(sentences));
        }
        all.summaries.count(analysis.summary.iter().any(|s| is_claim(s)));
        all.doubted = all.doubted.or(doubted(&analysis));
    }
    all
}

fn doubted(analysis: &Analysis) -> Option<&'static str> {
    analysis.findings.iter().find(|f| f.severity == Severity::Severe).map(|f| f.audit)
}

/// How often intervals hold the truth.
#[derive(Debug, Clone, Copy, Default)]
pub struct Coverage {
    /// Those of ratios.
    pub ratios: Share,
    /// Those of figures.
    pub figures: Share,
    /// 'Equivalent' said of stacks that differ by a little more than 5 %.
    pub false_levels: Share,
}

/// Campaigns of four stacks, of which the others are 5.2 % faster, 30 % faster and
/// half as fast as the first.
pub fn coverage(
    fixture: &RunFixture,
    noise_model: &NoiseModel,
    blocks: u32,
    campaigns: u32,
) -> Coverage {
    let mut random = seeded(noise_model, 1000 + u64::from(blocks));
    let median = if noise_model.still { noise_model.median(&mut random) } else { 0.0 };
    let truth = [RATE, 1.052 * RATE, 1.3 * RATE, 0.5 * RATE];
    let mut all = Coverage::default();
    for _ in 0..campaigns {
        let analysis = fixture.analyse(fixture.campaign(noise_model, &truth, blocks, &mut random));
        let Some(answer) = analysis.answers.first() else { continue };
        for (comparison, truth) in answer.comparisons.iter().zip(&truth[1..]) {
            let interval = comparison.interval;
            all.ratios.count(interval.is_some_and(|i| i.contains(truth / RATE)));
        }
        if let Some(near) = answer.comparisons.first() {
            all.false_levels.count(near.outcome == ComparisonOutcome::Equivalent);
        }
        for (point, truth) in answer.points.iter().zip(&truth) {
            let interval = point.estimate.interval;
            all.figures.count(interval.is_some_and(|i| i.contains(truth * median.exp())));
        }
    }
    all
}

/// How often stacks that are equal are called so.
pub fn equal_called_level(
    fixture: &RunFixture,
    noise_model: &NoiseModel,
    blocks: u32,
    campaigns: u32,
) -> Share {
    let mut random = seeded(noise_model, 5000 + u64::from(blocks));
    let mut level = Share::default();
    for _ in 0..campaigns {
        let campaign = fixture.campaign(noise_model, &[RATE; 4], blocks, &mut random);
        for comparison in fixture.analyse(campaign).answers.iter().flat_map(|a| &a.comparisons) {
            level.count(comparison.outcome == ComparisonOutcome::Equivalent);
        }
    }
    level
}

/// Whether an effect is found at the size that was planned for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Power {
    /// Campaigns in which the stack that is 5 % faster was called better.
    pub found: Share,
    /// Campaigns in which one of the others was called better or worse.
    pub wrong: Share,
    /// Pilots for which no size was found.
    pub unplanned: u64,
    /// Median number of blocks planned.
    pub blocks: usize,
}

/// A pilot of so many blocks of four equal stacks, the size planned from it, and a new
/// campaign of that size with one stack 5 % faster.
pub fn power(fixture: &RunFixture, noise_model: &NoiseModel, pilot: u32, campaigns: u32) -> Power {
    let mut random = seeded(noise_model, 2000 + u64::from(pilot));
    let mut sizes = Vec::new();
    let mut all = Power::default();
    for _ in 0..campaigns {
        let values =
            fixture.by_stack(&fixture.campaign(noise_model, &[RATE; 4], pilot, &mut random));
        let Ok(planned) = blocks_needed(&values, &Ask::new(3)) else {
            all.unplanned += 1;
            continue;
        };
        sizes.push(planned.blocks);
        let truth = [RATE, RATE, 1.05 * RATE, RATE];
        let analysis = fixture.analyse(fixture.campaign(
            noise_model,
            &truth,
            planned.blocks as u32,
            &mut random,
        ));
        let Some(answer) = analysis.answers.first() else { continue };
        let differs = |at: usize| {
            answer.comparisons.get(at).is_some_and(|c| {
                matches!(c.outcome, ComparisonOutcome::Better | ComparisonOutcome::Worse)
            })
        };
        all.found.count(
            answer.comparisons.get(1).is_some_and(|c| c.outcome == ComparisonOutcome::Better),
        );
        all.wrong.count(differs(0) || differs(2));
    }
    sizes.sort_unstable();
    all.blocks = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    all
}

/// What adaptive campaigns gave.
#[derive(Debug, Clone, Copy, Default)]
pub struct Adaptive {
    /// Campaigns of equal stacks that called any of them worse.
    pub false_order: Share,
    /// Campaigns of different stacks whose leader was more than 2 % below the best.
    pub false_best: Share,
    /// Of these, cells carried out of those that 30 blocks of all would take.
    pub cells: Share,
    /// Of these, campaigns that named the best.
    pub named: Share,
}

/// Adaptive campaigns of eight stacks for the best: equal ones, and ones that differ by
/// 7 % or so from each to the next.
pub fn adaptive(fixture: &RunFixture, noise_model: &NoiseModel, campaigns: u32) -> Adaptive {
    let mut random = seeded(noise_model, 3000);
    let rules = Rules::new(Goal::Best);
    let stacks = 8;
    let different: Vec<f64> = (0..stacks).map(|s| RATE * 0.93_f64.powi(s)).collect();
    let equal = vec![RATE; different.len()];
    let mut all = Adaptive::default();
    let most = rules.most_blocks;
    for _ in 0..campaigns {
        let values =
            fixture.by_stack(&fixture.campaign(noise_model, &equal, most as u32, &mut random));
        let (decision, _) = carried_out(&rules, &values);
        all.false_order
            .count(decision.ranks.iter().any(|r| matches!(r.relation, StackStanding::Behind(_))));
        let values =
            fixture.by_stack(&fixture.campaign(noise_model, &different, most as u32, &mut random));
        let (decision, cells) = carried_out(&rules, &values);
        all.cells.hits += cells as u64;
        all.cells.of += (most * different.len()) as u64;
        let leader = decision.ranks.iter().position(|r| r.relation == StackStanding::Leads);
        // The others are at least 7 % below the first.
        all.false_best.count(
            leader.is_some_and(|l| l != 0) && matches!(decision.conclusion, Conclusion::Best(_)),
        );
        all.named.count(decision.conclusion == Conclusion::Best(vec![0]));
    }
    all
}

/// What campaigns gave that ran until the stack to take was known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choices {
    /// Campaigns whose choice was called sure, or equivalent, and was more than 5 % below the best.
    pub wrong: Share,
    /// Campaigns that ended with such a choice.
    pub sure: Share,
    /// Median number of blocks.
    pub blocks: usize,
}

/// Campaigns for the stack to take of eight of this rate next to the best one: all the others have
/// it. Eight blocks at most; after each look those continue that may be better.
pub fn choices(
    fixture: &mut RunFixture,
    noise_model: &NoiseModel,
    rate: f64,
    campaigns: u32,
) -> Choices {
    let looks = looks(8);
    fixture.look_so_often(looks.len() as u32);
    let mut random = seeded(noise_model, 6000);
    let mut truth = vec![RATE * rate; 8];
    truth[0] = RATE;
    let (mut all, mut sizes) = (Choices::default(), Vec::new());
    for _ in 0..campaigns {
        let campaign = fixture.campaign(noise_model, &truth, 8, &mut random);
        let mut reached = vec![looks[0] as u32; truth.len()];
        for (look, next) in looks.iter().zip(looks.iter().skip(1).map(Some).chain([None])) {
            let measured = campaign.iter().filter(|(c, _)| c.block < reached[fixture.stack(c)]);
            let analysis = fixture.analyse(measured.cloned().collect());
            let known = analysis.recommendations.iter().find(|r| !r.decisions.is_empty());
            let choice = known.and_then(|r| r.decisions.first()).expect("all were measured");
            let is_sure = !choice.confidence.is_unsettled();
            if let (false, Some(next)) = (is_sure, next) {
                let is_open = |rank: &&PurposeRank| {
                    matches!(rank.verdict, RankVerdict::Inconclusive | RankVerdict::Taken)
                };
                for rank in choice.places.iter().filter(is_open) {
                    reached[fixture.stack_of(&rank.stack)] = *next as u32;
                }
                continue;
            }
            let taken = truth[fixture.stack_of(&choice.take)];
            all.sure.count(is_sure);
            all.wrong.count(is_sure && taken * 1.05 < RATE);
            sizes.push(*look);
            break;
        }
    }
    sizes.sort_unstable();
    all.blocks = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    all
}

/// What campaigns gave that ran until the figure of one stack was known so exactly.
#[derive(Debug, Clone, Copy, Default)]
pub struct Precision {
    /// Of those that came to know it, intervals that hold the truth.
    pub covered: Share,
    /// Campaigns that came to know it.
    pub known: Share,
    /// Median number of blocks.
    pub blocks: usize,
}

/// Campaigns of one stack that end when its figure is known within this share.
pub fn precision(
    fixture: &RunFixture,
    noise_model: &NoiseModel,
    share: f64,
    campaigns: u32,
) -> Precision {
    let mut random = seeded(noise_model, 4000);
    let rules = Rules::new(Goal::Precision(share));
    let median = if noise_model.still { noise_model.median(&mut random) } else { 0.0 };
    let mut all = Precision::default();
    let mut sizes = Vec::new();
    for _ in 0..campaigns {
        let most = rules.most_blocks as u32;
        let values = fixture.by_stack(&fixture.campaign(noise_model, &[RATE], most, &mut random));
        let (decision, blocks) = carried_out(&rules, &values);
        sizes.push(blocks);
        let is_known = decision.conclusion == Conclusion::Precise;
        all.known.count(is_known);
        if let (true, Some((_, interval))) = (is_known, decision.ranks[0].ratio) {
            all.covered.count(interval.contains(RATE * median.exp()));
        }
    }
    sizes.sort_unstable();
    all.blocks = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    all
}

/// Gives a campaign the blocks that it asks for.
fn carried_out(rules: &Rules, values: &[Vec<Option<f64>>]) -> (Decision, usize) {
    let mut contest = Contest { higher_is_better: true, values: vec![Vec::new(); values.len()] };
    loop {
        let decision = decide(rules, &contest);
        let Some(next) = &decision.next else {
            return (decision, contest.values.iter().map(Vec::len).sum());
        };
        for stack in &next.stacks {
            contest.values[*stack] = values[*stack][..next.blocks].to_vec();
        }
    }
}
