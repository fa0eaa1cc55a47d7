//! The time of day, as runs remember it.

use std::time::SystemTime;

use jiff::Timestamp;

/// Now. A clock that is set to a time outside of the years that a timestamp has, such as
/// 10000, counts as the last or the first of them.
#[must_use]
pub fn now() -> Timestamp {
    timestamp(SystemTime::now())
}

fn timestamp(time: SystemTime) -> Timestamp {
    let nearest = if time < SystemTime::UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(nearest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_time_is_a_timestamp() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let before = |seconds: u64| SystemTime::UNIX_EPOCH - Duration::from_secs(seconds);
        assert_eq!(timestamp(at(1)), Timestamp::constant(1, 0));
        assert_eq!(timestamp(before(1)), Timestamp::constant(-1, 0));
        for far in [400_000_000_000, u64::try_from(i64::MAX).unwrap()] {
            assert_eq!(timestamp(at(far)), Timestamp::MAX);
            assert_eq!(timestamp(before(far)), Timestamp::MIN);
        }
        // A run keeps its time as text.
        for time in [Timestamp::MAX, Timestamp::MIN] {
            assert_eq!(time.to_string().parse::<Timestamp>().expect("a time"), time);
        }
    }
}
