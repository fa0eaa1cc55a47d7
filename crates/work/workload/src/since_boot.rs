//! When a step began, on the clock that a guest of the lab has in common with its host.

use std::sync::OnceLock;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::duration::nanoseconds;

/// A moment, and how many nanoseconds the kernel had run by then.
static ANCHOR: OnceLock<(Instant, u64)> = OnceLock::new();

/// Has steps record when they began. The clock is read here, once: in the lab each reading
/// moves it, and steps are to read it no more often than without.
pub fn count_from_boot() {
    ANCHOR.get_or_init(|| {
        let now = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
        (Instant::now(), seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
    });
}

/// A moment in nanoseconds since the start of the kernel, if that is recorded.
pub(crate) fn since_boot(moment: Instant) -> Option<u64> {
    let (instant, ns) = ANCHOR.get()?;
    Some(ns.saturating_add(nanoseconds(moment.saturating_duration_since(*instant))))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_counted_from_the_kernels_start() {
        count_from_boot();
        let (instant, ns) = *ANCHOR.get().expect("read");
        assert_eq!(since_boot(instant + Duration::from_nanos(7)), Some(ns + 7));
        assert_eq!(since_boot(instant), Some(ns));
    }
}
