//! Time, monotonic, in nanoseconds.

use std::time::{Duration, Instant};

/// A clock that starts when it is made. In the lab each look at it is a system
/// call, so flowops share them: the end of one is the begin of the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunClock(Instant);

impl RunClock {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Nanoseconds since its start; 584 years are the most.
    pub fn now(self) -> u64 {
        nanoseconds(self.0.elapsed())
    }
}

/// A duration in whole nanoseconds; 584 years are the most.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
