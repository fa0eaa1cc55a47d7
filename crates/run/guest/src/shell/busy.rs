//! How long the guest's processor worked. Where it is free, time passes for it only by reading the
//! clock and by busy-waiting, so that what kept it busy came to the lab's own limit.

use std::fs;

/// `USER_HZ`, in which `/proc/stat` counts (proc(5)).
const TICKS_PER_SECOND: f64 = 100.0;
/// Less says nothing of a figure, seconds.
const LEAST: f64 = 0.5;

/// CPU time so far, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GuestBusyTime {
    busy: u64,
}

impl GuestBusyTime {
    /// Until now.
    pub fn now() -> Self {
        Self::read(&fs::read_to_string("/proc/stat").unwrap_or_default()).unwrap_or_default()
    }

    /// `cpu  user nice system idle iowait irq softirq …`
    fn read(stat: &str) -> Option<Self> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        let fields: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let [user, nice, system, ..] = fields[..] else { return None };
        Some(Self { busy: user.saturating_add(nice).saturating_add(system) })
    }

    /// What the user should know of what came since.
    pub fn sentence_since(self, before: Self) -> Option<String> {
        let seconds = self.busy.saturating_sub(before.busy) as f64 / TICKS_PER_SECOND;
        (seconds >= LEAST).then(|| {
            format!(
                "the lab's processor, which is free, was busy for {seconds:.1} s with reading the \
                 clock or busy-waiting: what a program reached then is the lab's limit, not the \
                 drives'"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_worth_it_is_said() {
        let at = |user, idle| {
            let stat = format!("cpu  {user} 0 5 {idle} 0 0 0 0 0 0\ncpu0 1 2 3\n");
            GuestBusyTime::read(&stat).expect("a line")
        };
        assert_eq!(at(120, 9).sentence_since(at(100, 0)), None);
        let sentence = at(420, 9).sentence_since(at(100, 0)).expect("a sentence");
        assert!(sentence.contains("busy for 3.2 s"), "{sentence}");
        assert_eq!(at(0, 0).sentence_since(at(100, 0)), None);
        for text in ["", "cpu", "cpu  1 x", "intr 5"] {
            assert_eq!(GuestBusyTime::read(text), None, "{text}");
        }
    }
}
