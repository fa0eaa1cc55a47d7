//! What a thread used of the machine.

use std::ops::AddAssign;

/// CPU time and faults of one thread (getrusage(2), RUSAGE_THREAD).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// In user space, in nanoseconds.
    pub(crate) user_ns: u64,
    /// In the kernel, in nanoseconds.
    pub(crate) system_ns: u64,
    /// Switches to another thread, wanted or not.
    pub(crate) context_switches: u64,
    /// Page faults with I/O.
    pub(crate) major_faults: u64,
    /// Page faults without.
    pub(crate) minor_faults: u64,
}

impl Usage {
    /// That of the calling thread so far.
    pub(crate) fn of_thread() -> Self {
        // SAFETY: rusage is plain numbers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a rusage of our own.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        let ns = |t: libc::timeval| (t.tv_sec as u64) * 1_000_000_000 + (t.tv_usec as u64) * 1000;
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
            major_faults: usage.ru_majflt as u64,
            minor_faults: usage.ru_minflt as u64,
        }
    }

    /// What was used since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.context_switches += other.context_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows() {
        let before = Usage::of_thread();
        let mut x = 1_u64;
        while Usage::of_thread().since(before).user_ns + Usage::of_thread().system_ns == 0 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        let mut sum = Usage::default();
        sum += Usage { user_ns: 3, minor_faults: 2, ..Usage::default() };
        assert_eq!((sum.user_ns, sum.minor_faults, sum.system_ns), (3, 2, 0));
        assert_eq!(Usage::default().since(sum), Usage::default());
    }
}
