//! What the guest's first program does first and last.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::mount::{UnmountFlags, unmount};
use rustix::system::{RebootCommand, reboot, sethostname};

use crate::mounts::{mount_host, mount_system};
use crate::names::{GUEST, LAB_DIRECTORY, LAB_ON_HOST, PLACE, on_host};
use crate::{dirty_pages, queues};

/// Where programs are looked for.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether this process is a guest's first program, and which words came with it.
pub fn arguments() -> Option<Vec<String>> {
    // Of the host's process, they may be anything.
    let mut words = std::env::args_os().skip(1);
    let is_guest = std::process::id() == 1 && words.next().is_some_and(|word| word == GUEST);
    is_guest.then(|| words.map(|word| word.to_string_lossy().into_owned()).collect())
}

/// Makes the guest a place to work in: mounts what programs expect, and the lab's
/// directory at [`LAB_DIRECTORY`].
///
/// # Errors
/// That of the first mount(2) that failed, with its place: the guest cannot work.
pub fn begin() -> io::Result<()> {
    // Each page of memory that a program touches for the first time stops it and has
    // the kernel's process map it, some 25 µs; 16 MiB of data to be written are 4096
    // such stops. What this program takes from here on, it gets at once. Programs that
    // it starts are not concerned (mlockall(2)).
    let _ = mlockall(MlockAllFlags::FUTURE);
    mount_system()?;
    // So that what runs out of memory ends with a word on the console that tells.
    let _ = fs::write("/proc/sys/vm/panic_on_oom", "1");
    // Compaction would move pages of this program, and what is free with them: how many there are, and
    // where, depends on its build (`isolate_migratepages_block`, mm/compaction.c).
    let _ = fs::write("/proc/sys/vm/compact_unevictable_allowed", "0");
    let _ = sethostname(b"lab");
    dirty_pages::limit_to_defaults();
    queues::set();
    mount_host(&on_host(LAB_ON_HOST), Path::new(LAB_DIRECTORY))
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
    let _ = unmount(LAB_DIRECTORY, UnmountFlags::DETACH);
    let error = reboot(RebootCommand::PowerOff).err();
    println!("the guest cannot be powered off: {error:?}");
    std::process::exit(1)
}
