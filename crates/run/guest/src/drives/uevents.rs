//! Hearing of new and vanished partitions from the kernel, as udev's daemon does.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::netlink::{KOBJECT_UEVENT, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};

use super::database::DeviceDatabase;
use super::facts::DriveFacts;

/// The kernel's own group of events (`MONITOR_GROUP_KERNEL` of sd-device).
const KERNEL_GROUP: u32 = 1;
/// No event is longer (`UEVENT_BUFFER_SIZE` in include/linux/kobject.h, and its header).
const LONGEST: usize = 4096;

/// Keeps links and database as the drives are.
#[derive(Debug)]
pub struct UeventListener {
    socket: OwnedFd,
    drives: Vec<DriveFacts>,
}

impl UeventListener {
    /// Hears from now on.
    ///
    /// # Errors
    /// That of socket(2) or bind(2): hot-plugged drives would not be seen.
    pub fn new(drives: Vec<DriveFacts>) -> rustix::io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = SocketType::DGRAM;
        let socket = socket_with(AddressFamily::NETLINK, kind, flags, Some(KOBJECT_UEVENT))?;
        bind(&socket, &SocketAddrNetlink::new(0, KERNEL_GROUP))?;
        Ok(Self { socket, drives })
    }

    /// Becomes readable when something happened.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes all that happened, and follows it. What cannot be written is not worth the session.
    pub fn follow(&self) {
        let mut buffer = [0; LONGEST];
        let mut changed = false;
        loop {
            match recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((got, _)) if got > 0 => changed |= is_of_blocks(&buffer[..got.min(LONGEST)]),
                // Some were lost.
                Err(rustix::io::Errno::NOBUFS) => changed = true,
                Err(rustix::io::Errno::INTR) => {}
                _ => break,
            }
        }
        if changed {
            let _ = DeviceDatabase::default().refresh(&self.drives);
        }
    }
}

/// Whether an event is about a block device: `ACTION@PATH` and `NAME=VALUE`, parted by zeros
/// (lib/kobject_uevent.c).
fn is_of_blocks(event: &[u8]) -> bool {
    event.split(|byte| *byte == 0).any(|field| field == b"SUBSYSTEM=block")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_block_devices_matter() {
        let event = b"add@/devices/x/block/vda/vda1\0ACTION=add\0SUBSYSTEM=block\0DEVNAME=vda1\0";
        assert!(is_of_blocks(event));
        assert!(!is_of_blocks(b"add@/x\0SUBSYSTEM=blocks\0"));
        assert!(!is_of_blocks(b""));
        assert!(!is_of_blocks(&[0xff; 100]));
    }
}
