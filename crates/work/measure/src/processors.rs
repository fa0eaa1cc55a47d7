//! The CPUs' time, from `/proc/stat` (man page proc_stat(5)).

const NS_PER_SECOND: u64 = 1_000_000_000;

/// All CPUs' time since boot, in ticks of USER_HZ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessorTime {
    /// user + nice + system + irq + softirq + steal: everything but idling and
    /// waiting for I/O. (The time of guests is within user and nice.)
    pub busy_ticks: u64,
    /// Of that, time that a hypervisor gave to others.
    pub steal_ticks: u64,
    /// How many processors were online.
    pub processors: u32,
}

impl ProcessorTime {
    /// Reads the text of `/proc/stat`; `None` without its first line.
    pub fn parse(text: &str) -> Option<Self> {
        let mut total = None;
        let mut processors = 0_u32;
        for line in text.lines() {
            let Some((label, numbers)) = line.split_once(char::is_whitespace) else { continue };
            let Some(index) = label.strip_prefix("cpu") else { continue };
            if !index.is_empty() {
                processors = processors.saturating_add(u32::from(index.parse::<u32>().is_ok()));
                continue;
            }
            // user nice system idle iowait irq softirq steal; kernels before
            // 2.6.11 end earlier.
            let mut fields = [0_u64; 8];
            for (field, word) in fields.iter_mut().zip(numbers.split_ascii_whitespace()) {
                *field = word.parse().ok()?;
            }
            let [user, nice, system, _idle, _iowait, irq, softirq, steal] = fields;
            let busy = [user, nice, system, irq, softirq, steal]
                .into_iter()
                .fold(0_u64, u64::saturating_add);
            total = Some((busy, steal));
        }
        let (busy_ticks, steal_ticks) = total?;
        Some(Self { busy_ticks, steal_ticks, processors })
    }

    /// Busy and stolen nanoseconds since `before`. A counter that went back
    /// (iowait and steal can, by a tick) counts as no progress.
    pub fn since(&self, before: &Self) -> (u64, u64) {
        let ns = |after: u64, before: u64| {
            let ns = u128::from(after.saturating_sub(before)) * u128::from(NS_PER_SECOND)
                / u128::from(ticks_per_second());
            u64::try_from(ns).unwrap_or(u64::MAX)
        };
        (ns(self.busy_ticks, before.busy_ticks), ns(self.steal_ticks, before.steal_ticks))
    }
}

/// USER_HZ, as `sysconf(_SC_CLK_TCK)` says: 100 on every Linux of today.
pub(crate) fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn busy_is_all_but_idle_and_iowait() {
        let text = "cpu  10 20 30 4000 500 6 7 8 9 10\ncpu0 5 10 15 2000 250 3 3 4 0 0\n\
                    cpu1 5 10 15 2000 250 3 4 4 0 0\nintr 1\nctxt 2\n";
        let time = ProcessorTime::parse(text).expect("stat");
        assert_eq!(time, ProcessorTime { busy_ticks: 81, steal_ticks: 8, processors: 2 });
        let (busy_ns, steal_ns) = time.since(&ProcessorTime::default());
        assert_eq!(busy_ns, 81 * NS_PER_SECOND / ticks_per_second());
        assert_eq!(steal_ns, 8 * NS_PER_SECOND / ticks_per_second());
        assert_eq!(ProcessorTime::default().since(&time), (0, 0));
    }

    #[test]
    fn this_machine_is_understood() {
        let text = std::fs::read_to_string("/proc/stat").expect("/proc/stat");
        let time = ProcessorTime::parse(&text).expect("parses");
        assert!(time.busy_ticks > 0 && time.processors > 0);
    }

    proptest! {
        #[test]
        fn hostile_text_does_no_harm(lines in prop::collection::vec("(cpu[0-9]{0,12})?[ 0-9x-]{0,80}", 0..6)) {
            if let Some(time) = ProcessorTime::parse(&lines.join("\n")) {
                let _ = time.since(&ProcessorTime::default());
            }
        }
    }
}
