//! Where random numbers come from.

use std::sync::{Arc, Mutex, PoisonError};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::twister::Twister;
use super::uniform::Uniform;

/// The generator of one thread of a run.
#[derive(Debug, Clone)]
pub enum Rng {
    /// ChaCha with 8 rounds: a stream of its own per thread.
    Stream(Box<ChaCha8Rng>),
    /// Filebench's: one Mersenne Twister, shared by the threads of a process.
    Compat(Arc<Mutex<Twister>>),
}

impl Rng {
    /// Stream number `stream` of the run's `seed`. Give each thread instance of
    /// each process instance its own number; the fileset trees take others.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream(stream);
        Self::Stream(Box::new(source))
    }

    /// `compat_rng`: what every process of Filebench draws, in every run. The
    /// threads of one process take clones of one such generator.
    pub fn compat() -> Self {
        Self::Compat(Arc::new(Mutex::new(Twister::default())))
    }
}

impl Uniform for Rng {
    fn next_u64(&mut self) -> u64 {
        match self {
            Self::Stream(source) => source.next_u64(),
            // A thread that panicked while it drew left a usable state.
            Self::Compat(shared) => {
                shared.lock().unwrap_or_else(PoisonError::into_inner).next_u64()
            }
        }
    }

    fn unit(&mut self) -> f64 {
        match self {
            // The highest 53 bits: every double of that spacing is equally likely.
            Self::Stream(source) => (source.next_u64() >> 11) as f64 / (1_u64 << 53) as f64,
            Self::Compat(shared) => shared.lock().unwrap_or_else(PoisonError::into_inner).unit(),
        }
    }

    fn is_upstream(&self) -> bool {
        matches!(self, Self::Compat(_))
    }
}

/// Upstream's random offset for `unit` bytes in `space` bytes:
/// ⌊u·(space−unit)/unit⌋·unit (`fb_random64`). The last place is never drawn, a
/// flaw that `strict` keeps. 0 where nothing fits.
pub fn upstream_offset(rng: &mut impl Uniform, space: u64, unit: u64) -> u64 {
    let room = space.saturating_sub(unit);
    let drawn = (rng.unit() * room as f64) as u64;
    drawn.checked_div(unit).map_or(drawn, |n| n * unit)
}

/// A random offset for `unit` bytes in `space` bytes: a multiple of `unit`, each
/// whole place equally likely. 0 where nothing fits or `unit` is 0.
pub fn random_offset(rng: &mut impl Uniform, space: u64, unit: u64) -> u64 {
    match space.checked_div(unit) {
        None | Some(0) => 0,
        Some(places) => below(rng, places) * unit,
    }
}

/// A number in [0, `n`), by multiplication: the bias is below n/2⁶⁴. 0 where `n`
/// is 0.
pub(crate) fn below(rng: &mut impl Uniform, n: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::Rng;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn streams_are_repeatable_and_differ() {
        let draw = |seed, stream| {
            let mut rng = Rng::stream(seed, stream);
            [rng.next_u64(), rng.next_u64(), rng.next_u64()]
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    #[test]
    fn clones_of_the_upstream_generator_share_their_state() {
        let mut one = Rng::compat();
        let mut other = one.clone();
        let mut alone = Twister::default();
        for _ in 0..3 {
            assert_eq!(one.next_u64(), alone.next_u64());
            assert_eq!(other.next_u64(), alone.next_u64());
        }
    }

    #[test]
    fn every_place_is_drawn_by_default_and_not_the_last_by_upstream() {
        let mut rng = Rng::stream(7, 0);
        let mut seen = [[false; 4]; 2];
        for _ in 0..1000 {
            seen[0][random_offset(&mut rng, 4096, 1024) as usize / 1024] = true;
            seen[1][upstream_offset(&mut rng, 4096, 1024) as usize / 1024] = true;
        }
        assert_eq!(seen, [[true; 4], [true, true, true, false]]);
    }

    proptest! {
        #[test]
        fn places_fit(seed: u64, space in 0_u64..=u64::MAX, unit in 0_u64..1 << 40) {
            let mut rng = Rng::stream(seed, 1);
            let place = random_offset(&mut rng, space, unit);
            prop_assert!(place == 0 || (place % unit == 0 && place + unit <= space));
            upstream_offset(&mut rng, space, unit);
        }
    }
}
