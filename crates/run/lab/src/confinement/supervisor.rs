//! Decides the system calls of the guest's process that need more than a filter
//! (seccomp_unotify(2)).
//!
//! - `connect`: the supervisor itself connects to the lab's socket of that name, once each,
//!   and puts the connected socket in the place of the guest's. What the call points to is
//!   read once; so nothing is gained by changing it meanwhile.
//! - `kill` and `F_SETOWN`, before Linux 6.12: only to processes of the guest's session, which
//!   none of them can leave. (Later, Landlock sees to that.)

mod notification;

use std::io::Error;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{Pid, getpid};

use super::install;
use crate::{LabError, Sockets};
use notification::{Notification, SyscallAnswer};

/// Answers for one guest. While it is gone, such calls fail.
#[derive(Debug)]
pub(crate) struct Supervisor {
    listener: OwnedFd,
    /// The guest's session, which is its first process.
    session: Pid,
    /// The lab's directory, with the sockets.
    directory: OwnedFd,
    /// The sockets that the guest has yet to connect to.
    sockets: Vec<String>,
}

impl Supervisor {
    /// For the process `session`, which has sent its listener over `channel`, and may connect
    /// to the sockets of a lab with so many disks; `None` if it has none.
    pub fn new(
        channel: Option<&OwnedFd>,
        session: Pid,
        directory: &Path,
        disks: usize,
    ) -> Result<Option<Self>, LabError> {
        let Some(listener) = channel.and_then(install::receive) else { return Ok(None) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let what = format!("open the lab's directory '{}'", directory.display());
        let directory =
            openat(CWD, directory, flags, Mode::empty()).map_err(LabError::system(what))?;
        let sockets = (0..disks).map(Sockets::disk).chain([Sockets::CALENDAR.to_owned()]).collect();
        Ok(Some(Self { listener, session, directory, sockets }))
    }

    /// Becomes readable when a call waits for its answer.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Answers the call that waits. Returns whether there may be more: `false` when the last
    /// process of the guest has ended.
    pub fn answer(&mut self) -> Result<bool, LabError> {
        let failed = || LabError::system("supervise the guest's system calls");
        let notification = match Notification::receive(&self.listener) {
            Ok(notification) => notification,
            // Its process was killed before it was heard.
            Err(Errno::INTR) => return Ok(true),
            Err(Errno::NOENT) => return Ok(!notification::is_over(&self.listener)),
            Err(e) => return Err(failed()(e)),
        };
        let answer = self.decide(&notification).unwrap_or_else(SyscallAnswer::Fail);
        match notification.reply(&self.listener, answer) {
            // Killed meanwhile.
            Ok(()) | Err(Errno::NOENT | Errno::INTR) => Ok(true),
            Err(e) => Err(failed()(e)),
        }
    }

    fn decide(&mut self, call: &Notification) -> Result<SyscallAnswer, Errno> {
        match call.number() {
            libc::SYS_connect => self.connects(call),
            libc::SYS_kill => self.signals(call.argument(0)),
            libc::SYS_fcntl => self.signals(call.argument(2)),
            _ => Err(Errno::PERM),
        }
    }

    fn connects(&mut self, call: &Notification) -> Result<SyscallAnswer, Errno> {
        let name = call.unix_path(&self.listener)?;
        let index = self.sockets.iter().position(|socket| socket.as_bytes() == name);
        let name = self.sockets.swap_remove(index.ok_or(Errno::ACCESS)?);
        let socket = self.connected(&name)?;
        match call.put_fd(&self.listener, socket.as_fd(), call.argument(0)) {
            Ok(_) => Ok(SyscallAnswer::Value(0)),
            Err(e) => old_system(e),
        }
    }

    /// A socket connected to the lab's own of this name, whatever the guest made of the name.
    fn connected(&self, name: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let place = match openat2(&self.directory, name, flags, Mode::empty(), beneath) {
            // Containers whose filter does not know the call. Of a name of one component,
            // NOFOLLOW says the same.
            Err(Errno::NOSYS | Errno::PERM) => openat(&self.directory, name, flags, Mode::empty())?,
            place => place?,
        };
        let socket =
            socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let path = format!("/proc/self/fd/{}", place.as_raw_fd());
        connect(&socket, &SocketAddrUnix::new(path)?)?;
        // A hard link to another's socket is no link to be followed.
        if socket_peercred(&socket)?.pid == getpid() { Ok(socket) } else { Err(Errno::ACCESS) }
    }

    /// Whether a process of the guest may signal this one. Its number is in a register, which
    /// does not change until the call is answered.
    fn signals(&self, process: u32) -> Result<SyscallAnswer, Errno> {
        match process.cast_signed() {
            // Its own process group is its session.
            0 => Ok(SyscallAnswer::Proceed),
            process if process > 0 => {
                let process = Pid::from_raw(process).ok_or(Errno::SRCH)?;
                if session_of(process)? == self.session.as_raw_pid() {
                    Ok(SyscallAnswer::Proceed)
                } else {
                    Err(Errno::PERM)
                }
            }
            _ => Err(Errno::PERM),
        }
    }
}

/// The session of this process: 0 if its leader is outside of this PID namespace, as in a
/// container, where `rustix::process::getsid` cannot express it.
#[allow(unsafe_code)]
fn session_of(process: Pid) -> Result<i32, Errno> {
    // SAFETY: the call takes a number, and touches no memory.
    match unsafe { libc::getsid(process.as_raw_pid()) } {
        -1 => Err(Errno::from_io_error(&Error::last_os_error()).unwrap_or(Errno::IO)),
        session => Ok(session),
    }
}

/// Before Linux 5.9 no descriptor can be put into another process.
fn old_system(error: Errno) -> Result<SyscallAnswer, Errno> {
    match error {
        Errno::INVAL | Errno::NOTTY => Ok(SyscallAnswer::Proceed),
        error => Err(error),
    }
}
