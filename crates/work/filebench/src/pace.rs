//! Events: what `eventgen rate=` gives out, and limits wait for.

use std::sync::atomic::{AtomicU64, Ordering};

/// Events that nobody took are kept for this long, as upstream's queue does
/// (`eventgen.c`): 5 s.
const KEPT_NS: f64 = 5e9;

/// Events at an even rate. Nothing makes them: taking one returns from when on
/// it is there.
#[derive(Debug, Default)]
pub(crate) struct PacedEvents {
    /// Events per second as bits of an f64; 0 means without limit.
    rate: AtomicU64,
    /// Nanoseconds at which the last event that was taken came, as bits of an f64:
    /// exact for 104 days.
    taken: AtomicU64,
}

impl PacedEvents {
    /// Sets the rate in events per second; 0 means without limit. Events are counted
    /// from `now` on, in nanoseconds.
    pub fn set(&self, rate: f64, now: u64) {
        let rate = if rate.is_finite() { rate.max(0.0) } else { 0.0 };
        self.rate.store(rate.to_bits(), Ordering::Relaxed);
        self.taken.store((now as f64).to_bits(), Ordering::Relaxed);
    }

    /// Whether there is a limit at all.
    pub fn limited(&self) -> bool {
        f64::from_bits(self.rate.load(Ordering::Relaxed)) > 0.0
    }

    /// Takes `count` events; returns when the last of them is there.
    pub fn take(&self, count: u64, now: u64) -> u64 {
        let rate = f64::from_bits(self.rate.load(Ordering::Relaxed));
        if rate <= 0.0 || count == 0 {
            return now;
        }
        let lasting = count as f64 * 1e9 / rate;
        let after = |taken: f64| taken.max(now as f64 - KEPT_NS) + lasting;
        let next = |bits| Some(after(f64::from_bits(bits)).to_bits());
        match self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            // `as` saturates.
            Ok(before) | Err(before) => after(f64::from_bits(before)).ceil() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn events_come_evenly() {
        let events = PacedEvents::default();
        assert!(!events.limited());
        assert_eq!(events.take(7, 3), 3);
        events.set(100.0, SECOND);
        assert!(events.limited());
        assert_eq!(events.take(1, SECOND), SECOND + SECOND / 100);
        assert_eq!(events.take(99, SECOND), 2 * SECOND);
        assert_eq!(events.take(1, 2 * SECOND), 2 * SECOND + SECOND / 100);
    }

    #[test]
    fn five_seconds_of_events_are_kept() {
        let events = PacedEvents::default();
        events.set(10.0, 0);
        let now = 1000 * SECOND;
        for _ in 0..50 {
            assert!(events.take(1, now) <= now);
        }
        assert!(events.take(1, now) > now);
    }

    #[test]
    fn no_rate_panics() {
        let events = PacedEvents::default();
        for rate in [f64::NAN, f64::INFINITY, -1.0, 1e-300, 1e300] {
            events.set(rate, 5);
            let _ = events.take(u64::MAX, u64::MAX);
        }
    }
}
