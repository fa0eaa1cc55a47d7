//! Whether the programs at a terminal wait for their user.
//!
//! In virtual time a program that waits lets years go by between two keystrokes,
//! unless somebody sees that it waits. User-Mode Linux does not say what a program
//! sleeps for (it has no `/proc/PID/syscall`, and `wchan` is wrong there), so it is
//! told by what surrounds it.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::process::Pid;
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp};

/// What the kernel calls when a program's own time is up: sleeps and waits with a
/// limit, `alarm`, `timer_create`, timerfd (`kernel/time`, `fs/timerfd.c`).
const TIMERS: [&str; 5] =
    ["hrtimer_wakeup", "it_real_fn", "posix_timer_fn", "timerfd_tmrproc", "alarm_timer_callback"];

/// Looks at the programs of one terminal, now and then.
#[derive(Debug, Default)]
pub struct Watch {
    /// Requests that the drives had carried out at the last look.
    requests: Option<u64>,
}

/// What the drives are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Traffic {
    in_flight: u64,
    done: u64,
}

impl Watch {
    /// Whether the programs in the foreground of this terminal wait for nothing but
    /// their user.
    pub fn programs_wait(&mut self, terminal: &OwnedFd) -> bool {
        let Ok(settings) = tcgetattr(terminal) else { return false };
        // A program that takes key by key has a user at it: a prompt with line editing, an
        // editor, top. Shells give the terminal back before they run a command.
        if !settings.local_modes.contains(LocalModes::ICANON) {
            return true;
        }
        let timers = fs::read_to_string("/proc/timer_list").unwrap_or_default();
        if has_timer(&timers) || self.has_traffic() {
            return false;
        }
        tcgetpgrp(terminal).is_ok_and(group_reads)
    }

    /// Whether the drives work, or have worked since the last look.
    fn has_traffic(&mut self) -> bool {
        let now = traffic(&fs::read_to_string("/proc/diskstats").unwrap_or_default());
        let before = self.requests.replace(now.done);
        now.in_flight > 0 || before != Some(now.done)
    }
}

/// Whether some program's sleep ends by itself.
fn has_timer(timer_list: &str) -> bool {
    timer_list.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with('#') && TIMERS.iter().any(|t| line.split(", ").any(|word| word == *t))
    })
}

/// Sums up `/proc/diskstats` (Documentation/admin-guide/iostats.rst) for virtio
/// disks; what lies above them ends there.
fn traffic(diskstats: &str) -> Traffic {
    let mut sum = Traffic::default();
    for line in diskstats.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.get(2).is_some_and(|name| name.starts_with("vd")) {
            continue;
        }
        let number = |n: usize| words.get(n).and_then(|w| w.parse().ok()).unwrap_or(0_u64);
        sum.in_flight = sum.in_flight.saturating_add(number(11));
        for done in [3, 7, 14, 18] {
            sum.done = sum.done.saturating_add(number(done));
        }
    }
    sum
}

/// Whether all of a process group sleeps, and one has the terminal to read from.
fn group_reads(group: Pid) -> bool {
    let group = group.as_raw_nonzero().get().to_string();
    let mut reads = false;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        if field(&stat, 2) != Some(group.as_str()) {
            continue;
        }
        match field(&stat, 0) {
            // Stopped, or ended.
            Some("T" | "t" | "Z" | "X") => {}
            Some("S") => reads |= has_terminal(&entry.path()),
            _ => return false,
        }
    }
    reads
}

/// Whether a process has a terminal as its standard input.
fn has_terminal(process: &Path) -> bool {
    fs::read_link(process.join("fd/0"))
        .is_ok_and(|target| target.starts_with("/dev/pts") || target == Path::new("/dev/tty"))
}

/// A field of `/proc/PID/stat` after the program's name, which may hold anything:
/// 0 is its state, 2 its process group.
fn field(stat: &str, number: usize) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sleeping_programs_have_timers() {
        let kernel = "active timers:\n #0: <00000000216cc209>, tick_nohz_handler, S:01\n \
                      # expires at 1020000000-1020000000 nsecs [in 4378368 to 4378368 nsecs]\n";
        assert!(!has_timer(kernel));
        assert!(has_timer(&format!("{kernel} #2: <000000009a2ab2ab>, hrtimer_wakeup, S:01\n")));
        assert!(!has_timer("  .hrtimer_wakeup: 1\n"));
    }

    #[test]
    fn the_drives_requests_are_summed_up() {
        let text = " 253 0 vda 10 0 80 5 20 0 160 9 1 4 14 2 0 16 0 3 1\n \
                    253 16 vdb 1 0 8 0 0 0 0 0 0 0 0\n   9 0 md0 99 0 0 0 99 0 0 0 9 0 0\n";
        assert_eq!(traffic(text), Traffic { in_flight: 1, done: 36 });
        assert_eq!(traffic(""), Traffic::default());
    }

    #[test]
    fn names_of_programs_may_hold_anything() {
        let stat = "12 (a) S (b) 7) R 1 12 12 0";
        assert_eq!((field(stat, 0), field(stat, 2)), (Some("R"), Some("12")));
        assert_eq!(field("", 0), None);
        assert_eq!(field("1 (x", 0), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[ -~\n]{0,200}") {
            let _ = (traffic(&text), has_timer(&text), field(&text, 2));
        }

        #[test]
        fn large_numbers_do_not_overflow(a: u64, b: u64) {
            let line = format!("0 0 vda {a} 0 0 0 {b} 0 0 0 {a}\n");
            let sum = traffic(&line.repeat(3));
            prop_assert!(sum.done >= a && sum.in_flight >= a);
        }
    }
}
