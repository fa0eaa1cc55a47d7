//! How steady a step was, from what its workload counted.

use disklab_sample::{Steadiness, Trend};
use disklab_stats::{snia_steady_from, steadiness};

/// Intervals of this length are looked at, in nanoseconds, where the step lasts long
/// enough: page cache and drive do different things within a second.
const INTERVAL_NS: u64 = 1_000_000_000;
/// A shorter step is divided into so many.
const INTERVALS: u64 = 60;
/// Rounds of SNIA's rule: its tests make 25 at most (Solid State Storage Performance
/// Test Specification 2.0.2, 3.2).
const ROUNDS: usize = 25;

/// Operations, interval by interval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Length of an interval in nanoseconds.
    pub interval_ns: u64,
    /// Operations that ended in each. The last one may have been cut short.
    pub operations: Vec<u64>,
}

impl Counts {
    /// How steady the work was; none where there is too little to say.
    pub(crate) fn steadiness(&self) -> Option<Steadiness> {
        // The last interval is rarely a whole one.
        let whole = self.operations.split_last()?.1;
        let length = self.interval_ns.checked_mul(whole.len() as u64)?;
        let wanted = INTERVAL_NS.min(length / INTERVALS).max(1);
        let step = usize::try_from(wanted.div_ceil(self.interval_ns.max(1))).ok()?;
        let interval_ns = self.interval_ns.checked_mul(step as u64)?;
        let rates: Vec<f64> =
            whole.chunks_exact(step).map(|c| c.iter().map(|n| *n as f64).sum()).collect();
        let found = steadiness(&rates)?;
        let round = rates.len().div_ceil(ROUNDS);
        let rounds: Vec<f64> = rates.chunks_exact(round).map(|c| c.iter().sum()).collect();
        let at = |index: usize| index as u64 * interval_ns;
        let (trend, from) = match found.trend {
            disklab_stats::SeriesTrend::Flat => (Trend::Flat, 0),
            disklab_stats::SeriesTrend::Warmup => (Trend::Warmup, found.part.start),
            disklab_stats::SeriesTrend::Slowdown => (Trend::Slowdown, found.part.start),
            disklab_stats::SeriesTrend::NotSteady => (Trend::NotSteady, 0),
        };
        Some(Steadiness {
            interval_ns,
            intervals: u32::try_from(rates.len()).unwrap_or(u32::MAX),
            trend,
            steady_from_ns: at(from),
            snia_from_ns: snia_steady_from(&rounds).map(|index| at(index * round)),
            used_from_ns: 0,
        })
    }
}

/// What a reader of the sample should know of it; nothing where it was flat.
pub(crate) fn note(step: &str, steady: &Steadiness) -> Option<String> {
    let seconds = |ns: u64| disklab_units::significant(ns as f64 / 1e9, 3);
    let (what, from) = match steady.trend {
        Trend::Flat => return None,
        Trend::NotSteady => {
            return Some(format!("{step} did not become steady; its figures are of all of it"));
        }
        Trend::Warmup => ("slower", steady.steady_from_ns),
        Trend::Slowdown => ("faster", steady.steady_from_ns),
    };
    Some(format!(
        "{step} was {what} for the first {} of {} s; its figures are of all of it",
        seconds(from),
        seconds(steady.interval_ns.saturating_mul(u64::from(steady.intervals)))
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(interval_ns: u64, levels: &[(usize, u64)]) -> Counts {
        let levels = levels.iter().flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
        // Neighbours differ a little, and the last interval is cut short.
        let mut operations: Vec<u64> = levels.enumerate().map(|(i, l)| l + i as u64 % 3).collect();
        operations.push(1);
        Counts { interval_ns, operations }
    }

    #[test]
    fn a_burst_at_the_start_is_reported() {
        // 16 s at 128 intervals a second, the first 4 s three times as fast.
        let found = counts(7_812_500, &[(512, 900), (1536, 300)]).steadiness().expect("enough");
        assert_eq!(found.trend, Trend::Slowdown);
        let seconds = found.steady_from_ns as f64 / 1e9;
        assert!((3.9..4.4).contains(&seconds), "{seconds}");
        assert_eq!(found.used_from_ns, 0);
        assert!(found.snia_from_ns.is_some());
        let said = note("write", &found).expect("a remark");
        assert!(said.starts_with("write was faster for the first 4"), "{said}");
    }

    #[test]
    fn long_steps_are_seen_by_the_second() {
        let found = counts(500_000_000, &[(400, 1000)]).steadiness().expect("enough");
        assert_eq!((found.interval_ns, found.intervals), (1_000_000_000, 200));
        assert_eq!((found.trend, note("x", &found)), (Trend::Flat, None));
        assert_eq!(found.snia_from_ns, Some(0));
    }

    #[test]
    fn short_steps_say_nothing() {
        assert_eq!(counts(1_000_000_000, &[(5, 10)]).steadiness(), None);
        assert_eq!(Counts::default().steadiness(), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(interval_ns in any::<u64>(), operations in prop::collection::vec(any::<u64>(), 0..200)) {
            let _ = Counts { interval_ns, operations }.steadiness();
        }
    }
}
