//! Waiting for a child, with its resource usage, a time limit and an eye on Ctrl-C.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use rustix::time::Timespec;

use crate::Interrupt;
use crate::family::Family;

/// How often the flag and the clock are polled.
const POLL: Duration = Duration::from_millis(200);
/// The same for a program that is to end.
const ENDING_POLL: Duration = Duration::from_millis(10);
/// How long a program that was asked to end may take: fio waits for the I/Os that its
/// jobs have in flight, which on a busy disk is a second or two.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// How a child ended, and what it used, its own waited-for children included.
pub(crate) struct Ended {
    pub status: ExitStatus,
    pub user: Duration,
    pub system: Duration,
    pub max_rss_kib: u64,
    pub reason: Reason,
}

/// Why the wait is over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Exited,
    TimedOut,
    Interrupted,
}

/// Waits for process `pid`, the leader of its own group. At `limit` or when `interrupt`
/// is raised, the group is asked to end; what is left after `grace` is killed, with
/// everything that descends from it. Once the leader has ended, its group is killed
/// again, so that no worker it forked stays behind.
pub(crate) fn wait(
    pid: u32,
    limit: Option<Duration>,
    interrupt: Option<&Interrupt>,
    grace: Duration,
) -> io::Result<Ended> {
    let raw_pid = i32::try_from(pid).map_err(io::Error::other)?;
    let pid = Pid::from_raw(raw_pid).ok_or_else(|| io::Error::other("no such process"))?;
    let began = Instant::now();
    let mut reason = Reason::Exited;
    let mut ending: Option<Ending> = None;
    // Kernels before 5.3 have no pidfd; there, short sleeps replace it.
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
    let mut nap = Duration::from_micros(200);
    loop {
        if let Some((status, usage)) = try_reap(raw_pid)? {
            let _ = kill_process_group(pid, Signal::KILL);
            if let Some(ending) = &mut ending {
                ending.family.leader_has_ended();
            }
            return Ok(Ended {
                status,
                user: timeval(usage.ru_utime),
                system: timeval(usage.ru_stime),
                max_rss_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
                reason,
            });
        }
        match &mut ending {
            Some(ending) => ending.proceed(),
            None => {
                if interrupt.is_some_and(Interrupt::is_raised) {
                    reason = Reason::Interrupted;
                } else if limit.is_some_and(|l| began.elapsed() >= l) {
                    reason = Reason::TimedOut;
                }
                if reason != Reason::Exited {
                    ending = Some(Ending::begin(pid, grace));
                }
            }
        }
        let left = match (&ending, limit) {
            (Some(_), _) => ENDING_POLL,
            (None, None) => POLL,
            (None, Some(limit)) => limit.saturating_sub(began.elapsed()).min(POLL),
        };
        match &pidfd {
            Some(fd) => {
                let left = left.max(Duration::from_millis(1));
                let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
                match poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&timeout)) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(e) => return Err(e.into()),
                }
            }
            None => {
                std::thread::sleep(nap.min(left));
                nap = (nap * 2).min(Duration::from_millis(20));
            }
        }
    }
}

/// A program that is to end.
struct Ending {
    family: Family,
    /// When it is killed.
    at: Instant,
}

impl Ending {
    fn begin(pid: Pid, grace: Duration) -> Self {
        // Who belongs to it must be known before the first of them is gone.
        let family = Family::of(pid);
        family.ask_to_end();
        Self { family, at: Instant::now() + grace }
    }

    fn proceed(&mut self) {
        if Instant::now() < self.at {
            self.family.look();
        } else {
            self.family.kill();
        }
    }
}

fn timeval(t: libc::timeval) -> Duration {
    Duration::from_secs(u64::try_from(t.tv_sec).unwrap_or(0))
        + Duration::from_micros(u64::try_from(t.tv_usec).unwrap_or(0))
}

/// The child's end, if it has come. `wait4` alone gives the usage of one child;
/// neither the standard library nor rustix wraps it.
#[allow(unsafe_code)]
fn try_reap(pid: i32) -> io::Result<Option<(ExitStatus, libc::rusage)>> {
    let mut status = 0;
    // SAFETY: rusage is plain old data, for which all zeros is a value; both
    // pointers are to live locals that wait4 only writes to.
    let (result, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let result = libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage);
        (result, usage)
    };
    match result {
        0 => Ok(None),
        -1 => {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted { Ok(None) } else { Err(error) }
        }
        _ => Ok(Some((ExitStatus::from_raw(status), usage))),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;

    /// Runs `script` in a directory, interrupts it as soon as the directory holds `started`,
    /// and says which of the numbers in the directory's file `pids` are alive afterwards.
    fn left_by(script: &str) -> (Reason, Vec<String>) {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(directory.path()).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        crate::executor::tie(&mut command);
        // Waited for below, by its number.
        let pid = command.spawn().map(|child| child.id()).unwrap();
        let interrupt = Interrupt::new();
        let raiser = interrupt.clone();
        let started = directory.path().join("started");
        let thread = std::thread::spawn(move || {
            while !started.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            raiser.raise();
        });
        let limit = Some(Duration::from_secs(60));
        let grace = Duration::from_millis(200);
        let ended = wait(pid, limit, Some(&interrupt), grace).unwrap();
        thread.join().unwrap();
        let pids = std::fs::read_to_string(directory.path().join("pids")).unwrap_or_default();
        assert!(!pids.trim().is_empty(), "the script has written who it started");
        (
            ended.reason,
            pids.split_whitespace().filter(|pid| lives(pid)).map(str::to_owned).collect(),
        )
    }

    fn lives(pid: &str) -> bool {
        let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn nothing_outlives_a_program_that_is_stopped() {
        for script in [
            // A session of its own.
            "setsid sleep 1000 & echo $! > pids; touch started; wait",
            // One whose parent has gone: the subshell ends at once.
            "(setsid sh -c 'echo $$ >> pids; touch started; exec sleep 1000' &); sleep 1000",
            // All of them deaf.
            "trap '' TERM; setsid sh -c 'echo $$ >> pids; touch started; while :; do sleep 0.05; \
             done' & echo $! >> pids; while :; do sleep 0.05; done",
            // The first ends when it is asked to, what it started does not.
            "setsid sh -c 'trap \"\" TERM; setsid sleep 1000 & echo $! $$ >> pids; touch started; \
             wait; sleep 1000' & exec sleep 1000",
            // One that forks all the time.
            "setsid sh -c 'echo $$ >> pids; touch started; while :; do sleep 0.01 & done' & \
             sleep 1000",
        ] {
            let (reason, left) = left_by(script);
            assert!(reason == Reason::Interrupted, "{script}");
            assert!(left.is_empty(), "{left:?} of `{script}`");
        }
    }

    #[test]
    fn a_program_is_asked_before_it_is_killed() {
        let script = "trap 'echo $$ > pids; touch asked; exit 0' TERM; touch started; \
                      while :; do sleep 0.01; done";
        let (reason, _) = left_by(script);
        assert!(reason == Reason::Interrupted);
    }
}
