//! Random numbers for patterns: fast, seeded, and the same on every machine.

use disklab_content::next_splitmix64;
pub(crate) use disklab_content::splitmix64 as mix;

/// xoshiro256** by Blackman and Vigna (<https://prng.di.unimi.it>): 64 bits in
/// about a nanosecond. Written out here because a pattern must stay the same
/// from release to release, which crates of generators do not promise.
#[derive(Debug, Clone)]
pub(crate) struct Random([u64; 4]);

impl Random {
    /// The generator number `stream` of a seed. Streams are independent: each
    /// use has its own, so that one more draw in one place moves no other.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut at = mix(seed ^ mix(stream));
        // Patterns begin with the second word.
        next_splitmix64(&mut at);
        let mut word = || next_splitmix64(&mut at);
        Self([word(), word(), word(), word() | 1])
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number from 0 to below `n`; 0 for `n` = 0. The bias is below `n` / 2^64.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number from 0 to below 1, of 53 bits.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something of `percent` (0 to 100) happens.
    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_even_and_streams_differ() {
        let mut a = Random::new(7, 0);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[a.below(10) as usize] += 1;
        }
        assert!(counts.iter().all(|n| (9_600..10_400).contains(n)), "{counts:?}");
        let draw = |seed, stream| Random::new(seed, stream).next();
        assert_eq!(draw(7, 1), draw(7, 1));
        assert_ne!(draw(7, 1), draw(7, 2));
        assert_ne!(draw(7, 1), draw(8, 1));
        let mean: f64 = (0..10_000).map(|_| a.unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert!((0..1000).all(|_| !a.percent(0) && a.percent(100) && a.below(0) == 0));
    }

    #[test]
    fn generator_is_xoshiro() {
        // The first outputs of the published generator from the state 1, 2, 3, 4.
        let mut published = Random([1, 2, 3, 4]);
        assert_eq!([published.next(), published.next(), published.next()], [11520, 0, 1509978240]);
    }
}
