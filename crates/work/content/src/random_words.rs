//! Recognises random data of this crate.

use crate::words::{WORD, fill_from, mix, unmix};

/// Random words in a row, by which they can be made again. [`crate::Base::Random`] consists
/// of nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RandomWords {
    state: u64,
    step: u64,
}

impl RandomWords {
    /// What gives `data`. `None` if `data` is no such row, or shorter than three words,
    /// by which rows are recognised. Data of others look like one by chance in one
    /// case of 2^64, and then are one.
    pub fn of(data: &[u8]) -> Option<Self> {
        let (words, tail) = data.as_chunks::<WORD>();
        let [first, second, third, ..] = words else { return None };
        let [state, next, after] =
            [first, second, third].map(|word| unmix(u64::from_le_bytes(*word)));
        let step = next.wrapping_sub(state);
        if after.wrapping_sub(next) != step || !tail.is_empty() {
            return None;
        }
        let mut expected = after;
        let same = words[3..].iter().all(|word| {
            expected = expected.wrapping_add(step);
            u64::from_le_bytes(*word) == mix(expected)
        });
        same.then_some(Self { state, step })
    }

    /// Fills `buffer` with them, from the first on.
    pub fn fill(self, buffer: &mut [u8]) {
        fill_from(self.state, self.step, buffer);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Base, ContentBuffers};

    proptest! {
        #[test]
        fn random_data_are_recognised_and_made_again(
            seed in any::<u64>(),
            offset in 0_u64..1 << 40,
            length in 3_usize..600,
            wrong in proptest::option::of((any::<prop::sample::Index>(), 1_u8..)),
        ) {
            let mut data = vec![0; length * WORD];
            let mut buffers = ContentBuffers::plain(Base::Random, seed);
            buffers.go_to(seed, offset * WORD as u64);
            buffers.fill(&mut data);
            if let Some((at, bits)) = wrong {
                *at.get_mut(&mut data) ^= bits;
            }
            let found = RandomWords::of(&data);
            // Any two words are a row; so are three, of which one is wrong, hardly ever.
            prop_assert_eq!(found.is_some(), wrong.is_none());
            if let Some(words) = found {
                let mut again = vec![0; data.len()];
                words.fill(&mut again);
                prop_assert!(again == data);
            }
        }

        #[test]
        fn recognised_words_reproduce_their_data(data in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Some(words) = RandomWords::of(&data) {
                let mut again = vec![0; data.len()];
                words.fill(&mut again);
                prop_assert_eq!(again, data);
            }
        }
    }
}
