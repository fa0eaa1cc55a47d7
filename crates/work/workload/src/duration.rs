//! Durations as samples have them.

use std::time::Duration;

/// A duration in whole nanoseconds; 584 years are the most.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
