//! A child and all that descends from it, to be ended together.
//!
//! A process group is not enough: fio's jobs and whatever a script starts by setsid(1)
//! lead sessions of their own. The kernel tells who descends from whom by parents
//! alone, and a process whose parent has ended is handed on. So the child is made the
//! one to whom its orphans are handed (`PR_SET_CHILD_SUBREAPER`, before it is executed),
//! and the processes below it are looked up before it is told to end.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};

use crate::ProcessStat;

/// A process that forks faster than it is stopped is given up after so many rounds.
const ROUNDS: u32 = 1000;
/// How long a killed process may take to be gone: as long as it waits for a disk.
const END_PATIENCE: Duration = Duration::from_secs(10);
/// How long between two looks at whether it is.
const NAP: Duration = Duration::from_millis(2);

/// A descendant of the leader.
#[derive(Debug)]
struct Member {
    started: u64,
    /// Reaches this process and no other. Kernels before 5.3 have none.
    handle: Option<OwnedFd>,
}

/// The leader of a process group, which is our child, and those below it.
#[derive(Debug)]
pub(crate) struct Family {
    leader: Pid,
    /// Whether the leader is there; then its number is its own.
    led: bool,
    members: BTreeMap<i32, Member>,
}

impl Family {
    /// The family of our child `leader`, whose end nobody has asked for yet.
    pub fn of(leader: Pid) -> Self {
        let mut family = Self { leader, led: true, members: BTreeMap::new() };
        family.look();
        family
    }

    /// Asks the leader and its group to end. A program that has made other groups knows
    /// them, and is to tell them.
    pub fn ask_to_end(&self) {
        let _ = kill_process_group(self.leader, Signal::TERM);
    }

    /// Looks for descendants that are not known yet; says whether there were any.
    pub fn look(&mut self) -> bool {
        let table = table();
        let mut any = false;
        loop {
            let found: Vec<ProcessStat> = table
                .iter()
                .filter(|process| {
                    !process.has_ended()
                        && !self.knows(process)
                        && self.is_parent(process.parent, &table)
                })
                .copied()
                .collect();
            let mut more = false;
            for process in found {
                let handle = Pid::from_raw(process.pid)
                    .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
                // Another one may have got the number while it was opened.
                if ProcessStat::of(process.pid).is_some_and(|now| now.started == process.started) {
                    let member = Member { started: process.started, handle };
                    self.members.insert(process.pid, member);
                    more = true;
                }
            }
            if !more {
                return any;
            }
            any = true;
        }
    }

    fn knows(&self, process: &ProcessStat) -> bool {
        self.members.get(&process.pid).is_some_and(|known| known.started == process.started)
    }

    fn is_parent(&self, pid: i32, table: &[ProcessStat]) -> bool {
        if self.led && pid == self.leader.as_raw_nonzero().get() {
            return true;
        }
        table.iter().any(|process| process.pid == pid && self.knows(process))
    }

    /// Kills the leader, its group and everything below, without letting anything be
    /// forked meanwhile: what is found is stopped first, until nothing more is found.
    pub fn kill(&mut self) {
        if self.led {
            let _ = kill_process_group(self.leader, Signal::STOP);
        }
        for _ in 0..ROUNDS {
            self.signal(Signal::STOP);
            if !self.look() {
                break;
            }
        }
        if self.led {
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
        self.signal(Signal::KILL);
    }

    /// The leader has ended and was asked for: kills those that it left, and waits until
    /// they are gone, so that no file of theirs is open any more.
    pub fn leader_has_ended(&mut self) {
        self.led = false;
        self.kill();
        let began = Instant::now();
        while self.members.iter().any(|(pid, member)| lives(*pid, member)) {
            if began.elapsed() > END_PATIENCE {
                tracing::warn!("a program's processes do not end: {:?}", self.members.keys());
                return;
            }
            std::thread::sleep(NAP);
        }
    }

    fn signal(&self, signal: Signal) {
        for (pid, member) in &self.members {
            // It may have ended by itself, or belong to somebody else by now.
            let _ = match (&member.handle, Pid::from_raw(*pid)) {
                (Some(handle), _) => pidfd_send_signal(handle, signal),
                (None, Some(number)) if lives(*pid, member) => kill_process(number, signal),
                (None, _) => Ok(()),
            };
        }
    }
}

fn lives(pid: i32, member: &Member) -> bool {
    ProcessStat::of(pid).is_some_and(|now| now.started == member.started && !now.has_ended())
}

/// All processes that can be seen.
fn table() -> Vec<ProcessStat> {
    let directories = fs::read_dir("/proc").into_iter().flatten();
    let pids = directories.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(ProcessStat::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_the_table() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(table().iter().any(|process| process.pid == own && !process.has_ended()));
    }
}
