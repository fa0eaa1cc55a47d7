//! What a program inherits of disklab's descriptors: its standard input, output and error.
//!
//! disklab's own are closed when a program is executed. Those that disklab itself has inherited,
//! such as a shell's `9>>file`, need not be: a program could write to what is none of its
//! business.

use std::io::{Error, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};
use rustix::io::{FdFlags, fcntl_setfd};

/// The first number after the standard ones.
const FIRST: RawFd = 3;

/// Has a program inherit nothing but its standard descriptors, and what is made inheritable
/// between fork and exec after this.
#[allow(unsafe_code)]
pub fn close_inherited(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only async-signal-safe system calls are made.
    unsafe { command.pre_exec(close_on_exec) }
}

/// Has a program inherit these descriptors, too: call it after [`close_inherited`].
#[allow(unsafe_code)]
pub(crate) fn keep(command: &mut Command, descriptors: Vec<RawFd>) {
    let keep = move || {
        // SAFETY: each is open in disklab, which waits for the program; it is used for this call only.
        descriptors.iter().try_for_each(|number| unsafe {
            Ok(fcntl_setfd(BorrowedFd::borrow_raw(*number), FdFlags::empty())?)
        })
    };
    // SAFETY: between fork and exec only async-signal-safe system calls are made.
    unsafe { command.pre_exec(keep) };
}

/// Has all but the standard descriptors closed on exec. It allocates nothing.
#[allow(unsafe_code)]
fn close_on_exec() -> Result<()> {
    // SAFETY: the call takes numbers; nothing is closed yet.
    let marked =
        unsafe { libc::syscall(libc::SYS_close_range, FIRST, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    // Before Linux 5.11, and in containers whose filter does not know the call.
    if marked == 0 { Ok(()) } else { one_by_one() }
}

#[allow(unsafe_code)]
fn one_by_one() -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(list) = openat(CWD, c"/proc/self/fd", flags, Mode::empty()) else {
        // A system without /proc: as many as there can be by its limit.
        return (FIRST..most_descriptors()).try_for_each(mark);
    };
    let mut space = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(&list, &mut space);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let Some(number) = entry.file_name().to_str().ok().and_then(|n| n.parse().ok()) else {
            continue;
        };
        if number >= FIRST && number != list.as_raw_fd() {
            mark(number)?;
        }
    }
    Ok(())
}

fn most_descriptors() -> RawFd {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|limit| limit.try_into().ok()).unwrap_or(RawFd::MAX)
}

#[allow(unsafe_code)]
fn mark(number: RawFd) -> Result<()> {
    // SAFETY: it is used for this call only.
    match fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC) {
        Ok(()) | Err(rustix::io::Errno::BADF) => Ok(()),
        Err(e) => Err(Error::from(e)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;
    use crate::{Executor, Invocation};

    /// A descriptor that programs inherit, with a number that no other test uses.
    fn inheritable(number: RawFd) -> File {
        let file = rustix::io::fcntl_dupfd_cloexec(tempfile::tempfile().expect("temp"), number);
        let file = file.expect("a number is free");
        fcntl_setfd(&file, FdFlags::empty()).expect("set");
        File::from(file)
    }

    #[test]
    fn programs_inherit_nothing_of_the_callers() {
        let kept = inheritable(700);
        let number = kept.as_raw_fd();
        // The shell's own are there, the caller's is not.
        let script = format!("test -e /proc/self/fd/0 && ! test -e /proc/self/fd/{number}");
        let look = || Invocation::new("sh").args(["-c", &script]);
        let executor = Executor::default();
        executor.check(&look()).expect("run");
        executor.check_fed(&look(), |_| Ok(())).expect("fed");
        let said = look().args(["sh"]);
        executor.start_daemon(&said, Duration::from_secs(5), |_| Some(())).expect("daemon");
        // It would be seen.
        let seen = Command::new("sh").args(["-c", &script]).status().expect("sh");
        assert!(!seen.success());
    }

    #[test]
    fn old_systems_close_the_same() {
        let kept = [inheritable(720), inheritable(1000)];
        for number in kept.each_ref().map(AsRawFd::as_raw_fd) {
            let script = format!("! test -e /proc/self/fd/{number}");
            let mut command = Command::new("sh");
            command.args(["-c", &script]);
            // SAFETY: as above.
            #[allow(unsafe_code)]
            unsafe {
                command.pre_exec(one_by_one)
            };
            assert!(command.status().expect("sh").success(), "{number}");
        }
    }
}
