//! A program of the guest that busy-waits.
//!
//! While programs compute, the guest's clock is frozen, and no tick gives the
//! processor to another: a program that looks at a variable until another program
//! has set it never ends. The kernel sees the system calls of busy-waiting programs
//! (`kernel/patches/way.patch`); one that makes none can only be seen from outside.

use std::fs;

use disklab_exec::ProcessStat;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Signal, kill_process};

/// What a program computes without a system call before it counts as waiting, in
/// seconds of CPU time. Real work of this length is rare, and loses nothing
/// but a tick of virtual time.
const LONG: f64 = 5.0;
/// The same, while it continues to wait.
const AGAIN: f64 = 0.2;
/// The kernel's part in it, at most: a program that makes system calls, or touches
/// fresh memory, gives it work.
const KERNEL_PART: f64 = 0.02;

/// The CPU time of the kernel's process and of those that stand for the
/// guest's programs, since the guest last spoke.
#[derive(Debug, Default)]
pub(super) struct Spinning {
    since: Option<Used>,
    waits: bool,
    kicks: u64,
}

/// CPU time, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Used {
    pub kernel: f64,
    /// With their processes' numbers.
    pub programs: Vec<(i32, f64)>,
}

impl Spinning {
    /// The guest spoke: no program spins. Where it used a disk since, which
    /// its `kicks` so far tell, a wait is over.
    pub fn guest_speaks(&mut self, kicks: u64) {
        self.since = None;
        self.waits &= kicks == self.kicks;
        self.kicks = kicks;
    }

    /// The guest is silent, and has used so much by `now`. Tells its kernel of a program
    /// that busy-waits.
    pub fn guest_is_silent(&mut self, now: Used) {
        let Some(since) = &self.since else {
            self.since = Some(now);
            return;
        };
        let long = if self.waits { AGAIN } else { LONG };
        if let Some(program) = since.busy_waiting_program(&now, long).and_then(Pid::from_raw) {
            tracing::debug!(program = program.as_raw_nonzero(), "a guest's program busy-waits");
            // It may have ended since.
            let _ = kill_process(program, Signal::ALARM);
            self.waits = true;
            self.since = None;
        }
    }
}

impl Used {
    /// By the kernel whose process this is, and by its programs; none where it has gone.
    pub fn by(kernel: Pid) -> Option<Self> {
        let kernel = kernel.as_raw_nonzero().get();
        let children = fs::read_to_string(format!("/proc/{kernel}/task/{kernel}/children")).ok()?;
        let children = children.split_ascii_whitespace().filter_map(|word| word.parse().ok());
        let programs = children.filter_map(|pid| Some((pid, of_process(pid)?))).collect();
        Some(Self { kernel: of_process(kernel)?, programs })
    }

    /// The process that did nothing but compute for `long` seconds until `now`.
    fn busy_waiting_program(&self, now: &Self, long: f64) -> Option<i32> {
        let computed = |&(pid, after): &(i32, f64)| {
            let before = self.programs.iter().find(|(known, _)| *known == pid);
            (pid, after - before.map_or(0.0, |(_, before)| *before))
        };
        let (pid, most) =
            now.programs.iter().map(computed).max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (most >= long && now.kernel - self.kernel <= most * KERNEL_PART).then_some(pid)
    }
}

fn of_process(pid: i32) -> Option<f64> {
    let stat = ProcessStat::of(pid)?;
    let ticks = stat.user_ticks.checked_add(stat.system_ticks)?;
    Some(ticks as f64 / clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::{Duration, Instant};

    use rustix::process::kill_process_group;

    use super::*;

    fn at(kernel: f64, programs: &[(i32, f64)]) -> Used {
        Used { kernel, programs: programs.to_vec() }
    }

    #[test]
    fn program_that_uses_cpu_and_no_kernel_busy_waits() {
        let before = at(10.0, &[(7, 1.0), (8, 100.0)]);
        let found = |now: &Used| before.busy_waiting_program(now, LONG);
        assert_eq!(found(&at(10.05, &[(7, 6.0), (8, 100.0)])), Some(7));
        assert_eq!(found(&at(10.05, &[(7, 5.9), (8, 100.0)])), None);
        // It makes system calls.
        assert_eq!(found(&at(11.0, &[(7, 6.5), (8, 100.0)])), None);
        // It was not there before.
        assert_eq!(found(&at(10.0, &[(7, 1.0), (9, 5.5)])), Some(9));
        assert_eq!(found(&at(10.0, &[])), None);
        assert_eq!(before.busy_waiting_program(&at(10.0, &[(8, 100.3)]), AGAIN), Some(8));
    }

    #[test]
    fn a_busy_waiting_program_is_reported() {
        // A shell that waits for another, as the kernel does for its program.
        let mut kernel = Command::new("sh")
            .args(["-c", "(while :; do :; done) & wait $!"])
            .process_group(0)
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&kernel);
        let mut spinning = Spinning { waits: true, ..Spinning::default() };
        let began = Instant::now();
        let status = loop {
            if let Some(used) = Used::by(pid) {
                spinning.guest_is_silent(used);
            }
            std::thread::sleep(Duration::from_millis(100));
            if let Some(status) = kernel.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > Duration::from_secs(60) {
                kill_process_group(pid, Signal::KILL).unwrap();
            }
        };
        assert_eq!(status.code(), Some(128 + Signal::ALARM.as_raw()), "{status}");
    }
}
