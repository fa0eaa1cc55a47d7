//! Finding and ending processes: those that use a file system, and those that an
//! owner has left.

use std::fmt;
use std::fs::{read, read_dir, read_link, read_to_string};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_exec::{OWNER_VARIABLE, ProcessStat};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::StackError;

/// A process that is in the way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pid: i32,
    name: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.name)
    }
}

/// Kills every process that has its working directory, root, program, an open
/// file or a mapped file below `path`. Returns those found, killed or not: this
/// process and its ancestors are never killed, as that would kill the user's
/// own shell.
pub(super) fn kill_users(path: &Path) -> Vec<Holder> {
    let spared = self_and_ancestors();
    users(path, |pid| !spared.contains(&pid))
}

/// The same processes, of which none is killed.
pub(super) fn users_of(path: &Path) -> Vec<Holder> {
    users(path, |_| false)
}

fn users(path: &Path, is_to_end: impl Fn(i32) -> bool) -> Vec<Holder> {
    let mut holders = Vec::new();
    for pid in all_pids() {
        let Some(handle) = Pid::from_raw(pid) else { continue };
        // Opened before the look, so that the signal cannot hit another process
        // that got the number in between. Kernels before 5.3 have none.
        let pidfd = pidfd_open(handle, PidfdFlags::empty());
        let directory = PathBuf::from(format!("/proc/{pid}"));
        if !uses(&directory, path) {
            continue;
        }
        holders.push(Holder { pid, name: name_of(&directory) });
        if is_to_end(pid) {
            kill(handle, pidfd);
        }
    }
    holders
}

/// How long a killed program may take to end: one that waits for a slow disk, or
/// is in the midst of a mount, ends when that does.
const END_PATIENCE: Duration = Duration::from_secs(30);

/// Kills what is left of the programs that an owner with this mark (see
/// [`disklab_exec::owner`]) has started, and waits until they are gone. A mount
/// or losetup that still works could make a thing after it was looked for.
///
/// # Errors
/// [`StackError`] with those that outlive SIGKILL.
pub(crate) fn end_programs_of(mark: &str) -> Result<(), StackError> {
    let entry = format!("{OWNER_VARIABLE}={mark}");
    let spared = self_and_ancestors();
    let began = Instant::now();
    loop {
        let mut left = Vec::new();
        for pid in all_pids().into_iter().filter(|pid| !spared.contains(pid)) {
            let Some(handle) = Pid::from_raw(pid) else { continue };
            let pidfd = pidfd_open(handle, PidfdFlags::empty());
            let directory = PathBuf::from(format!("/proc/{pid}"));
            // A task that has ended has no environment any more.
            let is_own = |task: &PathBuf| {
                let environment = read(task.join("environ")).unwrap_or_default();
                environment.split(|b| *b == 0).any(|e| e == entry.as_bytes())
            };
            if tasks(&directory).iter().any(is_own) {
                left.push(Holder { pid, name: name_of(&directory) });
                kill(handle, pidfd);
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > END_PATIENCE {
            return Err(StackError::ProgramsRun(left.iter().map(Holder::to_string).collect()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn name_of(process: &Path) -> String {
    read_to_string(process.join("comm")).unwrap_or_default().trim().to_owned()
}

/// It may have ended by itself.
fn kill(pid: Pid, pidfd: rustix::io::Result<OwnedFd>) {
    let _ = match pidfd {
        Ok(fd) => pidfd_send_signal(fd, Signal::KILL),
        Err(_) => kill_process(pid, Signal::KILL),
    };
}

fn all_pids() -> Vec<i32> {
    read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

/// This process, its parents up to process 1, and process 1.
fn self_and_ancestors() -> Vec<i32> {
    let mut pids = vec![1];
    let mut next = i32::try_from(std::process::id()).ok();
    while let Some(pid) = next.filter(|pid| !pids.contains(pid)) {
        pids.push(pid);
        next = ProcessStat::of(pid).map(|stat| stat.parent);
    }
    pids
}

/// The tasks of a process. The first may have ended, and shows nothing then.
fn tasks(process: &Path) -> Vec<PathBuf> {
    let tasks = read_dir(process.join("task")).into_iter().flatten().flatten();
    tasks.map(|task| task.path()).collect()
}

/// Whether the process of that directory in /proc uses something below `path`.
fn uses(process: &Path, path: &Path) -> bool {
    tasks(process).iter().any(|task| task_uses(task, path))
}

/// Links are read, never followed: the file system may no longer answer.
fn task_uses(process: &Path, path: &Path) -> bool {
    let below = |link: PathBuf| read_link(link).is_ok_and(|target| target.starts_with(path));
    if ["cwd", "root", "exe"].iter().any(|name| below(process.join(name))) {
        return true;
    }
    let open = read_dir(process.join("fd")).into_iter().flatten().flatten();
    if open.into_iter().any(|entry| below(entry.path())) {
        return true;
    }
    read(process.join("maps")).is_ok_and(|maps| {
        let path = path.as_os_str().as_bytes();
        maps.split(|b| *b == b'\n').any(|line| maps_below(line, path))
    })
}

/// Whether a line of `/proc/PID/maps` maps a file below `path`.
fn maps_below(line: &[u8], path: &[u8]) -> bool {
    // address permissions offset device inode  path
    let Some(start) = line.iter().position(|b| *b == b'/') else { return false };
    line[start..].strip_prefix(path).is_some_and(|rest| rest.first().is_none_or(|b| *b == b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_count() {
        let line = b"7f00-7f01 r--p 00000000 fe:00 1234       /mnt/x/lib.so";
        assert!(maps_below(line, b"/mnt/x"));
        assert!(!maps_below(line, b"/mnt/x/li"));
        assert!(!maps_below(b"7f00-7f01 rw-p 00000000 00:00 0 [heap]", b"/mnt/x"));
        assert!(!maps_below(b"", b"/mnt/x"));
    }

    #[test]
    fn this_process_is_seen_and_spared() {
        let directory = tempfile::tempdir().expect("temp");
        let path = directory.path().canonicalize().expect("path");
        let _open = std::fs::File::create(path.join("open")).expect("file");
        let pid = i32::try_from(std::process::id()).expect("pid");
        assert!(kill_users(&path).iter().any(|h| h.pid == pid));
        assert!(self_and_ancestors().contains(&pid));
    }

    #[test]
    fn marked_programs_end_and_others_do_not() {
        let sleep = |mark: &str| {
            let mut sleep = std::process::Command::new("sleep");
            sleep.arg("1000").env(OWNER_VARIABLE, mark).spawn().expect("sleep")
        };
        let mark = format!("test-{}", std::process::id());
        let mut own = sleep(&mark);
        let mut other = sleep(&format!("{mark}0"));
        end_programs_of(&mark).expect("ended");
        assert!(!own.wait().expect("killed").success());
        assert!(other.try_wait().expect("other").is_none(), "another's lives on");
        other.kill().expect("kill");
        other.wait().expect("killed");
    }

    #[test]
    fn a_process_with_its_working_directory_there_is_killed() {
        let directory = tempfile::tempdir().expect("temp");
        let path = directory.path().canonicalize().expect("path");
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .current_dir(&path)
            .spawn()
            .expect("sleep");
        let held = kill_users(&path);
        let status = child.wait().expect("killed");
        assert!(!status.success());
        assert!(held.iter().any(|h| h.to_string().contains("sleep")), "{held:?}");
    }
}
