//! What is decided of contests that were drawn, to the letter. A change that means to change
//! nothing changes none of it; another shows here what it changes.

use std::fmt::Write;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{CampaignOutcome, Contest, Exactness, FigureOutcome, Goal, Rules, Stop, decide};

/// One to eight stacks that differ by nothing, a little or much; some values are missing or are
/// none that have a ratio.
fn drawn(number: u64) -> (Contest, Rules) {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let stacks = [1, 2, 3, 4, 8][number as usize % 5];
    let noise = [0.002, 0.01, 0.05][number as usize % 3];
    let most_blocks = [30, 12, 50][number as usize / 2 % 3];
    let mut values = Vec::new();
    for _ in 0..stacks {
        let level = [1.0, 1.0, 1.004, 1.03, 1.3, 4.0][random.random_range(0..6)];
        // Some stacks have fewer blocks.
        let blocks = if random.random_range(0..5) == 0 { 4 } else { most_blocks };
        let value = |random: &mut ChaCha8Rng| match random.random_range(0..60) {
            0 => None,
            1 => Some(0.0),
            _ => Some(100.0 * level * (1.0 + noise * random.random_range(-1.0..1.0))),
        };
        values.push((0..blocks).map(|_| value(&mut random)).collect());
    }
    let goal = [Goal::Best, Goal::Rank, Goal::Precision(0.01)][number as usize / 5 % 3];
    let rules = Rules { most_blocks, ..Rules::new(goal) };
    (Contest { higher_is_better: !number.is_multiple_of(4), values }, rules)
}

#[test]
fn drawn_contests_are_decided_as_they_were() {
    let names: Vec<String> = ('a'..='h').map(String::from).collect();
    let mut said = String::new();
    for number in 0..45 {
        let (contest, rules) = drawn(number);
        // Some are asked early.
        let asked = if number % 7 == 6 { 5 } else { rules.most_blocks };
        let values = contest.values.iter().map(|v| v[..v.len().min(asked)].to_vec()).collect();
        let contest = Contest { values, ..contest };
        let decision = decide(&rules, &contest);
        let mut outcome =
            FigureOutcome::of(("How fast?", "cp"), &names, &contest, &decision, Stop::Budget);
        if let Goal::Precision(wanted) = rules.goal {
            let figure = (contest.stacks() == 1).then(|| "100 MB/s".to_owned());
            outcome.exactness = Some(Exactness::of(wanted, &decision, figure));
        }
        let whole = CampaignOutcome {
            goal: format!("{:?}", rules.goal),
            stopped: outcome.stopped,
            cells: 9,
            most_cells: 90,
            blocks: decision.looked,
            figures: vec![outcome; number as usize % 3],
        };
        writeln!(said, "{number}: looked at {}, next {:?}", decision.looked, decision.next)
            .expect("a text");
        for rank in &decision.ranks {
            let ratio = rank.ratio.map(|(ratio, interval)| {
                format!("{ratio:.5} {:.5}..{:.5}", interval.low, interval.high)
            });
            let ratio = ratio.unwrap_or_default();
            writeln!(said, "  {:?} after {} {ratio}", rank.relation, rank.blocks).expect("a text");
        }
        writeln!(said, "  {:?}", decision.conclusion).expect("a text");
        for sentence in whole.sentences(1) {
            writeln!(said, "  {sentence}").expect("a text");
        }
    }
    insta::assert_snapshot!(said);
}
