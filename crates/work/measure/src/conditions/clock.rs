//! The clock: what it is made of, and whether it was set or stopped meanwhile.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use disklab_sample::Clock;

use crate::SystemRoot;

/// Which clock the kernel counts with (Documentation/ABI/testing/
/// sysfs-devices-system-clocksource).
const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Less is the reading of two clocks one after the other.
const GRAIN: Duration = Duration::from_millis(1);

/// Readings of the clocks, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClockMark {
    day: i128,
    steady: i128,
    with_sleep: i128,
}

impl ClockMark {
    pub(super) fn now() -> Self {
        let read = |clock| {
            let time = clock_gettime(clock);
            i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
        };
        Self {
            day: read(ClockId::Realtime),
            steady: read(ClockId::Monotonic),
            with_sleep: read(ClockId::Boottime),
        }
    }

    pub(super) fn until_now(self, root: &SystemRoot) -> Clock {
        Clock { source: root.value(SOURCE), ..self.until(&Self::now()) }
    }

    fn until(&self, later: &Self) -> Clock {
        let steady = later.steady - self.steady;
        let slept = later.with_sleep - self.with_sleep - steady;
        // The time of day advances while the machine sleeps.
        let stepped = later.day - self.day - steady - slept;
        let milliseconds = |ns: i128| {
            let whole = if ns.unsigned_abs() < GRAIN.as_nanos() { 0 } else { ns / 1_000_000 };
            i64::try_from(whole).unwrap_or(i64::MAX)
        };
        Clock {
            source: None,
            stepped_ms: milliseconds(stepped),
            slept_ms: milliseconds(slept),
            elapsed_ms: milliseconds(steady),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    const SECOND: i128 = 1_000_000_000;

    fn mark(day: i128, steady: i128, with_sleep: i128) -> ClockMark {
        ClockMark { day, steady, with_sleep }
    }

    #[test]
    fn steps_and_sleep_are_distinguished() {
        let start = mark(1000 * SECOND, 10 * SECOND, 10 * SECOND);
        let even = start.until(&mark(1060 * SECOND + 900, 70 * SECOND, 70 * SECOND + 50));
        assert_eq!(even, Clock { elapsed_ms: 60_000, ..Clock::default() });
        let back = start.until(&mark(1058 * SECOND, 70 * SECOND, 70 * SECOND));
        assert_eq!((back.stepped_ms, back.slept_ms), (-2000, 0));
        let slept = start.until(&mark(1160 * SECOND, 70 * SECOND, 170 * SECOND));
        assert_eq!((slept.stepped_ms, slept.slept_ms), (0, 100_000));
    }

    #[test]
    fn the_source_is_the_kernels_word() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        assert_eq!(ClockMark::now().until_now(&tree.root()).source, None);
        tree.file(SOURCE, "hpet\n");
        assert_eq!(ClockMark::now().until_now(&tree.root()).source.as_deref(), Some("hpet"));
    }

    proptest! {
        #[test]
        fn any_readings_give_a_clock(a in any::<[i64; 3]>(), b in any::<[i64; 3]>()) {
            let mark = |[day, steady, sleep]: [i64; 3]| mark(day.into(), steady.into(), sleep.into());
            let _ = mark(a).until(&mark(b));
        }
    }
}
