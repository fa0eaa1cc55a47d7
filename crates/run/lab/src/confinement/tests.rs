//! A hostile process, as a guest's kernel is once its root has taken it over: it makes each
//! call that does harm, and all fail.
#![allow(unsafe_code)]

mod attacks;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, setsid};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};

use super::*;

/// Tells the hostile process, which is this test program again, what to attack.
const ATTACK: &str = "DISKLAB_TEST_ATTACK";

/// What is the user's, and what is the guest's.
struct Fixture {
    place: tempfile::TempDir,
    /// A process of the user's.
    process: Child,
    stream: UnixListener,
    datagrams: UnixDatagram,
    calendar: UnixListener,
    terminal: Option<(OwnedFd, PathBuf)>,
}

/// A terminal, by its controlling side and its path.
fn terminal() -> Option<(OwnedFd, PathBuf)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let controller = openpt(flags).and_then(|fd| unlockpt(&fd).map(|()| fd)).ok()?;
    let path = ptsname(&controller, Vec::new()).ok()?.into_string().ok()?;
    Some((controller, path.into()))
}

impl Fixture {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("user")).unwrap();
        fs::create_dir(at("lab")).unwrap();
        fs::write(at("user/file"), "the user's").unwrap();
        fs::write(at("user/other"), "the user's").unwrap();
        let mut process = Command::new("sleep");
        process.arg("600").stdin(Stdio::null()).process_group(0);
        let process = process.spawn().unwrap();
        let stream = UnixListener::bind(at("user/stream")).unwrap();
        let datagrams = UnixDatagram::bind(at("user/datagrams")).unwrap();
        stream.set_nonblocking(true).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let calendar = UnixListener::bind(at("lab/calendar")).unwrap();
        calendar.set_nonblocking(true).unwrap();
        // As if the guest had swapped a socket before it connected.
        std::os::unix::fs::symlink(at("user/stream"), at("lab/disk0")).unwrap();
        Self { place, process, stream, datagrams, calendar, terminal: terminal() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Mode, owner, times, length, and names of the user's files.
    fn state(&self) -> Vec<(PathBuf, u32, u32, i64, i64, u64)> {
        let mut all: Vec<_> = fs::read_dir(self.at("user"))
            .unwrap()
            .flatten()
            .map(|entry| {
                let m = fs::symlink_metadata(entry.path()).unwrap();
                (entry.path(), m.mode(), m.uid(), m.mtime_nsec(), m.ctime_nsec(), m.len())
            })
            .collect();
        all.sort();
        all
    }

    /// Runs the attacks behind these support, and says how each ended: 0 or an error's number.
    fn attack(&self, support: ConfinementSupport) -> BTreeMap<String, i32> {
        let lab = self.at("lab");
        let (mut confinement, channel) = Confinement::new(support, &[&lab], &lab).unwrap();
        let output = fs::File::create(lab.join("output")).unwrap();
        let errors = output.try_clone().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "confinement::tests::a_hostile_process_harms_nothing"]);
        command.args(["--nocapture", "--test-threads=1"]);
        command.current_dir(&lab).stdout(output).stderr(errors).stdin(Stdio::null());
        command.env(ATTACK, format!("{}:{}", self.process.id(), self.at("user").display()));
        if let Some((_, path)) = &self.terminal {
            command.env(attacks::TERMINAL, path);
        }
        // SAFETY: only async-signal-safe calls are made.
        unsafe {
            command.pre_exec(move || {
                setsid()?;
                Ok(confinement.confine()?)
            });
        }
        let mut child = command.spawn().unwrap();
        drop(command);
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        let supervisor = Supervisor::new(channel.as_ref(), pid, &lab, 1).unwrap();
        assert_eq!(supervisor.is_some(), support.supervision);
        supervise(&mut child, supervisor);
        let output = fs::read_to_string(lab.join("output")).unwrap();
        let results: BTreeMap<_, _> = output
            .lines()
            .filter_map(|line| line.strip_prefix("attack ")?.split_once(' '))
            .map(|(name, errno)| (name.to_owned(), errno.parse().unwrap()))
            .collect();
        assert!(output.contains("attacks ended"), "{output}");
        results
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn supervise(child: &mut Child, mut supervisor: Option<Supervisor>) {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("the hostile process does not end");
        }
        let tick = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let Some(supervisor) = &mut supervisor else {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let mut fds = [PollFd::from_borrowed_fd(supervisor.fd(), PollFlags::IN)];
        if poll(&mut fds, Some(&tick)).unwrap() > 0 {
            supervisor.answer().unwrap();
        }
    }
}

/// The process itself, where it is one.
fn is_hostile() -> bool {
    let Ok(targets) = std::env::var(ATTACK) else { return false };
    let (process, user) = targets.split_once(':').unwrap();
    attacks::play(process.parse().unwrap(), Path::new(user));
    println!("attacks ended");
    true
}

#[test]
fn a_hostile_process_harms_nothing() {
    if is_hostile() {
        return;
    }
    let here = ConfinementSupport::of_this_system();
    if !here.filter || !here.supervision || here.landlock.is_none() {
        eprintln!("skipped: needs Landlock and seccomp notifications ({here:?})");
        return;
    }
    // Linux 6.1 has Landlock 2, which leaves signals and truncation to the other support.
    for support in [here, ConfinementSupport { landlock: Some(2), ..here }] {
        let mut fixture = Fixture::new();
        let before = fixture.state();
        let results = fixture.attack(support);
        // Landlock looks at the signal when it is sent.
        check(&results, if support.keeps_signals() { &["own-by-another"] } else { &[] });
        assert_eq!(fixture.state(), before);
        assert_eq!(fs::read_to_string(fixture.at("user/file")).unwrap(), "the user's");
        unharmed(&mut fixture);
    }
}

/// In a container, processes may belong to a session outside of its PID namespace.
#[test]
fn a_session_outside_the_pid_namespace_is_not_the_guests() {
    let inside = |program: &Path| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]).arg(program);
        command
    };
    if !inside(Path::new("true")).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: needs user and PID namespaces");
        return;
    }
    let output = inside(&std::env::current_exe().unwrap())
        .args(["--exact", "confinement::tests::a_hostile_process_harms_nothing", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
}

#[test]
fn without_landlock_only_writing_is_left() {
    let here = ConfinementSupport::of_this_system();
    if !here.filter || !here.supervision {
        eprintln!("skipped: needs seccomp notifications ({here:?})");
        return;
    }
    let mut fixture = Fixture::new();
    let mode = |fixture: &Fixture| {
        let m = fs::metadata(fixture.at("user/file")).unwrap();
        (m.mode(), m.uid(), m.gid())
    };
    let before = mode(&fixture);
    let results = fixture.attack(ConfinementSupport { landlock: None, ..here });
    check(&results, attacks::WRITES);
    let done = |name: &&str| results.get(*name).is_none_or(|errno| *errno == 0);
    assert!(attacks::WRITES.iter().all(done), "Landlock kept the others: {results:?}");
    assert_eq!(mode(&fixture), before);
    unharmed(&mut fixture);
}

/// All attacks failed but those in `except`, and what a guest needs was done.
fn check(results: &BTreeMap<String, i32>, except: &[&str]) {
    assert!(results.len() > 60, "{results:?}");
    for (name, errno) in results {
        if name.starts_with("allowed-") {
            assert_eq!(*errno, 0, "{name}: {results:?}");
        } else if !except.contains(&name.as_str()) {
            let refusals = [
                libc::EPERM,
                libc::EACCES,
                libc::EXDEV,
                libc::ENOSYS,
                libc::EPIPE,
                // A link is no socket.
                libc::ECONNREFUSED,
                // A stream has its one peer.
                libc::EISCONN,
            ];
            assert!(refusals.contains(errno), "{name} ended with {errno}: {results:?}");
        }
    }
}

/// Nobody has spoken to the user's services, and the user's process runs on.
fn unharmed(fixture: &mut Fixture) {
    assert!(fixture.process.try_wait().unwrap().is_none(), "it was killed");
    assert!(fixture.stream.accept().is_err(), "a service was connected to");
    assert!(fixture.datagrams.recv(&mut [0]).is_err(), "a service got a datagram");
    assert!(fixture.calendar.accept().is_ok(), "the guest connects to the lab");
    assert!(fixture.calendar.accept().is_err(), "but once");
}
