//! A pass, measured at stretches all over the drives.

use std::time::{Duration, Instant};

use disklab_content::splitmix64;
use disklab_exec::Executor;
use disklab_measure::{NamedDevice, SystemRoot, Totals};
use disklab_sample::PassWindow;
use disklab_units::Bytes;

use crate::WorkloadError;
use crate::duration::nanoseconds;
use crate::events::PassInUse;

/// How often one looks how far it is.
const POLL: Duration = Duration::from_millis(50);

/// No window begins so near behind its stretch's end, unless the stretch is not twice as long: it
/// would leave it.
const REACH: u64 = 2 << 30;

/// A window, and what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DrawnWindow {
    /// By index.
    pub pass: usize,
    /// Where the window begins.
    pub at: u64,
    /// The length of the stretch in which that was drawn.
    pub stands_for: u64,
}

/// Divides passes of these lengths into about so many stretches, and draws a place in each.
pub(super) fn stretches(lengths: &[u64], windows: u32, seed: u64) -> Vec<DrawnWindow> {
    let all: u128 = lengths.iter().map(|length| u128::from(*length)).sum();
    let mut drawn = seed;
    let mut stretches = Vec::new();
    for (pass, length) in lengths.iter().enumerate() {
        let own = (u128::from(windows) * u128::from(*length) + all / 2) / all.max(1);
        let own = (own as u64).clamp(u64::from(*length > 0), u64::from(windows));
        for number in 0..own {
            let edge = |n: u64| (u128::from(*length) * u128::from(n) / u128::from(own)) as u64;
            let (from, to) = (edge(number), edge(number + 1));
            drawn = splitmix64(drawn);
            let room = (to - from) - REACH.min((to - from) / 2);
            let at = from + ((u128::from(drawn) * u128::from(room)) >> 64) as u64;
            stretches.push(DrawnWindow { pass, at, stands_for: to - from });
        }
    }
    stretches
}

/// Has a pass begin at a place and last for `time`, until what it wrote is durable: a drive's memory
/// takes the first of it faster than its medium.
///
/// # Errors
/// [`WorkloadError::PassStalled`] if nothing is done.
pub(super) fn measure(
    (pass, place): (&dyn PassInUse, DrawnWindow),
    time: Duration,
    watched: &[NamedDevice],
    executor: &Executor,
) -> Result<PassWindow, WorkloadError> {
    let from = pass.begin(Bytes(place.at), executor)?;
    let (began, drives) = (Instant::now(), Totals::start(&SystemRoot::here(), watched));
    let limit = pass.limit();
    while began.elapsed() < time && pass.is_running() {
        executor.interrupt.sleep(POLL)?;
    }
    let (to, ended) = pass.end()?;
    let elapsed_ns = nanoseconds(ended.saturating_duration_since(began));
    let share = |busy_ns: u64| (busy_ns as f64 / elapsed_ns.max(1) as f64).min(1.0);
    match to.0.saturating_sub(from.0) {
        0 => Err(WorkloadError::PassStalled(from)),
        bytes => Ok(PassWindow {
            stands_for: place.stands_for,
            at: from.0,
            bytes,
            elapsed_ns,
            limit: limit.map(|limit| limit.0 as f64),
            busy: drives.so_far().iter().map(|drive| share(drive.busy_ns)).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stretches_make_up_the_whole(
            lengths in proptest::collection::vec(0_u64..1 << 45, 1..5),
            windows in 1_u32..40,
            seed: u64,
        ) {
            let stretches = stretches(&lengths, windows, seed);
            for (pass, length) in lengths.iter().enumerate() {
                let mut from = 0;
                for place in stretches.iter().filter(|place| place.pass == pass) {
                    prop_assert!((from..from + place.stands_for).contains(&place.at));
                    from += place.stands_for;
                }
                prop_assert_eq!(from, *length);
            }
            prop_assert!(stretches.len() <= windows as usize + lengths.len());
        }
    }

    #[test]
    fn places_are_all_over_and_drawn_anew() {
        let of = |seed| stretches(&[10 << 40], 8, seed);
        let (one, other) = (of(1), of(2));
        assert_eq!((one.len(), &one), (8, &of(1)));
        assert!(one.iter().zip(&other).all(|(a, b)| a.at != b.at));
        // Equally likely anywhere: on average in the middle of the stretch.
        let mean = (0..2000).map(|seed| of(seed)[0].at as f64).sum::<f64>() / 2000.0;
        assert!((mean / (10_u64 << 40) as f64 * 8.0 - 0.5).abs() < 0.02, "{mean}");
    }
}
