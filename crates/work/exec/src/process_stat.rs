//! What the kernel reports of a process in `/proc/PID/stat` (proc_pid_stat(5)): the one reader
//! of it.

use std::fs;
use std::path::Path;

/// A process, or a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
    /// Its number.
    pub pid: i32,
    /// The PID of its parent; 0 if the kernel started it.
    pub parent: i32,
    /// Its state's letter.
    pub state: char,
    /// Its time in user space, in clock ticks.
    pub user_ticks: u64,
    /// Its time in the kernel, in clock ticks.
    pub system_ticks: u64,
    /// When it was started, in ticks since the machine was: what tells it from a later one
    /// with its number.
    pub started: u64,
}

impl ProcessStat {
    /// Of a process; `None` if there is none with this number.
    pub fn of(pid: i32) -> Option<Self> {
        Self::read(Path::new(&format!("/proc/{pid}/stat")))
    }

    /// Whether it has ended, and only its parent has not asked for it yet.
    pub fn has_ended(self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Of the calling thread.
    pub fn of_this_thread() -> Option<Self> {
        Self::read(Path::new("/proc/thread-self/stat"))
    }

    fn read(path: &Path) -> Option<Self> {
        // A name need not be UTF-8.
        Self::parse(&String::from_utf8_lossy(&fs::read(path).ok()?))
    }

    /// Reads the text: number, name in brackets, state (field 3), parent (4), user and system
    /// time (14, 15) and start (22). The name may hold anything, brackets too.
    pub fn parse(text: &str) -> Option<Self> {
        let (pid, rest) = text.split_once(" (")?;
        let (_name, rest) = rest.rsplit_once(") ")?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let user_ticks = fields.nth(9)?.parse().ok()?;
        let system_ticks = fields.next()?.parse().ok()?;
        let started = fields.nth(6)?.parse().ok()?;
        Some(Self { pid: pid.parse().ok()?, parent, state, user_ticks, system_ticks, started })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn line_is_read_whatever_the_name() {
        for name in ["sleep", "a) Z 1 (b", ") ", "("] {
            let text = format!(
                "41 ({name}) S 7 41 41 0 -1 4194304 122 0 0 0 31 11 0 0 20 0 1 0 7777 5 6 7\n"
            );
            let expected = ProcessStat {
                pid: 41,
                parent: 7,
                state: 'S',
                user_ticks: 31,
                system_ticks: 11,
                started: 7777,
            };
            assert_eq!(ProcessStat::parse(&text), Some(expected), "{name}");
        }
        let ended = "41 (x) Z 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9";
        assert!(ProcessStat::parse(ended).is_some_and(|p| p.has_ended() && p.started == 9));
        for text in ["", "41", "41 (x) S 7", "x (x) S 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9"] {
            assert_eq!(ProcessStat::parse(text), None, "{text}");
        }
    }

    #[test]
    fn this_process_and_thread_are_read() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(ProcessStat::of(own).is_some_and(|p| p.pid == own && !p.has_ended()));
        assert!(ProcessStat::of_this_thread().is_some());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", line in "[0-9]{0,12} \\([a-z() ]{0,9}\\)( [0-9A-Z-]{1,22}){0,24}") {
            let _ = (ProcessStat::parse(&text), ProcessStat::parse(&line));
        }
    }
}
