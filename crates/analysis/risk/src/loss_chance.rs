//! The chance to lose data, its interval, and which input decides.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::simulate::{LossModel, Losses};
use crate::{HazardInput, Hazards, Uncertain};

/// Histories of the chance itself, whose error is then some hundredths; of each end of an input; and
/// of each of [`DRAWS`].
const HISTORIES: [f64; 3] = [40_000.0, 10_000.0, 400.0];
/// Values of all inputs that are drawn for the interval.
const DRAWS: usize = 200;
/// Parts that are looked at in all histories of a chance: some tenths of a second. Where much
/// fails, so that each history has more of them, fewer histories say as much.
const MOST_LOOKS: f64 = 1e8;
/// The least share of them.
const FEWEST: f64 = 0.1;

/// What the chance to lose something is at both ends of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HazardSwing {
    /// Which it is.
    pub input: HazardInput,
    /// The chance at its lower end.
    pub at_low: f64,
    /// The chance at its upper end.
    pub at_high: f64,
}

impl HazardSwing {
    /// How many times the one is the other.
    pub fn factor(&self) -> f64 {
        let (less, more) = (self.at_low.min(self.at_high), self.at_low.max(self.at_high));
        if more <= 0.0 { 1.0 } else { more / less.max(f64::MIN_POSITIVE) }
    }
}

/// The chance to lose data.
#[derive(Debug, Clone, PartialEq)]
pub struct LossChance {
    /// That all is lost.
    pub all: Uncertain,
    /// That something is: all, or files whose sectors could not be read when nothing else had them.
    pub some: Uncertain,
    /// What each input changes, that which changes most first.
    pub swings: Vec<HazardSwing>,
}

impl LossChance {
    /// Simulated; the same seed gives the same.
    pub fn new(hazards: &Hazards, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let of = |hazards: &Hazards, histories, random: &mut ChaCha8Rng| {
            let values = HazardInput::ALL.map(|input| hazards.input(input).value);
            LossModel::new(hazards, values).losses(histories, random)
        };
        let share = share_of_histories(hazards);
        let [histories, at_end, of_draw] = HISTORIES.map(|histories| (histories * share) as u32);
        let central = of(hazards, histories, &mut random);
        let is_open = |input: &HazardInput| !hazards.input(*input).is_exact();
        let mut swings: Vec<HazardSwing> = HazardInput::ALL
            .into_iter()
            .filter(is_open)
            .map(|input| {
                let Uncertain { low, high, .. } = hazards.input(input);
                // The same histories at both ends, so that no luck is between them.
                let at = |value| {
                    let mut same = ChaCha8Rng::seed_from_u64(seed);
                    of(&hazards.with(input, value), at_end, &mut same).some
                };
                HazardSwing { input, at_low: at(low), at_high: at(high) }
            })
            .collect();
        swings.sort_by(|a, b| b.factor().total_cmp(&a.factor()));
        // The same values for all stacks, whatever their histories draw.
        let mut inputs = ChaCha8Rng::seed_from_u64(seed);
        inputs.set_stream(1);
        let drawn: Vec<Losses> = (0..DRAWS)
            .map(|_| {
                let values = HazardInput::ALL.map(|input| hazards.input(input).draw(&mut inputs));
                LossModel::new(hazards, values).losses(of_draw, &mut random)
            })
            .collect();
        let interval = |value: f64, of: fn(&Losses) -> f64| {
            let mut chances: Vec<f64> = drawn.iter().map(of).collect();
            chances.sort_by(f64::total_cmp);
            let at = |share: f64| chances[((DRAWS - 1) as f64 * share).round() as usize];
            Uncertain { value, low: at(0.025).min(value), high: at(0.975).max(value) }
        };
        Self {
            all: interval(central.all, |losses| losses.all),
            some: interval(central.some, |losses| losses.some),
            swings,
        }
    }
}

/// What share of [`HISTORIES`] is simulated.
fn share_of_histories(hazards: &Hazards) -> f64 {
    let failures = hazards.years
        * hazards.failures_per_year.high.max(0.0)
        * hazards.tree.drives().len() as f64;
    let looks = (1.0 + failures) * hazards.tree.parts_in_all() as f64 * HISTORIES[0];
    (MOST_LOOKS / looks).clamp(FEWEST, 1.0)
}

#[cfg(test)]
mod tests {
    use disklab_cell::LossTree;
    use proptest::prelude::*;

    use super::*;

    fn hazards(survives: u32) -> Hazards {
        let drives = (0..4).map(LossTree::Drive).collect();
        Hazards {
            tree: LossTree::parts(survives, 10_000_000_000_000, drives),
            failures_per_year: Uncertain { value: 0.015, low: 0.01, high: 0.02 },
            replaced_after: Uncertain::exact(48.0),
            rebuild: Uncertain { value: 24.0, low: 20.0, high: 30.0 },
            bits_per_unreadable: Uncertain { value: 1e15, low: 1e14, high: 1e16 },
            used: 1.0,
            spares: 0,
            years: 5.0,
        }
    }

    #[test]
    fn what_decides_is_named_first() {
        let chance = LossChance::new(&hazards(1), 1);
        // 4 × 0.015 × 5 failures, each read from 2.4e14 bits: a fifth cannot be read.
        assert!((0.04..0.08).contains(&chance.some.value), "{chance:?}");
        assert!((1e-4..1e-3).contains(&chance.all.value), "{chance:?}");
        assert!(chance.some.low < chance.some.value && chance.some.value < chance.some.high);
        let order: Vec<_> = chance.swings.iter().map(|swing| swing.input).collect();
        assert_eq!(order[0], HazardInput::Unreadable, "{order:?}");
        // What is exact changes nothing.
        assert_eq!(order.len(), 3);
        assert!(chance.swings[0].at_low > chance.swings[0].at_high, "fewer bits are worse");
    }

    /// To the digit: whatever changes one of them changes what is said of every array.
    #[test]
    fn chances_of_one_seed_are_as_they_were() {
        let mut said = String::new();
        for survives in 0..3 {
            let bits = Uncertain { value: 1e15, low: 1e14, high: 1e16 };
            let often = Uncertain { value: 0.9, low: 0.3, high: 2.0 };
            let of = hazards(survives);
            let by_use =
                Hazards { tree: of.tree.clone().rebuilt_by_use(), used: 0.4, ..of.clone() };
            let spares = Hazards { spares: 2, failures_per_year: often, ..of.clone() };
            let mirrors = (0..2).map(|pair| {
                let two = [2 * pair, 2 * pair + 1].map(LossTree::Drive).to_vec();
                LossTree::parts(1, 10_000_000_000_000, two)
            });
            let nested = LossTree::parts(survives.min(1), 20_000_000_000_000, mirrors.collect());
            let nested = Hazards { tree: nested, failures_per_year: often, ..of.clone() };
            let slow = Hazards {
                rebuild: Uncertain::exact(900.0),
                bits_per_unreadable: bits,
                ..of.clone()
            };
            for hazards in [of, by_use, spares, nested, slow] {
                let LossChance { all, some, swings } = LossChance::new(&hazards, 7);
                said += &format!("{survives}: {all:.9?} {some:.9?}\n  {swings:.9?}\n");
            }
        }
        insta::assert_snapshot!(said);
    }

    #[test]
    fn another_parity_makes_it_rare() {
        let [one, two] = [1, 2].map(|survives| LossChance::new(&hazards(survives), 1));
        assert!(two.some.value < one.some.value / 100.0, "{one:?} {two:?}");
        assert!(two.all.value > 0.0);
        assert_eq!(LossChance::new(&hazards(2), 1), two, "the same seed");
    }

    #[test]
    fn no_redundancy_is_the_chance_that_a_drive_fails() {
        let chance = LossChance::new(&hazards(0), 1);
        let exact = -(-4.0 * 0.015 * 5.0_f64).exp_m1();
        assert!((chance.all.value / exact - 1.0).abs() < 0.02, "{chance:?}");
        assert_eq!(chance.all.value, chance.some.value);
    }

    #[test]
    fn where_much_fails_fewer_histories_are_simulated() {
        // 500 pairs: each history looks at 1501 parts after each failure.
        let drives: Vec<LossTree> = (0..1000).map(LossTree::Drive).collect();
        let large = |years, high| {
            let failures_per_year = Uncertain { value: 0.001, low: 0.001, high };
            let tree = LossTree::neighbours(2, 2, 1, &drives);
            share_of_histories(&Hazards { tree, years, failures_per_year, ..hazards(1) })
        };
        assert_eq!(share_of_histories(&hazards(1)), 1.0);
        // 1e8 ÷ (1501 × 40,000) is 1.67: one failure is simulated in full, three are not.
        assert_eq!(large(1.0, 0.0005), 1.0);
        assert!((large(1.0, 0.003) - 1.6656 / 4.0).abs() < 1e-3);
        assert!((large(2.0, 0.003) - 1.6656 / 7.0).abs() < 1e-3);
        assert_eq!(large(50.0, 0.1), FEWEST);
    }

    #[test]
    fn a_chance_is_as_uncertain_as_what_it_follows_from() {
        // Of one drive, in a year: the rate itself.
        let failures_per_year = Uncertain { value: 0.002, low: 0.0005, high: 0.004 };
        let exact = Uncertain::exact(1e15);
        let tree = LossTree::Drive(0);
        let years = 1.0;
        let known =
            Hazards { tree, years, failures_per_year, bits_per_unreadable: exact, ..hazards(0) };
        let found = LossChance::new(&known, 1);
        for (found, expected) in
            [(found.all.value, 0.002), (found.all.low, 0.0005), (found.all.high, 0.004)]
        {
            assert!((found / expected - 1.0).abs() < 0.25, "{found} for {expected}");
        }
        let swing = found.swings[0];
        assert_eq!(swing.input, HazardInput::Failures);
        assert!((swing.factor() / 8.0 - 1.0).abs() < 0.05, "{swing:?}");
        let none = HazardSwing { at_low: 0.0, at_high: 0.0, ..swing };
        assert_eq!(none.factor(), 1.0);
        let turned = HazardSwing { at_low: swing.at_high, at_high: swing.at_low, ..swing };
        assert_eq!(turned.factor(), swing.factor());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn chances_are_chances_and_more_hours_are_no_better(
            survives in 0_u32..3, rate in 0.001_f64..0.3, hours in 1.0_f64..500.0, spares in 0_u32..3,
        ) {
            let failures_per_year = Uncertain::exact(rate);
            let known = Hazards { failures_per_year, spares, ..hazards(survives) };
            let of = |hours| LossChance::new(&known.with(HazardInput::Rebuild, hours), 1);
            let (short, long) = (of(hours), of(hours * 4.0));
            for chance in [&short, &long] {
                prop_assert!((0.0..=1.0).contains(&chance.all.low) && chance.some.high <= 1.0);
                prop_assert!(chance.all.value <= chance.some.value);
            }
            prop_assert!(long.all.value >= 0.9 * short.all.value, "{:?} {:?}", short.all, long.all);
        }
    }
}
