//! Every number once, in an order that looks random, without memory.

use crate::random::{Random, mix};

/// A bijection on 0..n: the random map of a job whose blocks have one size.
///
/// fio keeps a bit for each block ('random map'); this keeps nothing. It mixes
/// the bits of the number (odd multipliers and right shifts are bijections on
/// the numbers of k bits) and continues until the result lies below n, which
/// takes fewer than two rounds on average since 2^k < 2n.
#[derive(Debug, Clone)]
pub(crate) struct Permutation {
    n: u64,
    mask: u64,
    shift: u32,
    factors: [u64; 3],
    add: u64,
}

impl Permutation {
    /// The order that belongs to a seed, of the numbers below `n`.
    pub(crate) fn new(n: u64, seed: u64) -> Self {
        let mut random = Random::new(seed, mix(n));
        let bits = (64 - n.saturating_sub(1).leading_zeros()).max(1);
        let mask = u64::MAX >> (64 - bits);
        Self {
            n,
            mask,
            shift: bits.div_ceil(2),
            // 5 modulo 8: no factor is near 1 in the low bits.
            factors: [random.next(), random.next(), random.next()].map(|f| f & !7 | 5),
            add: random.next(),
        }
    }

    /// The number at a place; both are below `n`.
    pub(crate) fn at(&self, place: u64) -> u64 {
        assert!(place < self.n.max(1));
        let mut x = place & self.mask;
        loop {
            x = x.wrapping_add(self.add) & self.mask;
            for factor in self.factors {
                x = x.wrapping_mul(factor) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.n || self.n == 0 {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_comes_once(n in 1_u64..5000, seed: u64) {
            let permutation = Permutation::new(n, seed);
            let mut seen = vec![false; n as usize];
            for place in 0..n {
                let number = permutation.at(place) as usize;
                prop_assert!(!std::mem::replace(&mut seen[number], true));
            }
        }

        #[test]
        fn large_ranges_are_kept(n in 1_u64.., seed: u64, at in any::<prop::sample::Index>()) {
            let place = at.index(usize::MAX) as u64 % n;
            prop_assert!(Permutation::new(n, seed).at(place) < n);
        }
    }

    #[test]
    fn the_order_looks_random() {
        // Distances of neighbours are those of random draws: a third of the range
        // on average, and neighbours in the order are hardly ever neighbours in place.
        for n in [1000_u64, 4096, 100_000] {
            for seed in 0..20 {
                let permutation = Permutation::new(n, seed);
                let order: Vec<u64> = (0..n).map(|i| permutation.at(i)).collect();
                let distances = order.windows(2).map(|w| w[0].abs_diff(w[1]));
                let mean = distances.clone().sum::<u64>() as f64 / (n - 1) as f64 / n as f64;
                assert!((mean - 1.0 / 3.0).abs() < 0.04, "{n} {seed}: {mean}");
                let near = distances.filter(|d| *d == 1).count();
                assert!((near as u64) < 30, "{n} {seed}: {near}");
                // Halves and their halves are visited evenly in any tenth of the way.
                let tenth = &order[..(n / 10) as usize];
                let low = tenth.iter().filter(|x| **x < n / 2).count() as f64;
                let share = low / tenth.len() as f64;
                assert!((share - 0.5).abs() < 0.2, "{n} {seed}: {share}");
            }
        }
        let order = |seed| {
            let p = Permutation::new(1000, seed);
            (0..10).map(|i| p.at(i)).collect::<Vec<_>>()
        };
        assert_ne!(order(1), order(2));
    }
}
