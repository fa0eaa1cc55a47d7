//! A guest that means ill: whatever it sends, or puts into its rings and into the
//! memory that it shares, there is no panic, no endless loop, and nothing outside
//! the memory that it shared is written.
//!
//! Property tests, and `feed_disk` for a fuzzer.
//!
//! What fails to be set up here fails the test.
#![allow(clippy::unwrap_used)]

#[cfg(test)]
mod chains;
#[cfg(test)]
mod clock;
mod fixture;
mod fuzz;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod played;
#[cfg(test)]
mod scsi;
#[cfg(test)]
mod sound;

#[cfg(test)]
use proptest::prelude::*;

use fixture::*;
#[cfg(feature = "fuzzing")]
pub use fuzz::feed_disk;

#[cfg(test)]
/// A number that is sound, at an edge, or anything.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0..MEMORY).prop_map(|n| GUEST + n),
        1 => Just(GUEST + MEMORY - 1),
        1 => Just(GUEST - 1),
        1 => Just(0),
        1 => Just(u64::MAX),
        1 => any::<u64>(),
    ]
}
