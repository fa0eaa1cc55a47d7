//! Where random I/Os go, if not evenly everywhere.

use disklab_jobfile::{Distribution, Zone, ZoneSize};

use super::permutation::Permutation;
use crate::random::Random;

/// Up to here the zeta sum is added up; beyond, its integral is close enough
/// (Euler–Maclaurin: the next term is below 1e-9 of it). fio adds up the first
/// 10 million and leaves the rest out (lib/zipf.c).
const ZETA_TERMS: u64 = 100_000;

/// The generalised harmonic number of `n` and `theta`.
fn zeta(n: u64, theta: f64) -> f64 {
    let terms = n.min(ZETA_TERMS);
    let sum: f64 = (1..=terms).map(|i| (i as f64).powf(-theta)).sum();
    if n == terms {
        return sum;
    }
    let (a, b) = (terms as f64, n as f64);
    let integral = (b.powf(1.0 - theta) - a.powf(1.0 - theta)) / (1.0 - theta);
    sum + integral + (b.powf(-theta) - a.powf(-theta)) / 2.0
}

/// Draws ranks 0, 1, 2 … by Zipf's law, by the method of Gray et al., 'Quickly
/// generating billion-record synthetic databases' (1994), which fio uses too.
#[derive(Debug, Clone)]
pub(super) struct Zipf {
    n: u64,
    theta: f64,
    alpha: f64,
    eta: f64,
    zeta_n: f64,
}

impl Zipf {
    pub(super) fn new(n: u64, theta: f64) -> Self {
        let n = n.max(1);
        let zeta_n = zeta(n, theta);
        let zeta_2 = zeta(2.min(n), theta);
        let eta = (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - zeta_2 / zeta_n);
        Self { n, theta, alpha: 1.0 / (1.0 - theta), eta, zeta_n }
    }

    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let uniform = random.unit();
        let scaled = uniform * self.zeta_n;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < 1.0 + 0.5_f64.powf(self.theta) {
            return 1.min(self.n - 1);
        }
        let rank = self.n as f64 * (self.eta * uniform - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.n - 1)
    }
}

/// Ranks by Pareto's law: a share `power` of the ranks gets the share
/// 1 − `power` of the draws (lib/zipf.c: pareto_next).
pub(super) fn pareto(n: u64, power: f64, random: &mut Random) -> u64 {
    let exponent = power.ln() / (1.0 - power).ln();
    let rank = n.saturating_sub(1) as f64 * random.unit().powf(exponent);
    (rank as u64).min(n.saturating_sub(1))
}

/// Places by a normal distribution around the middle, with a deviation in
/// percent of the range. What falls outside is drawn again.
pub(super) fn normal(n: u64, deviation: f64, random: &mut Random) -> u64 {
    let deviation = (deviation / 100.0).max(1e-9);
    for _ in 0..100 {
        // Box and Muller: the logarithm's argument is never 0.
        let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
        let place = 0.5 + deviation * radius * (std::f64::consts::TAU * random.unit()).cos();
        if (0.0..1.0).contains(&place) {
            return ((place * n as f64) as u64).min(n.saturating_sub(1));
        }
    }
    n / 2
}

/// How ranks are drawn.
#[derive(Debug, Clone)]
pub(super) enum RankOrder {
    Zipf(Zipf),
    /// By its power.
    Pareto(f64),
    /// By its deviation in percent.
    Normal(f64),
}

/// Draws blocks of one file.
#[derive(Debug, Clone)]
pub(super) enum OffsetDraw {
    /// Evenly.
    Uniform,
    /// By rank. Neighbours in rank are none in the file: ranks lie about it in an order
    /// of their own, which a center shifts (as in fio, which hashes them: `zipf_next`,
    /// `gauss_next`).
    Ranked { ranks: RankOrder, spread: Permutation, shift: u64 },
    /// In zones: (percent of draws so far, first block, blocks).
    Zoned(Vec<(u64, u64, u64)>),
}

impl OffsetDraw {
    /// For a file of `n` blocks of `block` bytes.
    pub(super) fn new(distribution: &Distribution, n: u64, block: u64, seed: u64) -> Self {
        let ranked = |ranks, center: Option<f64>| Self::Ranked {
            ranks,
            spread: Permutation::new(n, seed),
            shift: (center.unwrap_or(0.0) * n as f64) as u64 % n.max(1),
        };
        match distribution {
            Distribution::Uniform => Self::Uniform,
            Distribution::Zipf { theta, center } => {
                ranked(RankOrder::Zipf(Zipf::new(n, *theta)), *center)
            }
            Distribution::Pareto { power, center } => ranked(RankOrder::Pareto(*power), *center),
            Distribution::Normal { deviation, center } => {
                ranked(RankOrder::Normal(*deviation), *center)
            }
            Distribution::Zoned(zones) => Self::Zoned(spans(zones, n, block)),
        }
    }

    /// A block below `n`, which is at least 1.
    pub(super) fn block(&self, n: u64, random: &mut Random) -> u64 {
        match self {
            Self::Uniform => random.below(n),
            Self::Ranked { ranks, spread, shift } => {
                let rank = match ranks {
                    RankOrder::Zipf(zipf) => zipf.draw(random),
                    RankOrder::Pareto(power) => pareto(n, *power, random),
                    RankOrder::Normal(deviation) => normal(n, *deviation, random),
                };
                // Below 2^51: both are below the number of blocks of a file.
                (spread.at(rank) + shift) % n
            }
            Self::Zoned(zones) => {
                let all = zones.last().map_or(1, |zone| zone.0);
                let at = random.below(all);
                let zone = zones.iter().find(|zone| at < zone.0);
                zone.map_or(0, |(_, first, blocks)| first + random.below(*blocks)).min(n - 1)
            }
        }
    }
}

/// Where the zones of a file of `n` blocks lie; those without a block are left out.
fn spans(zones: &[Zone], n: u64, block: u64) -> Vec<(u64, u64, u64)> {
    let mut spans = Vec::new();
    let (mut drawn, mut first, mut percent) = (0_u64, 0_u64, 0_u64);
    for zone in zones {
        let end = match zone.size {
            ZoneSize::Percent(share) => {
                percent += u64::from(share);
                (u128::from(n) * u128::from(percent) / 100) as u64
            }
            ZoneSize::Bytes(bytes) => first.saturating_add(bytes / block.max(1)),
        }
        .min(n);
        if end > first && zone.access_percent > 0 {
            drawn += u64::from(zone.access_percent);
            spans.push((drawn, first, end - first));
        }
        first = end;
    }
    spans
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(distribution: &Distribution, n: u64) -> Vec<u64> {
        let draw = OffsetDraw::new(distribution, n, 4096, 3);
        let mut random = Random::new(5, 0);
        let mut counts = vec![0; n as usize];
        for _ in 0..100_000 {
            counts[draw.block(n, &mut random) as usize] += 1;
        }
        counts
    }

    #[test]
    fn zipf_has_its_frequencies() {
        for theta in [0.6, 1.2] {
            let at = |center| Distribution::Zipf { theta, center };
            let counts = counts(&at(Some(0.25)), 1000);
            let all = zeta(1000, theta);
            let mut sorted = counts.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            for (rank, tolerance) in [(0_usize, 0.05), (1, 0.08), (9, 0.35)] {
                let wanted = ((rank + 1) as f64).powf(-theta) / all * 100_000.0;
                let got = sorted[rank] as f64;
                assert!((got / wanted - 1.0).abs() < tolerance, "{theta} {rank}: {got} {wanted}");
            }
            let mut plain = self::counts(&at(None), 1000);
            assert!(plain.windows(2).filter(|w| w[0] > w[1]).count() > 300, "spread");
            plain.rotate_right(250);
            assert_eq!(plain, counts, "shifted");
        }
    }

    #[test]
    fn a_large_zeta_is_close_to_the_sum() {
        let sum: f64 = (1..=1_000_000_u64).map(|i| (i as f64).powf(-1.2)).sum();
        assert!((zeta(1_000_000, 1.2) / sum - 1.0).abs() < 1e-9);
    }

    #[test]
    fn pareto_gives_the_few_the_most() {
        // 0.2: a fifth of the blocks gets four fifths of the I/Os.
        let mut counts = counts(&Distribution::Pareto { power: 0.2, center: Some(0.0) }, 1000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let first: u64 = counts[..200].iter().sum();
        assert!((78_000..82_000).contains(&first), "{first}");
    }

    #[test]
    fn normal_has_its_deviation() {
        for center in [None, Some(0.25)] {
            let mut counts = counts(&Distribution::Normal { deviation: 5.0, center }, 1000);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let within: u64 = counts[..100].iter().sum();
            assert!((67_000..70_000).contains(&within), "{within}");
        }
    }

    #[test]
    fn zones_get_their_shares() {
        let zone = |access_percent, size| Zone { access_percent, size };
        let relative = vec![zone(60, ZoneSize::Percent(10)), zone(40, ZoneSize::Percent(90))];
        let counts_of = |zones| counts(&Distribution::Zoned(zones), 1000);
        let first: u64 = counts_of(relative)[..100].iter().sum();
        assert!((59_000..61_000).contains(&first), "{first}");
        let absolute =
            vec![zone(90, ZoneSize::Bytes(4096 * 10)), zone(10, ZoneSize::Bytes(1 << 40))];
        let first: u64 = counts_of(absolute)[..10].iter().sum();
        assert!((89_000..91_000).contains(&first), "{first}");
    }

    fn distributions() -> impl Strategy<Value = Distribution> {
        let center = || prop::option::of(0.0_f64..=1.0);
        prop_oneof![
            (0.01_f64..3.0, center()).prop_map(|(theta, center)| {
                let theta = if theta == 1.0 { 1.1 } else { theta };
                Distribution::Zipf { theta, center }
            }),
            (0.01_f64..0.99, center())
                .prop_map(|(power, center)| Distribution::Pareto { power, center }),
            (0.0_f64..=100.0, center())
                .prop_map(|(deviation, center)| Distribution::Normal { deviation, center }),
            prop::collection::vec((0_u8..100, 0_u8..100), 1..9).prop_map(|zones| {
                let zone = |(access_percent, share)| Zone {
                    access_percent,
                    size: ZoneSize::Percent(share),
                };
                Distribution::Zoned(zones.into_iter().map(zone).collect())
            }),
        ]
    }

    proptest! {
        #[test]
        fn blocks_lie_in_the_file(distribution in distributions(), n in 1_u64..1 << 50) {
            let draw = OffsetDraw::new(&distribution, n, 4096, 1);
            let mut random = Random::new(1, 1);
            for _ in 0..50 {
                prop_assert!(draw.block(n, &mut random) < n);
            }
        }
    }
}
