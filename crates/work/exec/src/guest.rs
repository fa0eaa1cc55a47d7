//! What programs in a guest of the lab need not find out.

use std::collections::BTreeMap;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// What is known of a guest before its first program starts.
#[derive(Debug, Clone)]
pub struct GuestFacts {
    /// By program, what its `--version` prints: to start it takes a while in the lab.
    pub versions: BTreeMap<&'static str, String>,
    /// When its kernel started.
    pub clock: BootClock,
}

/// The clock that a guest of the lab has in common with its host.
#[derive(Debug, Clone, Copy)]
pub struct BootClock {
    moment: Instant,
    /// How many nanoseconds the kernel had run by then.
    ns: u64,
}

impl BootClock {
    /// Reads the clock, once for all moments: in the lab each reading moves it.
    pub fn read() -> Self {
        let now = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
        let ns = seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self { moment: Instant::now(), ns }
    }

    /// A moment, in nanoseconds since the start of the kernel.
    pub fn since_boot(&self, moment: Instant) -> u64 {
        let since = moment.saturating_duration_since(self.moment).as_nanos();
        self.ns.saturating_add(u64::try_from(since).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_counted_from_the_kernels_start() {
        let clock = BootClock::read();
        assert!(clock.ns > 0);
        assert_eq!(clock.since_boot(clock.moment + Duration::from_nanos(7)), clock.ns + 7);
        assert_eq!(clock.since_boot(clock.moment), clock.ns);
    }
}
