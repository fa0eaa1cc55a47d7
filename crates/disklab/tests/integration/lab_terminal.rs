//! `disklab lab shell`, as users have it at their terminals.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab_shell::assert_clean;
use crate::lab_support::kernel::kernel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

/// How long to wait for something that should come at once, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const PROMPT: &str = "# ";

/// A session at a terminal of its own.
struct Session {
    child: Child,
    terminal: File,
    slave: OwnedFd,
    said: String,
    place: tempfile::TempDir,
}

impl Session {
    #[allow(unsafe_code)]
    fn start(kernel: &Path) -> Self {
        let place = tempfile::tempdir().expect("temp");
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("name").into_string().expect("text");
        // Not ours, where we have none: it is to be that of the session that begins on it.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, Mode::empty()).expect("terminal");
        let size = Winsize { ws_row: 33, ws_col: 99, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&slave, size).expect("size");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
        let end = || Stdio::from(slave.try_clone().expect("terminal"));
        command.stdin(end()).stdout(end()).stderr(end());
        command.args(["lab", "shell", "--drives", "hgst-10tb:4", "--kernel"]).arg(kernel);
        command.env("XDG_CACHE_HOME", place.path()).env("TERM", "xterm").current_dir(&place);
        // SAFETY: both are async-signal-safe system calls.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(std::io::stdin().as_fd())?;
                Ok(())
            });
        }
        let child = command.spawn().expect("started");
        let terminal = File::from(master);
        Self { child, terminal, slave, said: String::new(), place }
    }

    fn type_in(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).expect("typed");
    }

    /// Waits until it says something, and takes all up to that away.
    fn expect(&mut self, text: &str) -> String {
        let at = self.listen(PATIENCE, text);
        let at = at.unwrap_or_else(|| panic!("'{text}' never came after: {}", self.said));
        let rest = self.said.split_off(at + text.len());
        std::mem::replace(&mut self.said, rest)
    }

    /// Hears what it says until `text` is among it, for so long; where that is.
    fn listen(&mut self, long: Duration, text: &str) -> Option<usize> {
        let end = Instant::now() + long;
        loop {
            let found = self.said.find(text);
            if found.is_some() || Instant::now() >= end {
                return found;
            }
            let mut fds = [PollFd::new(&self.terminal, PollFlags::IN)];
            let second = Timespec { tv_sec: 1, tv_nsec: 0 };
            if poll(&mut fds, Some(&second)).is_ok_and(|ready| ready > 0) {
                let mut buffer = [0; 4096];
                let got = self.terminal.read(&mut buffer).expect("read");
                self.said.push_str(&String::from_utf8_lossy(&buffer[..got]));
            }
        }
    }

    /// Types Control-C until the prompt is there: one that comes while the shell begins a
    /// command is the shell's, which takes no notice.
    fn stop(&mut self) {
        let end = Instant::now() + PATIENCE;
        while !self.said.contains(PROMPT) {
            assert!(Instant::now() < end, "it does not stop: {}", self.said);
            self.type_in("\x03");
            self.listen(Duration::from_secs(2), PROMPT);
        }
        self.expect(PROMPT);
    }

    /// Types a command, and gives what it says up to the next prompt.
    fn run(&mut self, command: &str) -> String {
        self.type_in(&format!("{command}\r"));
        self.expect("\n");
        self.expect(PROMPT)
    }

    /// CPU time of it and its guest so far.
    fn processor_time(&self) -> Duration {
        let of = |pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest).to_owned();
            let words: Vec<u64> = rest.split_whitespace().map(|w| w.parse().unwrap_or(0)).collect();
            (words.get(1).copied(), words.get(11..13).map_or(0, |times| times.iter().sum()))
        };
        let mut sum: u64 = of(self.child.id()).1;
        for entry in std::fs::read_dir("/proc").expect("proc").flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
            let (parent, ticks) = of(pid);
            if parent == Some(u64::from(self.child.id())) {
                sum += ticks;
            }
        }
        Duration::from_millis(sum * 1000 / rustix::param::clock_ticks_per_second())
    }

    fn end(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().expect("waited") {
                return status.code();
            }
            // It must be able to write what is left.
            let mut fds = [PollFd::new(&self.terminal, PollFlags::IN)];
            let soon = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            if poll(&mut fds, Some(&soon)).is_ok_and(|ready| ready > 0) {
                let _ = self.terminal.read(&mut [0; 4096]);
            }
        }
        panic!("it does not end");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_user_has_a_prompt() {
    let Some(kernel) = kernel() else { return };
    let mut session = Session::start(&kernel);
    let before = tcgetattr(&session.slave).expect("settings");
    let greeting = session.expect(PROMPT);
    assert!(greeting.contains("/dev/vdd  HGST HDN721010ALE604     10 TB"), "{greeting}");
    assert!(greeting.contains("virtio-HDN721010ALE604-04"), "{greeting}");
    assert_ne!(
        format!("{:?}", tcgetattr(&session.slave).expect("settings").local_modes),
        format!("{:?}", before.local_modes),
        "keys go to the guest"
    );
    assert!(session.run("stty size").contains("33 99"));

    // While nobody types, hardly anything happens, and time is real.
    session.run("a=$(date +%s)");
    let spent = session.processor_time();
    std::thread::sleep(Duration::from_secs(3));
    let spent = session.processor_time() - spent;
    assert!(spent < Duration::from_millis(600), "{spent:?} in three idle seconds");
    let waited = session.run("echo waited $(($(date +%s) - a)) s");
    let seconds = number(&waited, "waited ");
    assert!((2..100).contains(&seconds), "{waited}");

    // While a command runs, it goes as fast as it can.
    let slept = session.run("a=$(date +%s); sleep 36000; echo slept $(($(date +%s) - a)) s");
    assert!((36000..36100).contains(&number(&slept, "slept ")), "{slept}");

    // A program that reads what is typed has real time too; Control-C ends it.
    session.run("a=$(date +%s)");
    session.type_in("cat\r");
    session.expect("\n");
    session.type_in("to and fro\r");
    session.expect("to and fro\r\nto and fro\r\n");
    std::thread::sleep(Duration::from_secs(1));
    session.type_in("\x03");
    session.expect(PROMPT);
    let waited = session.run("echo waited $(($(date +%s) - a)) s");
    assert!(number(&waited, "waited ") < 100, "{waited}");

    // A sleep of thirty years can be stopped, and put into the background.
    session.type_in("sleep 1000000000\r");
    session.expect("\n");
    session.stop();
    // Names are completed.
    session.type_in("echo /dev/disk/by-id/virtio-HDN721010ALE604-04/../../../vd\t\x15");
    session.type_in("ls /dev/disk/by-\t");
    session.expect("by-id/");
    session.type_in("\r");
    session.expect(PROMPT);

    session.type_in("exit 5\r");
    session.expect("of virtual time in");
    assert_eq!(session.end(), Some(5));
    let after = tcgetattr(&session.slave).expect("settings");
    assert_eq!(format!("{before:?}"), format!("{after:?}"), "the terminal is as it was");
    assert_clean(session.place.path());
}

/// The number after a word.
fn number(text: &str, word: &str) -> u64 {
    // The command itself was echoed before.
    let at = text.rfind(word).unwrap_or_else(|| panic!("no '{word}' in {text}")) + word.len();
    let digits: String = text[at..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number after '{word}' in {text}"))
}

#[test]
fn the_terminal_is_always_restored() {
    let Some(kernel) = kernel() else { return };
    type Action = fn(&mut Session);
    let actions: [(&str, Action, i32); 5] = [
        ("a signal", |s| kill(s, rustix::process::Signal::TERM), 130),
        ("a panic", |s| s.type_in("echo c > /proc/sysrq-trigger\r"), 1),
        ("control-D", |s| s.type_in("\x04"), 0),
        ("poweroff", |s| s.type_in("echo o > /proc/sysrq-trigger; sleep 9\r"), 0),
        // A loop that never lets time pass cannot be left otherwise.
        ("the way out", |s| s.type_in("while :; do :; done\r\x1d\x1d\x1d"), 130),
    ];
    for (name, action, code) in actions {
        let mut session = Session::start(&kernel);
        let before = tcgetattr(&session.slave).expect("settings");
        session.expect(PROMPT);
        action(&mut session);
        assert_eq!(session.end(), Some(code), "{name}: {}", session.said);
        let after = tcgetattr(&session.slave).expect("settings");
        assert_eq!(format!("{before:?}"), format!("{after:?}"), "{name}");
        assert_clean(session.place.path());
    }
}

fn kill(session: &Session, signal: rustix::process::Signal) {
    let pid = i32::try_from(session.child.id()).expect("pid");
    let pid = rustix::process::Pid::from_raw(pid).expect("pid");
    rustix::process::kill_process(pid, signal).expect("killed");
}
