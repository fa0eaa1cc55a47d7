//! How fast virtual time may go while somebody sits at the guest's console.

use std::time::{Duration, Instant};

use disklab_drive::Nanos;

/// The pace of a guest's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConsolePace {
    /// As fast as it can: a program runs, and its user wants to see the end.
    Free,
    /// With real time, from these two moments on: everything waits for its user.
    /// What runs in the background meanwhile is not lost out of sight.
    Real(Nanos, Instant),
}

impl ConsolePace {
    /// The same clock, from now on held back or not.
    pub fn hold(self, waits: bool, now: Nanos, real: Instant) -> Self {
        match (self, waits) {
            (_, false) => Self::Free,
            (Self::Free, true) => Self::Real(now, real),
            (held, true) => held,
        }
    }

    /// How far the guest's clock may be, at the real time `real`; `None` where it
    /// is not held back.
    pub fn limit(self, real: Instant) -> Option<Nanos> {
        let Self::Real(virtual_then, real_then) = self else { return None };
        let passed = real.saturating_duration_since(real_then).as_nanos();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        Some(Nanos(virtual_then.0.saturating_add(passed)))
    }

    /// How long the guest has to wait before it may be at `time`.
    pub fn delay(self, time: Nanos, real: Instant) -> Duration {
        let limit = self.limit(real).unwrap_or(time);
        Duration::from_nanos(time.0.saturating_sub(limit.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_held_clock_goes_with_real_time() {
        let real = Instant::now();
        let held = ConsolePace::Free.hold(true, Nanos(500), real);
        assert_eq!(ConsolePace::Free.limit(real), None);
        assert_eq!(ConsolePace::Free.delay(Nanos(u64::MAX), real), Duration::ZERO);
        assert_eq!(held.limit(real), Some(Nanos(500)));
        let later = real + Duration::from_secs(2);
        assert_eq!(held.limit(later), Some(Nanos(2_000_000_500)));
        assert_eq!(held.delay(Nanos(3_000_000_500), later), Duration::from_secs(1));
        assert_eq!(held.hold(true, Nanos(900), later), held, "holding again changes nothing");
        assert_eq!(held.hold(false, Nanos(900), later), ConsolePace::Free);
    }

    proptest! {
        #[test]
        fn after_its_delay_the_guest_may_be_there(then in 0..1_u64 << 50, time in 0..1_u64 << 50, passed in 0..1_u64 << 40) {
            let began = Instant::now();
            let held = ConsolePace::Real(Nanos(then), began);
            let real = began + Duration::from_nanos(passed);
            let delay = held.delay(Nanos(time), real);
            prop_assert!(held.limit(real + delay).unwrap() >= Nanos(time));
        }
    }
}
