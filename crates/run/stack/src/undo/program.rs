//! Ending a program that runs alongside a workload.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use disklab_exec::ProcessStat;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde::{Deserialize, Serialize};

use super::{Teardown, TeardownContext};
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

/// End a program that runs alongside the workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndProgram {
    /// Its number.
    pub pid: u32,
    /// When it was started, in ticks since the machine was.
    pub started: u64,
}

impl Teardown for EndProgram {
    /// Asks it to end, kills it where it does not, and waits until it is gone.
    fn tear_down(&self, _: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let Self { pid, started: since } = *self;
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

    fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        self.tear_down(context).map(|_| ())
    }

    fn paths(&self) -> Vec<&Path> {
        Vec::new()
    }

    fn ends_with_boot(&self) -> bool {
        true
    }
}

impl fmt::Display for EndProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)
    }
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
        let end = |started| {
            let executor = Executor::default();
            EndProgram { pid, started }.tear_down(&mut TeardownContext::by_force(&executor))
        };
        assert!(!end(since + 1).expect("another"), "one of that number, later");
        assert_eq!(started(pid), Some(since));
        assert!(end(since).expect("ended"));
        assert_eq!(started(pid), None);
        assert!(!end(since).expect("twice is once"));
    }

    #[test]
    fn a_program_that_takes_time_to_end_is_not_killed() {
        let temp = tempfile::tempdir().expect("temp");
        // One signal is enough: the shell would begin again with each.
        let script = "trap 'trap \"\" TERM; sleep 0.3; echo > ended; exit' TERM; echo > ready; \
                      while :; do sleep 0.02; done";
        let mut shell = std::process::Command::new("sh");
        let mut shell = shell.args(["-c", script]).current_dir(&temp).spawn().expect("it starts");
        while !temp.path().join("ready").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let since = started(shell.id()).expect("it runs");
        let executor = Executor::default();
        let end = EndProgram { pid: shell.id(), started: since };
        assert!(end.tear_down(&mut TeardownContext::by_force(&executor)).expect("ended"));
        assert!(temp.path().join("ended").exists(), "it was killed");
        let _ = shell.wait();
    }
}
