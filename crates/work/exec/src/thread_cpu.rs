//! The CPU time of one thread: how long something takes, whatever else runs.

use rustix::time::{ClockId, clock_gettime};

/// Seconds of CPU time that the calling thread has had. For tests, of other crates too: others
/// run at the same time.
#[doc(hidden)]
pub fn thread_cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn work_is_counted_and_sleep_is_not() {
        let before = thread_cpu_seconds();
        std::thread::sleep(Duration::from_millis(300));
        let asleep = thread_cpu_seconds() - before;
        assert!(asleep < 0.1, "{asleep}");
        let began = Instant::now();
        while thread_cpu_seconds() - before < 0.05 {
            assert!(began.elapsed() < Duration::from_secs(60), "a busy thread has no CPU time");
        }
    }
}
