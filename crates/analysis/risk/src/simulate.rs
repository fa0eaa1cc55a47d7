//! The chance of a loss, by simulation with the rare made frequent.
//!
//! Losses of a good array are too rare to wait for. So failures are forced: whatever the chance of
//! one before the next thing that is bound to happen, at least [`FORCED`] of the histories have it, and each
//! history weighs by how likely it is (forcing and balanced failure biasing: Shahabuddin, 'Importance
//! sampling for the simulation of highly reliable Markovian systems', Management Science 40, 1994).

use disklab_cell::LossTree;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::HOURS_PER_YEAR;

/// The share of histories that a failure is forced on, where the model has it less often.
const FORCED: f64 = 0.5;

/// No history has more failures than this: those that do weigh nothing.
const MOST_FAILURES: u32 = 10_000;

/// What is simulated, all values certain.
#[derive(Debug, Clone)]
pub(crate) struct LossModel<'a> {
    pub tree: &'a LossTree,
    /// Of one drive, an hour.
    pub failures_per_hour: f64,
    /// Hours until a drive is replaced without a spare.
    pub replaced_after: f64,
    /// Hours that a rebuild takes.
    pub rebuild: f64,
    /// Whether these are the means of exponential times, as Markov chains have them.
    pub exponential: bool,
    pub unreadable_per_byte: f64,
    pub used: f64,
    pub spares: u32,
    pub hours: f64,
}

/// What one history, or the mean of many, has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Losses {
    /// The whole stack is lost.
    pub all: f64,
    /// Something of it is.
    pub some: f64,
}

/// A drive that is missing, and until when.
#[derive(Debug, Clone, Copy)]
struct Missing {
    drive: u32,
    until: f64,
}

impl LossModel<'_> {
    /// The chances, as the mean of so many histories.
    pub fn losses(&self, histories: u32, random: &mut ChaCha8Rng) -> Losses {
        let drives: Vec<u32> = self.tree.drives().into_iter().collect();
        let mut sum = Losses::default();
        for _ in 0..histories {
            let one = self.history(&drives, random);
            sum.all += one.all;
            sum.some += one.some;
        }
        let mean = |sum: f64| (sum / f64::from(histories.max(1))).clamp(0.0, 1.0);
        Losses { all: mean(sum.all), some: mean(sum.some) }
    }

    fn history(&self, drives: &[u32], random: &mut ChaCha8Rng) -> Losses {
        let mut missing: Vec<Missing> = Vec::new();
        // When each spare that was used is there again.
        let mut spares = vec![0.0; self.spares as usize];
        let (mut now, mut weight) = (0.0, 1.0);
        // The chance that every sector could be read.
        let mut read_all = 1.0;
        for _ in 0..MOST_FAILURES {
            let next = missing.iter().map(|m| m.until).fold(self.hours, f64::min);
            let rate = self.failures_per_hour * (drives.len() - missing.len()) as f64;
            let chance = -(-rate * (next - now)).exp_m1();
            let forced = chance.max(FORCED);
            if chance > 0.0 && random.random::<f64>() < forced {
                weight *= chance / forced;
                // Within the time, and at a time that the model would have it.
                now += -(-random.random::<f64>() * chance).ln_1p() / rate;
                let drive = pick(drives, &missing, random);
                let until = now + self.missing_for(now, &mut spares, random);
                missing.push(Missing { drive, until });
                if self.tree.is_lost(&|drive| missing.iter().any(|m| m.drive == drive)) {
                    return Losses { all: weight, some: weight };
                }
                continue;
            }
            if chance > 0.0 {
                weight *= (1.0 - chance) / (1.0 - forced);
            }
            now = next;
            let Some(back) = missing.iter().position(|m| m.until <= now && now < self.hours) else {
                break;
            };
            let bytes = self.read_without_spare(missing[back].drive, &missing);
            read_all *= (-bytes * self.unreadable_per_byte).exp();
            missing.swap_remove(back);
        }
        Losses { all: 0.0, some: weight * (1.0 - read_all) }
    }

    /// For how long a drive that failed now is missing.
    fn missing_for(&self, now: f64, spares: &mut [f64], random: &mut ChaCha8Rng) -> f64 {
        let spare = spares.iter_mut().find(|there| **there <= now);
        let wait = if spare.is_some() { 0.0 } else { self.replaced_after };
        if let Some(spare) = spare {
            *spare = now + self.replaced_after;
        }
        let time = wait + self.rebuild;
        if self.exponential { -time * (1.0 - random.random::<f64>()).ln() } else { time }
    }

    /// Bytes that the rebuild of a drive reads where nothing else has them.
    fn read_without_spare(&self, rebuilt: u32, missing: &[Missing]) -> f64 {
        let is_dead = |drive: u32| missing.iter().any(|m| m.drive == drive);
        read_of(self.tree, rebuilt, &is_dead, self.used)
    }
}

fn pick(drives: &[u32], missing: &[Missing], random: &mut ChaCha8Rng) -> u32 {
    loop {
        let drive = drives[random.random_range(0..drives.len())];
        if missing.iter().all(|m| m.drive != drive) {
            return drive;
        }
    }
}

/// Of all parts that hold this drive's data and cannot lose another: all that is left, of a mirror
/// one copy.
fn read_of(tree: &LossTree, rebuilt: u32, is_dead: &dyn Fn(u32) -> bool, used: f64) -> f64 {
    let LossTree::Parts { survives, each, only_used, of } = tree else { return 0.0 };
    let below: f64 = of.iter().map(|part| read_of(part, rebuilt, is_dead, used)).sum();
    let dead = of.iter().filter(|part| part.is_lost(is_dead)).count();
    let needs =
        |part: &LossTree| part.is_lost(is_dead) && !part.is_lost(&|d| d != rebuilt && is_dead(d));
    if dead < *survives as usize || !of.iter().any(needs) {
        return below;
    }
    let sources = of.len() - dead;
    below + *each as f64 * if *only_used { used } else { 1.0 } * sources as f64
}

impl<'a> LossModel<'a> {
    /// Of these values.
    pub fn new(hazards: &'a crate::Hazards, values: [f64; 4]) -> Self {
        let [failures_per_year, replaced_after, rebuild, bits] = values;
        Self {
            tree: &hazards.tree,
            failures_per_hour: failures_per_year / HOURS_PER_YEAR,
            replaced_after,
            rebuild,
            exponential: false,
            unreadable_per_byte: 8.0 / bits.max(1.0),
            used: hazards.used,
            spares: hazards.spares,
            hours: hazards.years * HOURS_PER_YEAR,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::formulas::{chance_by_markov, mean_time_to_loss};

    fn array(n: u32, survives: u32) -> LossTree {
        LossTree::parts(survives, 10_000_000_000_000, (0..n).map(LossTree::Drive).collect())
    }

    fn model(tree: &LossTree, rate: f64, repair: f64, hours: f64) -> LossModel<'_> {
        LossModel {
            tree,
            failures_per_hour: rate,
            replaced_after: 0.0,
            rebuild: repair,
            exponential: true,
            unreadable_per_byte: 0.0,
            used: 1.0,
            spares: 0,
            hours,
        }
    }

    /// Without anything forced, until data are lost.
    fn time_to_loss(model: &LossModel<'_>, random: &mut ChaCha8Rng) -> f64 {
        let drives: Vec<u32> = model.tree.drives().into_iter().collect();
        let (mut now, mut missing) = (0.0, Vec::<Missing>::new());
        loop {
            let next = missing.iter().map(|m| m.until).fold(f64::INFINITY, f64::min);
            let rate = model.failures_per_hour * (drives.len() - missing.len()) as f64;
            let fails = now - (1.0 - random.random::<f64>()).ln() / rate;
            if next < fails {
                now = next;
                missing.retain(|m| m.until > now);
                continue;
            }
            now = fails;
            let drive = pick(&drives, &missing, random);
            missing.push(Missing { drive, until: now + model.missing_for(now, &mut [], random) });
            if model.tree.is_lost(&|drive| missing.iter().any(|m| m.drive == drive)) {
                return now;
            }
        }
    }

    #[test]
    fn mean_times_to_loss_are_markovs_within_a_hundredth() {
        for (n, survives, rate, repair) in
            [(2, 1, 1e-3, 50.0), (5, 1, 1e-3, 20.0), (6, 2, 2e-3, 40.0)]
        {
            let tree = array(n, survives);
            let model = model(&tree, rate, repair, f64::INFINITY);
            let mut random = ChaCha8Rng::seed_from_u64(7);
            let times = (0..100_000).map(|_| time_to_loss(&model, &mut random));
            let mean = times.sum::<f64>() / 100_000.0;
            let exact = mean_time_to_loss(n, survives, rate, 1.0 / repair);
            assert!((mean / exact - 1.0).abs() < 0.01, "{n} drives: {mean} for {exact}");
        }
    }

    #[test]
    fn forced_failures_give_the_chances_of_markov() {
        // From one in ten to one in ten million.
        for (n, survives, rate, repair) in [
            (2, 1, 1e-5, 24.0),
            (4, 1, 2e-6, 100.0),
            (6, 2, 2e-6, 100.0),
            (3, 2, 1e-6, 24.0),
            (4, 1, 3e-5, 200.0),
        ] {
            let tree = array(n, survives);
            let hours = 5.0 * HOURS_PER_YEAR;
            let mut random = ChaCha8Rng::seed_from_u64(3);
            let found = model(&tree, rate, repair, hours).losses(400_000, &mut random).all;
            let exact = chance_by_markov(n, survives, rate, 1.0 / repair, hours);
            assert!((found / exact - 1.0).abs() < 0.03, "{n} {survives}: {found} for {exact}");
        }
    }

    #[test]
    fn unreadable_sectors_are_those_of_all_that_is_left() {
        // A drive that fails within five years is rebuilt from three whole drives, or from one.
        let (rate, hours) = (1e-8, 5.0 * HOURS_PER_YEAR);
        let pairs =
            LossTree::neighbours(2, 2, 10_000_000_000_000, &[0, 1, 2, 3].map(LossTree::Drive));
        let round =
            LossTree::neighbours(2, 1, 5_000_000_000_000, &[0, 1, 2, 3].map(LossTree::Drive));
        for (tree, sources) in [(array(4, 1), 3.0), (array(4, 2), 0.0), (pairs, 1.0), (round, 1.0)]
        {
            let model = LossModel { unreadable_per_byte: 1e-14, ..model(&tree, rate, 24.0, hours) };
            let found = model.losses(20_000, &mut ChaCha8Rng::seed_from_u64(5)).some;
            let fails = -(-4.0 * rate * hours).exp_m1();
            let expected = fails * -(-0.1_f64 * sources).exp_m1();
            assert!(
                (found - expected).abs() <= 0.03 * expected + 1e-7,
                "{found} for {expected}: {tree:?}"
            );
        }
    }

    #[test]
    fn a_rebuild_by_use_reads_what_is_used() {
        // Nearly every history has one failure, which is rebuilt in the time.
        let (rate, hours) = (1e-8, 5.0 * HOURS_PER_YEAR);
        let some = |tree: &LossTree, used: f64| {
            let known = model(tree, rate, 24.0, hours);
            let model = LossModel { unreadable_per_byte: 1e-15, used, ..known };
            model.losses(20_000, &mut ChaCha8Rng::seed_from_u64(5)).some
        };
        let (whole, by_use) = (array(4, 1), array(4, 1).rebuilt_by_use());
        let all = some(&whole, 1.0);
        assert_eq!((some(&whole, 0.25), some(&by_use, 1.0)), (all, all));
        let ratio = some(&by_use, 0.25) / all;
        assert!((ratio - 0.25).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn a_spare_saves_the_wait() {
        let tree = array(4, 1);
        let base = LossModel {
            replaced_after: 900.0,
            exponential: false,
            ..model(&tree, 2e-6, 100.0, 43_830.0)
        };
        let chance = |spares| {
            let model = LossModel { spares, ..base.clone() };
            model.losses(200_000, &mut ChaCha8Rng::seed_from_u64(9)).all
        };
        // Ten times the window in which a second one may fail; the years end before a hundredth of the
        // longer windows do. In the 900 h until the spare is there again 0.64 % of the failures find
        // none, and have the longer one too.
        let ratio = chance(0) / chance(1);
        assert!((ratio - 9.87 / 1.064).abs() < 0.15, "{ratio}");
    }
}
