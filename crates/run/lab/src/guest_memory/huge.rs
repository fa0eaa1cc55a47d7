//! A file system in memory with huge pages, without a name.
//!
//! A guest's memory is made page by page as the guest touches it: 70,000 faults for a
//! cell on a drive of 10 TB, a sixth of the CPU time. In pages of 2 MiB they are
//! a fifth as many. `/dev/shm` has such pages only where its administrator said so
//! (`huge=` in tmpfs(5)); a tmpfs of one's own takes the option from anybody.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, write};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{getgid, getuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::open_files::{receive_file, send_file};

/// Beyond the guest's own: the file system's inodes, and the last huge page.
const MORE_BYTES: u64 = 16 << 20;

/// A new file system for so many bytes; `None` where this system does not allow it
/// (Linux 5.2 has the calls; some forbid user namespaces).
pub(super) fn file_system(bytes: u64) -> Option<OwnedFd> {
    let size = bytes.saturating_add(MORE_BYTES).to_string();
    make(&size).or_else(|_| elsewhere(&size)).ok()
}

/// Makes it, where this process may mount.
fn make(size: &str) -> Result<OwnedFd, Errno> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("size", size), ("huge", "within_size"), ("mode", "0700")] {
        fsconfig_set_string(context.as_fd(), key, value)?;
    }
    fsconfig_create(context.as_fd())?;
    let quiet = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, quiet)
}

/// Has a child make it, in a user namespace of its own, where everybody may mount, and
/// takes it from there. The guest's kernel stays outside, where files belong to whom
/// they belong.
#[allow(unsafe_code)]
fn elsewhere(size: &str) -> io::Result<OwnedFd> {
    let (unix, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let (near, far) = socketpair(unix, kind, SocketFlags::CLOEXEC, None)?;
    // All text is made here: after a fork no memory may be allocated.
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let maps = [
        (c"/proc/self/uid_map", format!("{user} {user} 1")),
        // Without this, nobody but root may map groups (user_namespaces(7)).
        (c"/proc/self/setgroups", "deny".to_owned()),
        (c"/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    let size = size.to_owned();
    let give = move || {
        // SAFETY: a process just forked has one thread, and shares its descriptors
        // with nobody.
        unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)? };
        for (path, text) in &maps {
            let file = open(*path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            write(&file, text.as_bytes())?;
        }
        send_file(far.as_fd(), make(&size)?.as_fd())?;
        // Its work is done: it is to become no other program.
        Err(Errno::CANCELED.into())
    };
    // Of which nothing will be run.
    let mut child = Command::new("/proc/self/exe");
    // SAFETY: between fork and its end only async-signal-safe system calls are made.
    unsafe { child.pre_exec(give) };
    if let Ok(mut running) = child.spawn() {
        // It cannot be: see above.
        let _ = running.kill();
        let _ = running.wait();
    }
    // The child has ended by now.
    Ok(receive_file(&near)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a file can be made in `place`, and executed from, as the kernel does.
    fn holds_memory(place: &OwnedFd) -> bool {
        use std::os::fd::AsRawFd;
        let path = format!("/proc/self/fd/{}", place.as_raw_fd());
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = open(path, flags, Mode::RUSR | Mode::WUSR | Mode::XUSR);
        let space = rustix::fs::fstatvfs(place).unwrap();
        assert!(space.f_blocks * space.f_frsize >= 64 << 20);
        file.and_then(|file| rustix::fs::ftruncate(&file, 64 << 20)).is_ok()
    }

    #[test]
    fn an_ordinary_user_has_it_too() {
        let size = (64 << 20).to_string();
        match elsewhere(&size) {
            Ok(place) => assert!(holds_memory(&place)),
            Err(e) => eprintln!("skipped: needs user namespaces and huge pages: {e}"),
        }
        match make(&size) {
            Ok(place) => assert!(holds_memory(&place)),
            Err(e) => eprintln!("skipped: needs root: {e}"),
        }
    }

    #[test]
    fn refused_options_are_errors_and_leave_no_child() {
        assert!(make("a great deal").is_err());
        assert!(elsewhere("a great deal").is_err());
    }
}
