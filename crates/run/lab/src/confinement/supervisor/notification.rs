//! One system call that waits for an answer, as the kernel reports it
//! (`include/uapi/linux/seccomp.h`).

use std::fs::File;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Bytes that newer kernels may add to their structures (`SECCOMP_GET_NOTIF_SIZES`).
const SPARE: usize = 512;

/// A call that waits.
pub(super) struct Notification(libc::seccomp_notif);

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyscallAnswer {
    /// It returns this.
    Value(i64),
    Fail(Errno),
    /// The system makes it as it is: only if all that decided is in registers.
    Proceed,
}

/// With room for what newer kernels write behind it.
#[repr(C)]
struct Roomy<T> {
    known: T,
    spare: [u8; SPARE],
}

fn zeroed() -> libc::seccomp_notif {
    let data = libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
    libc::seccomp_notif { id: 0, pid: 0, flags: 0, data }
}

#[allow(unsafe_code)]
fn ioctl<T>(listener: &OwnedFd, request: libc::Ioctl, argument: &mut T) -> Result<i32, Errno> {
    // SAFETY: all callers give what their request reads and writes, with room to spare.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), request, std::ptr::from_mut(argument)) };
    if done >= 0 {
        return Ok(done);
    }
    let error = std::io::Error::last_os_error().raw_os_error();
    Err(error.map_or(Errno::INVAL, Errno::from_raw_os_error))
}

/// Whether nobody is left to be supervised (since Linux 5.9).
pub(super) fn is_over(listener: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(listener, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().contains(PollFlags::HUP)
}

impl Notification {
    /// Takes the one that is there.
    pub fn receive(listener: &OwnedFd) -> Result<Self, Errno> {
        // It would block where there is none.
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now))?;
        if !fds[0].revents().contains(PollFlags::IN) {
            return Err(Errno::NOENT);
        }
        let mut space = Roomy { known: zeroed(), spare: [0; SPARE] };
        ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &mut space)?;
        Ok(Self(space.known))
    }

    /// Which call it is.
    pub fn number(&self) -> i64 {
        self.0.data.nr.into()
    }

    /// The lower half of an argument.
    pub fn argument(&self, index: usize) -> u32 {
        // Cutting off is what the kernel does with an `int`.
        self.0.data.args.get(index).map_or(0, |argument| *argument as u32)
    }

    /// The path of the socket's address that is the second argument, and its length the
    /// third.
    pub fn unix_path(&self, listener: &OwnedFd) -> Result<Vec<u8>, Errno> {
        const PATH: usize = offset_of!(libc::sockaddr_un, sun_path);
        let length = self.argument(2) as usize;
        if !(PATH + 1..=size_of::<libc::sockaddr_un>()).contains(&length) {
            return Err(Errno::INVAL);
        }
        let mut address = vec![0; length];
        let mut read = || {
            let memory = File::open(format!("/proc/{}/mem", self.0.pid))?;
            memory.read_exact_at(&mut address, self.0.data.args[1])
        };
        read().map_err(|_| Errno::ACCESS)?;
        // The process may have ended, and its number be another's.
        self.check(listener)?;
        let family = u16::from_ne_bytes([address[0], address[1]]);
        if i32::from(family) != libc::AF_UNIX {
            return Err(Errno::AFNOSUPPORT);
        }
        let path = &address[PATH..];
        let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
        Ok(path[..end].to_owned())
    }

    fn check(&self, listener: &OwnedFd) -> Result<(), Errno> {
        ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &mut self.0.id.clone()).map(drop)
    }

    /// Puts a descriptor into the calling process, where what has this number is closed.
    pub fn put_fd(
        &self,
        listener: &OwnedFd,
        fd: BorrowedFd<'_>,
        number: u32,
    ) -> Result<i32, Errno> {
        let mut request = libc::seccomp_notif_addfd {
            id: self.0.id,
            flags: u32::try_from(libc::SECCOMP_ADDFD_FLAG_SETFD).map_err(|_| Errno::INVAL)?,
            srcfd: fd.as_raw_fd().cast_unsigned(),
            newfd: number,
            newfd_flags: 0,
        };
        ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_ADDFD, &mut request)
    }

    /// Lets the guest's call return.
    pub fn reply(&self, listener: &OwnedFd, answer: SyscallAnswer) -> Result<(), Errno> {
        let (val, error, flags) = match answer {
            SyscallAnswer::Value(value) => (value, 0, 0),
            SyscallAnswer::Fail(errno) => (0, -errno.raw_os_error(), 0),
            SyscallAnswer::Proceed => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE),
        };
        let flags = u32::try_from(flags).map_err(|_| Errno::INVAL)?;
        let known = libc::seccomp_notif_resp { id: self.0.id, val, error, flags };
        let mut space = Roomy { known, spare: [0; SPARE] };
        ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &mut space).map(drop)
    }
}
