//! Random words by their place.

/// The odd number nearest to 2^64 divided by the golden ratio. Its multiples fill
/// the circle of 64-bit numbers most evenly (Knuth, The Art of Computer Programming
/// 3, 6.4, theorem S).
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bytes of a word.
pub(crate) const WORD: usize = size_of::<u64>();

/// Mixes 64 bits so that each depends on all: the finaliser of SplitMix64 (Steele,
/// Lea and Flood, 'Fast splittable pseudorandom number generators', OOPSLA 2014;
/// the constants are Stafford's 'Mix13'). A bijection: distinct numbers stay so.
#[inline]
pub(crate) const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The number that SplitMix64 gives in this state: a hash of 64 bits, by which near seeds give
/// far numbers.
#[inline]
pub const fn splitmix64(state: u64) -> u64 {
    mix(state.wrapping_add(GOLDEN))
}

/// SplitMix64's next number: the same on every machine and in every release.
#[inline]
pub const fn next_splitmix64(state: &mut u64) -> u64 {
    let number = splitmix64(*state);
    *state = state.wrapping_add(GOLDEN);
    number
}

/// The number that [`mix`] makes `mixed` of.
pub(crate) fn unmix(mixed: u64) -> u64 {
    let number = mixed ^ (mixed >> 31) ^ (mixed >> 62);
    let number = number.wrapping_mul(const { inverse(0x94d0_49bb_1331_11eb) });
    let number = number ^ (number >> 27) ^ (number >> 54);
    let number = number.wrapping_mul(const { inverse(0xbf58_476d_1ce4_e5b9) });
    number ^ (number >> 30) ^ (number >> 60)
}

/// What an odd number is to be multiplied by to give 1, by Newton's method: each round
/// doubles the bits that are right, of which an odd number has three.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut bits = 3;
    while bits < u64::BITS {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
}

/// Fills `buffer` with the mixed numbers from `state` on, each `step` after the last.
pub(crate) fn fill_from(mut state: u64, step: u64, buffer: &mut [u8]) {
    let (words, tail) = buffer.as_chunks_mut::<WORD>();
    for bytes in words {
        *bytes = mix(state).to_le_bytes();
        state = state.wrapping_add(step);
    }
    let last = mix(state).to_le_bytes();
    tail.copy_from_slice(&last[..tail.len()]);
}

/// A sequence of random words of which each is found by its position. The 2^64
/// words of a sequence are all distinct, so no two blocks of it, at multiples of 8
/// bytes, are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Words {
    start: u64,
    /// Odd, and another one for each sequence, so that no two are one shifted.
    step: u64,
}

impl Words {
    /// The sequence of a seed and a stream.
    pub fn new(seed: u64, stream: u64) -> Self {
        let key = mix(mix(seed.wrapping_add(GOLDEN)) ^ stream);
        let step = mix(key.wrapping_add(GOLDEN)) | 1;
        // A step with long runs of equal bits makes neighbours alike (section 5 of
        // the paper above, which has both constants).
        let step = if (step ^ (step >> 1)).count_ones() < 24 {
            step ^ 0xaaaa_aaaa_aaaa_aaaa
        } else {
            step
        };
        Self { start: key, step }
    }

    /// The word at a place.
    pub fn at(self, place: u64) -> u64 {
        mix(self.start.wrapping_add(place.wrapping_mul(self.step)))
    }

    /// Fills `buffer` with the bytes of the words from `place` on, without the
    /// first `skip` bytes of that word, which must be fewer than [`WORD`].
    pub fn fill(self, mut place: u64, skip: usize, buffer: &mut [u8]) {
        let mut buffer = buffer;
        if skip > 0 {
            let word = self.at(place).to_le_bytes();
            let head = word.len().saturating_sub(skip).min(buffer.len());
            let (now, later) = buffer.split_at_mut(head);
            now.copy_from_slice(&word[skip..skip + head]);
            buffer = later;
            place = place.wrapping_add(1);
        }
        fill_from(self.start.wrapping_add(place.wrapping_mul(self.step)), self.step, buffer);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bytes_are_the_same_on_every_machine() {
        // SplitMix64 from 1234567, as its authors' and others' test vectors have it.
        let words = Words { start: 1_234_567, step: GOLDEN };
        assert_eq!(words.at(1), 6_457_827_717_110_365_317);
        assert_eq!(words.at(2), 3_203_168_211_198_807_973);
        let mut bytes = [0; 8];
        words.fill(1, 0, &mut bytes);
        assert_eq!(bytes, 6_457_827_717_110_365_317_u64.to_le_bytes());
    }

    #[test]
    fn seeds_and_streams_differ() {
        let first: Vec<u64> = (0..100)
            .flat_map(|seed| (0..100).map(move |stream| Words::new(seed, stream).at(0)))
            .collect();
        let distinct: std::collections::HashSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), first.len());
    }

    proptest! {
        #[test]
        fn unmix_undoes_mix(number in any::<u64>()) {
            prop_assert_eq!(unmix(mix(number)), number);
            prop_assert_eq!(mix(unmix(number)), number);
        }

        #[test]
        fn any_part_is_that_part_of_the_whole(
            seed in any::<u64>(), place in any::<u64>(), from in 0_usize..64, length in 0_usize..64,
        ) {
            let words = Words::new(seed, 1);
            let mut whole = [0; 128];
            words.fill(place, 0, &mut whole);
            let mut part = vec![0; length];
            words.fill(place.wrapping_add((from / WORD) as u64), from % WORD, &mut part);
            prop_assert_eq!(&part[..], &whole[from..from + length]);
        }
    }
}
