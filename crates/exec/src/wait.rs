//! Waiting for a child, with its resource usage, a time limit and an eye on Ctrl-C.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use rustix::time::Timespec;

use crate::Interrupt;

/// How long between two looks at the flag and the clock.
const LOOK: Duration = Duration::from_millis(200);

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

/// Waits for process `pid`, the leader of its own group. The group is killed at
/// `limit` or when `interrupt` is raised, and again once the leader has ended,
/// so that no worker it forked stays behind.
pub(crate) fn wait(
    pid: u32,
    limit: Option<Duration>,
    interrupt: Option<&Interrupt>,
) -> io::Result<Ended> {
    let raw_pid = i32::try_from(pid).map_err(io::Error::other)?;
    let pid = Pid::from_raw(raw_pid).ok_or_else(|| io::Error::other("no such process"))?;
    let began = Instant::now();
    let mut reason = Reason::Exited;
    // Kernels before 5.3 have no pidfd; there, short sleeps stand in for it.
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
    let mut nap = Duration::from_micros(200);
    loop {
        if let Some((status, usage)) = try_reap(raw_pid)? {
            let _ = kill_process_group(pid, Signal::KILL);
            return Ok(Ended {
                status,
                user: timeval(usage.ru_utime),
                system: timeval(usage.ru_stime),
                max_rss_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
                reason,
            });
        }
        if reason == Reason::Exited {
            if interrupt.is_some_and(Interrupt::is_raised) {
                reason = Reason::Interrupted;
            } else if limit.is_some_and(|l| began.elapsed() >= l) {
                reason = Reason::TimedOut;
            }
            if reason != Reason::Exited {
                let _ = kill_process_group(pid, Signal::KILL);
            }
        }
        let left = limit.map_or(LOOK, |l| l.saturating_sub(began.elapsed()).min(LOOK));
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
