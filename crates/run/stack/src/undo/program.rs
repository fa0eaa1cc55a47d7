//! Ending a program that runs alongside a workload.

use std::time::{Duration, Instant};

use disklab_exec::ProcessStat;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::StackError;

/// How long it may take to end by itself: the cleaner of NILFS2 first ends the move of
/// segments that it is at.
const PATIENCE: Duration = Duration::from_secs(20);

/// When the process was started, in ticks since the machine was: what tells it from a later
/// one with its number. Nothing where it has ended.
pub(crate) fn started(pid: u32) -> Option<u64> {
    let stat = ProcessStat::of(i32::try_from(pid).ok()?)?;
    (!stat.has_ended()).then_some(stat.started)
}

/// Asks it to end, kills it where it does not, and waits until it is gone.
pub(super) fn end(pid: u32, since: u64) -> Result<bool, StackError> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(number) = number.filter(|_| started(pid) == Some(since)) else { return Ok(false) };
    let began = Instant::now();
    let mut signal = Signal::TERM;
    while started(pid) == Some(since) {
        // It may have ended by itself.
        let _ = kill_process(number, signal);
        if began.elapsed() > 2 * PATIENCE {
            return Err(StackError::ProcessRuns(pid));
        }
        if began.elapsed() > PATIENCE {
            signal = Signal::KILL;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // Where it was our child, nobody else asks for its end.
    let _ = waitpid(Some(number), WaitOptions::NOHANG);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use disklab_exec::{Executor, Invocation};

    use super::*;

    #[test]
    fn the_program_ends_and_no_other() {
        let sh = Invocation::new("sh").args(["-c", "setsid sh -c 'echo $$; exec sleep 1000' &"]);
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let pid = Executor::default().start_daemon(&sh, PATIENCE, number).expect("sleep");
        let since = started(pid).expect("it runs");
        assert!(!end(pid, since + 1).expect("another"), "one of that number, later");
        assert_eq!(started(pid), Some(since));
        assert!(end(pid, since).expect("ended"));
        assert_eq!(started(pid), None);
        assert!(!end(pid, since).expect("twice is once"));
    }
}
