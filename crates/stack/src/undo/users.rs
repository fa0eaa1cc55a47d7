//! Finding and ending the processes that use a file system.

use std::fmt;
use std::fs::{read, read_dir, read_link, read_to_string};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// A process that uses a file system.
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
    let mut holders = Vec::new();
    for pid in all_pids() {
        let Some(handle) = Pid::from_raw(pid) else { continue };
        // Opened before the look, so that the signal cannot hit another process
        // that got the number in between. Kernels before 5.3 have none.
        let pidfd = pidfd_open(handle, PidfdFlags::empty());
        let folder = PathBuf::from(format!("/proc/{pid}"));
        if !uses(&folder, path) {
            continue;
        }
        let name = read_to_string(folder.join("comm")).unwrap_or_default().trim().to_owned();
        holders.push(Holder { pid, name });
        if !spared.contains(&pid) {
            // It may have ended by itself.
            let _ = match pidfd {
                Ok(fd) => pidfd_send_signal(fd, Signal::KILL),
                Err(_) => kill_process(handle, Signal::KILL),
            };
        }
    }
    holders
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
        next = read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| {
            // pid (name) state ppid …; the name may hold anything.
            let (_, rest) = stat.rsplit_once(')')?;
            rest.split_whitespace().nth(1)?.parse().ok()
        });
    }
    pids
}

/// Whether the process of that folder in /proc uses something below `path`.
/// Links are read, never followed: the file system may no longer answer.
fn uses(process: &Path, path: &Path) -> bool {
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
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().canonicalize().expect("path");
        let _open = std::fs::File::create(path.join("open")).expect("file");
        let pid = i32::try_from(std::process::id()).expect("pid");
        assert!(kill_users(&path).iter().any(|h| h.pid == pid));
        assert!(self_and_ancestors().contains(&pid));
    }

    #[test]
    fn a_process_with_its_working_directory_there_is_killed() {
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().canonicalize().expect("path");
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
