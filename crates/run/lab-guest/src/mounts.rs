//! What the guest mounts.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use crate::names::on_host;

/// What is mounted, in this order: type, place, data.
const MOUNTS: &[(&str, &str, Option<&CStr>)] = &[
    ("proc", "/proc", None),
    ("sysfs", "/sys", None),
    ("devtmpfs", "/dev", None),
    ("tmpfs", "/run", Some(c"mode=755")),
    ("tmpfs", "/tmp", Some(c"mode=1777")),
    ("tmpfs", "/var/tmp", Some(c"mode=1777")),
    ("tmpfs", "/mnt", Some(c"mode=755")),
];

/// What programs expect in `/dev`, and udev would make.
const LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];

/// Mounts what programs expect.
pub(crate) fn mount_system() -> io::Result<()> {
    for (kind, place, data) in MOUNTS {
        match mount(*kind, *place, *kind, MountFlags::empty(), *data) {
            // A kernel with DEVTMPFS_MOUNT has done it.
            Ok(()) | Err(Errno::BUSY) => {}
            Err(e) => return Err(failed("mount", Path::new(place), e.into())),
        }
    }
    for (target, link) in LINKS {
        let _ = symlink(target, link);
    }
    // Most machines have them in /dev already when it is theirs, not here.
    for (kind, place) in [("devpts", "/dev/pts"), ("tmpfs", "/dev/shm")] {
        fs::create_dir_all(place).map_err(|e| failed("make", Path::new(place), e))?;
        mount(kind, place, kind, MountFlags::empty(), None)
            .map_err(|e| failed("mount", Path::new(place), e.into()))?;
    }
    Ok(())
}

/// Has programs keep what they do in `/var/lib`, of which a cell's work needs nothing: `btrfs scrub` has its progress there.
///
/// # Errors
/// The reason of mount(2).
pub fn make_state_writable() -> io::Result<()> {
    let place = "/var/lib";
    if access(place, Access::WRITE_OK).is_ok() {
        return Ok(());
    }
    mount("tmpfs", place, "tmpfs", MountFlags::empty(), Some(c"mode=755"))
        .map_err(|e| failed("mount", Path::new(place), e.into()))
}

/// Mounts one of the directories that the host shows by a name at `place`, which is made.
///
/// # Errors
/// The reason of mount(2), or of the directory that it needs.
pub fn mount_shown(name: &str, place: &Path) -> io::Result<()> {
    mount_host(&on_host(name), place)
}

/// Mounts a directory of the host at `place`, which is made.
///
/// # Errors
/// Where that fails. Whether the guest may write there is the host's business.
pub fn mount_host(directory: &Path, place: &Path) -> io::Result<()> {
    fs::create_dir_all(place).map_err(|e| failed("make", place, e))?;
    let path = CString::new(directory.as_os_str().as_bytes())?;
    mount("none", place, "hostfs", MountFlags::empty(), path.as_c_str())
        .map_err(|e| failed("mount the host's directory at", place, e.into()))
}

fn failed(what: &str, place: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), format!("cannot {what} {}: {source}", place.display()))
}
