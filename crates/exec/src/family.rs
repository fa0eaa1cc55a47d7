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

/// A process that forks faster than it is stopped is given up after so many rounds.
const ROUNDS: u32 = 1000;
/// How long a killed process may take to be gone: as long as it waits for a disk.
const END_PATIENCE: Duration = Duration::from_secs(10);
/// How long between two looks at whether it is.
const NAP: Duration = Duration::from_millis(2);

/// A line of the table of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    /// When it was started, in ticks since the machine was. Another process that got
    /// its number was started later.
    started: u64,
    /// Whether it has ended, and only its parent has not asked for it yet.
    ended: bool,
}

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
            let found: Vec<Process> = table
                .iter()
                .filter(|process| {
                    !process.ended && !self.knows(process) && self.is_parent(process.parent, &table)
                })
                .copied()
                .collect();
            let mut more = false;
            for process in found {
                let handle = Pid::from_raw(process.pid)
                    .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
                // Another one may have got the number while it was opened.
                if one(process.pid).is_some_and(|now| now.started == process.started) {
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

    fn knows(&self, process: &Process) -> bool {
        self.members.get(&process.pid).is_some_and(|known| known.started == process.started)
    }

    fn is_parent(&self, pid: i32, table: &[Process]) -> bool {
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
    one(pid).is_some_and(|now| now.started == member.started && !now.ended)
}

/// All processes that can be seen.
fn table() -> Vec<Process> {
    let folders = fs::read_dir("/proc").into_iter().flatten();
    let pids = folders.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(one).collect()
}

fn one(pid: i32) -> Option<Process> {
    // A name need not be UTF-8.
    parse(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
}

/// Reads the text of a `/proc/PID/stat` (proc(5)): number, name in brackets, state,
/// parent and, as field 22, the start. The name may hold anything, brackets too.
fn parse(text: &str) -> Option<Process> {
    let (pid, rest) = text.split_once(" (")?;
    let (_name, rest) = rest.rsplit_once(") ")?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(Process { pid: pid.parse().ok()?, parent, started, ended: matches!(state, "Z" | "X") })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_of_the_table_is_read_whatever_the_name() {
        for name in ["sleep", "a) Z 1 (b", ") ", "("] {
            let text = format!(
                "41 ({name}) S 7 41 41 0 -1 4194304 122 0 0 0 0 0 0 0 20 0 1 0 7777 5 6 7\n"
            );
            let expected = Process { pid: 41, parent: 7, started: 7777, ended: false };
            assert_eq!(parse(&text), Some(expected), "{name}");
        }
        let ended = "41 (x) Z 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9";
        assert!(parse(ended).is_some_and(|process| process.ended && process.started == 9));
        for text in ["", "41", "41 (x) S 7", "x (x) S 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(table().iter().any(|process| process.pid == own && !process.ended));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", line in "[0-9]{0,12} \\([a-z() ]{0,9}\\)( [0-9A-Z-]{1,22}){0,24}") {
            let _ = (parse(&text), parse(&line));
        }
    }
}
