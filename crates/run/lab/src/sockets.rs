//! The sockets that the kernel connects to.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open, unlinkat};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, listen, socket_with,
};

use crate::LabError;

/// Listening sockets in the lab's directory.
#[derive(Debug)]
pub(crate) struct Sockets {
    directory: OwnedFd,
    pub calendar: OwnedFd,
    /// For the disks, in their order.
    pub disks: Vec<OwnedFd>,
}

impl Sockets {
    /// The calendar's name in the directory.
    pub const CALENDAR: &'static str = "calendar";

    /// A disk's name in the directory.
    pub fn disk(index: usize) -> String {
        format!("disk{index}")
    }

    /// Makes them.
    pub fn new(directory: &Path, disks: usize) -> Result<Self, LabError> {
        let what = format!("open the lab's directory '{}'", directory.display());
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let directory = open(directory, flags, Mode::empty()).map_err(LabError::system(what))?;
        let calendar = listener(&directory, Self::CALENDAR)?;
        let disks =
            (0..disks).map(|d| listener(&directory, &Self::disk(d))).collect::<Result<_, _>>();
        Ok(Self { calendar, disks: disks?, directory })
    }

    /// Takes a connection that is there.
    pub fn accept(listener: &OwnedFd) -> Result<OwnedFd, LabError> {
        accept_with(listener, SocketFlags::CLOEXEC)
            .map_err(LabError::system("accept the kernel's connection"))
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        let _ = unlinkat(&self.directory, Self::CALENDAR, rustix::fs::AtFlags::empty());
        for disk in 0..self.disks.len() {
            let _ = unlinkat(&self.directory, Self::disk(disk), rustix::fs::AtFlags::empty());
        }
    }
}

fn listener(directory: &OwnedFd, name: &str) -> Result<OwnedFd, LabError> {
    let make = || -> Result<OwnedFd, Errno> {
        match unlinkat(directory, name, rustix::fs::AtFlags::empty()) {
            // What a lab that was killed left behind.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(e) => return Err(e),
        }
        // A socket's path has 108 bytes at most, which directories can exceed.
        let path = format!("/proc/self/fd/{}/{name}", directory.as_raw_fd());
        let socket =
            socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        bind(&socket, &SocketAddrUnix::new(path)?)?;
        listen(&socket, 1)?;
        Ok(socket)
    };
    make().map_err(LabError::system(format!("make the lab's socket '{name}'")))
}
