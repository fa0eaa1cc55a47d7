//! Inside the guest: what its first program does first and last.
//!
//! The kernel starts the first program on the host's file system, read-only, and
//! nothing else: no `/proc`, no devices, no place to write.

mod dirty_pages;
mod fixed_start;
mod free_memory;
mod heap;
mod kernel_threads;
mod mappings;
mod memory;
mod queues;

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::system::{RebootCommand, reboot, sethostname};

use crate::place;

pub use dirty_pages::limit_dirty_pages;
pub use fixed_start::fixed_start;
pub use free_memory::release_memory;
pub(crate) use queues::words as queue_words;

/// Where things of the guest's own lie; a file system in its memory.
pub const PLACE: &str = "/run/disklab";
/// The lab's folder on the host, as [`begin`] mounts it: the guest may write there.
pub const LAB_FOLDER: &str = "/run/disklab/lab";
/// Where programs are looked for.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

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

/// Whether this process is a guest's first program, and which words came with it.
pub fn arguments() -> Option<Vec<String>> {
    // Of the host's process, they may be anything.
    let mut words = std::env::args_os().skip(1);
    let is_guest = std::process::id() == 1 && words.next().is_some_and(|word| word == GUEST);
    is_guest.then(|| words.map(|word| word.to_string_lossy().into_owned()).collect())
}

/// The first of [`crate::LabOptions::init_arguments`] that this program, as a
/// guest's first program, knows itself by.
pub const GUEST: &str = "guest";

/// The kernel's name for the lab's disk with this index (`drivers/block/virtio_blk.c`,
/// `virtblk_name_format`): `vda`, …, `vdz`, `vdaa`, ….
pub fn disk_name(mut index: usize) -> String {
    let mut letters = Vec::new();
    loop {
        // Less than 26.
        letters.push(b'a' + (index % 26) as u8);
        match (index / 26).checked_sub(1) {
            Some(next) => index = next,
            None => break,
        }
    }
    std::iter::once("vd".to_owned())
        .chain(letters.iter().rev().map(|letter| char::from(*letter).to_string()))
        .collect()
}

/// The file in [`LAB_FOLDER`] that tells what the disk with this index has written to its
/// medium so far, where it tells ([`crate::DiskOptions::tells_medium`]): a decimal number
/// of bytes.
pub fn medium_file(index: usize) -> String {
    format!("medium-{}", disk_name(index))
}

/// Makes the guest a place to work in: mounts what programs expect, and the lab's
/// folder at [`LAB_FOLDER`].
///
/// # Errors
/// That of the first mount(2) that failed, with its place: the guest cannot work.
pub fn begin() -> io::Result<()> {
    // Each page of memory that a program touches for the first time stops it and has
    // the kernel's process map it, some 25 µs; 16 MiB of data to be written are 4096
    // such stops. What this program takes from here on, it gets at once. Programs that
    // it starts are not concerned (mlockall(2)).
    let _ = mlockall(MlockAllFlags::FUTURE);
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
    // So that what runs out of memory ends with a word on the console that tells.
    let _ = fs::write("/proc/sys/vm/panic_on_oom", "1");
    // Compaction would move pages of this program, and what is free with them: how many there are, and
    // where, depends on its build (`isolate_migratepages_block`, mm/compaction.c).
    let _ = fs::write("/proc/sys/vm/compact_unevictable_allowed", "0");
    let _ = sethostname(b"lab");
    limit_dirty_pages(dirty_pages::THROTTLE_PERCENT, dirty_pages::BACKGROUND_PERCENT);
    queues::set();
    mount_host(&place::lab_folder(), Path::new(LAB_FOLDER))
}

/// Mounts one of [`crate::LabOptions::shown`] at `place`, which is made.
///
/// # Errors
/// The reason of mount(2), or of the directory that it needs.
pub fn mount_shown(name: &str, place: &Path) -> io::Result<()> {
    mount_host(&place::shown_folder(name), place)
}

/// Mounts a folder of the host at `place`, which is made.
///
/// # Errors
/// Where that fails. Whether the guest may write there is the host's business.
pub fn mount_host(folder: &Path, place: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    fs::create_dir_all(place).map_err(|e| failed("make", place, e))?;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
    mount("none", place, "hostfs", MountFlags::empty(), path.as_c_str())
        .map_err(|e| failed("mount the host's directory at", place, e.into()))
}

/// The environment for programs: nothing of the host's is there.
#[allow(unsafe_code)]
pub fn set_environment(more_programs: Option<&Path>) {
    let path = more_programs.map_or_else(|| PATH.to_owned(), |p| format!("{}:{PATH}", p.display()));
    // SAFETY: the caller is the guest's first program, which has one thread yet.
    unsafe {
        std::env::set_var("PATH", path);
        std::env::set_var("HOME", "/run");
        std::env::set_var("XDG_STATE_HOME", PathBuf::from(PLACE).join("state"));
        std::env::set_var("LC_ALL", "C.UTF-8");
        std::env::set_var("TZ", "UTC");
    }
}

/// Powers the guest off. What it has mounted from the host is written first.
pub fn power_off() -> ! {
    rustix::fs::sync();
    let _ = unmount(LAB_FOLDER, UnmountFlags::DETACH);
    let error = reboot(RebootCommand::PowerOff).err();
    println!("the guest cannot be powered off: {error:?}");
    std::process::exit(1)
}

fn failed(what: &str, place: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), format!("cannot {what} {}: {source}", place.display()))
}
