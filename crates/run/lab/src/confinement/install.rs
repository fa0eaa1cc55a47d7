//! Putting filters into force in a child, and taking its listener from there.

use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use seccompiler::{BpfProgram, sock_filter};

use super::syscalls::Filters;
use crate::open_files::{receive_file, send_file};

/// `struct sock_fprog` (`include/uapi/linux/filter.h`).
#[repr(C)]
struct Program {
    length: libc::c_ushort,
    filter: *const sock_filter,
}

/// Over which a child sends its listener: the parent's end, and the child's.
pub(super) fn channel() -> Result<(OwnedFd, OwnedFd), Errno> {
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

/// Puts the filters into force for the calling process and all that it will start, and
/// sends the listener over `channel`. It allocates nothing.
pub(super) fn filters(filters: &Filters, channel: Option<RawFd>) -> Result<(), Errno> {
    for program in [&filters.allowed, &filters.unknown] {
        install(program, 0)?;
    }
    let (Some(program), Some(channel)) = (&filters.supervised, channel) else { return Ok(()) };
    match install(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER) {
        Ok(listener) => send(channel, listener),
        // The container that we are in supervises calls itself, and a process has one
        // supervisor. The parent sees that nothing comes, and says so.
        Err(Errno::BUSY) => Ok(()),
        Err(e) => Err(e),
    }
}

#[allow(unsafe_code)]
fn install(program: &BpfProgram, flags: libc::c_ulong) -> Result<RawFd, Errno> {
    let length = libc::c_ushort::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    let program = Program { length, filter: program.as_ptr() };
    if length == 0 {
        return Ok(-1);
    }
    // Some kernels slow a filtered process down against speculation, which this one, whose
    // memory holds nothing of anybody else's, does not need.
    let flags = flags | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // SAFETY: the program lives for as long as the call, and has this length.
    let done = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    match RawFd::try_from(done) {
        Ok(done) if done >= 0 => Ok(done),
        _ => Err(std::io::Error::last_os_error()
            .raw_os_error()
            .map_or(Errno::INVAL, Errno::from_raw_os_error)),
    }
}

#[allow(unsafe_code)]
fn send(channel: RawFd, listener: RawFd) -> Result<(), Errno> {
    // SAFETY: both are open: the channel is inherited, the listener has just been made and
    // has no other owner.
    let (channel, listener) =
        unsafe { (BorrowedFd::borrow_raw(channel), OwnedFd::from_raw_fd(listener)) };
    send_file(channel, listener.as_fd())
}

/// The listener that the child has sent; `None` if it has none.
pub(super) fn receive(channel: &OwnedFd) -> Option<OwnedFd> {
    receive_file(channel).ok()
}
