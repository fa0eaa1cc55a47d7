//! Messages over a vhost-user socket.

use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendFlags, recvmsg,
    sendmsg,
};

use crate::{LabError, ProtocolBreach};

/// `struct vhost_user_header`: request, flags and size, 32 bits each.
pub(super) const HEADER_BYTES: usize = 12;
/// No message that the kernel sends is longer.
const PAYLOAD_LIMIT: usize = 4096;
/// As many descriptors as the kernel's memory has regions, and some.
const FD_LIMIT: usize = 8;

/// The protocol's version, in the flags of every message.
const VERSION: u32 = 1;
const VERSION_MASK: u32 = 3;
const FLAG_REPLY: u32 = 1 << 2;
const FLAG_NEED_REPLY: u32 = 1 << 3;

/// A message of the kernel's.
#[derive(Debug)]
pub(super) struct Message {
    pub request: u32,
    pub needs_reply: bool,
    pub payload: Vec<u8>,
}

impl Message {
    /// The payload as 64 bits.
    pub fn u64(&self) -> Option<u64> {
        self.payload.as_slice().try_into().ok().map(u64::from_ne_bytes)
    }

    /// Word `index` of 32 bits of the payload.
    pub fn word(&self, index: usize) -> Option<u32> {
        let bytes = self.payload.get(index * 4..)?.first_chunk::<4>()?;
        Some(u32::from_ne_bytes(*bytes))
    }

    /// The 64 bits at byte `offset` of the payload.
    pub fn u64_at(&self, offset: usize) -> Option<u64> {
        let bytes = self.payload.get(offset..)?.first_chunk::<8>()?;
        Some(u64::from_ne_bytes(*bytes))
    }
}

/// A vhost-user socket.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    name: String,
    received: Vec<u8>,
    fds: VecDeque<OwnedFd>,
}

impl Connection {
    /// A connection over `socket`, called `name` in messages.
    pub fn new(socket: OwnedFd, name: String) -> Self {
        Self { socket, name, received: Vec::new(), fds: VecDeque::new() }
    }

    /// The socket, to be polled.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// An error of the kernel's.
    pub fn broken(&self, breach: impl Into<ProtocolBreach>) -> LabError {
        LabError::protocol(&self.name, breach)
    }

    /// Reads what is there. Returns whether the other side is still there.
    pub(super) fn fill(&mut self) -> Result<bool, LabError> {
        let mut bytes = [0; HEADER_BYTES + PAYLOAD_LIMIT];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FD_LIMIT))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = {
            let mut buffers = [IoSliceMut::new(&mut bytes)];
            let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
            match recvmsg(&self.socket, &mut buffers, &mut ancillary, flags) {
                Ok(got) => got.bytes,
                Err(Errno::INTR | Errno::AGAIN) => return Ok(true),
                Err(Errno::CONNRESET) => 0,
                Err(e) => return Err(LabError::system("read a disk's socket")(e)),
            }
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                self.fds.extend(fds);
            }
        }
        if self.fds.len() > FD_LIMIT {
            return Err(self.broken(ProtocolBreach::TooManyDescriptors));
        }
        self.received.extend_from_slice(&bytes[..got]);
        Ok(got != 0)
    }

    /// The next whole message that was read.
    pub(super) fn next(&mut self) -> Result<Option<Message>, LabError> {
        let Some(header) = self.received.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let word =
            |i: usize| u32::from_ne_bytes([header[i], header[i + 1], header[i + 2], header[i + 3]]);
        let (request, flags, size) = (word(0), word(4), word(8) as usize);
        if flags & VERSION_MASK != VERSION || flags & FLAG_REPLY != 0 {
            return Err(self.broken(ProtocolBreach::Flags { request, flags }));
        }
        if size > PAYLOAD_LIMIT {
            return Err(self.broken(ProtocolBreach::PayloadSize { request, bytes: size }));
        }
        let Some(payload) = self.received.get(HEADER_BYTES..HEADER_BYTES + size) else {
            return Ok(None);
        };
        let payload = payload.to_vec();
        self.received.drain(..HEADER_BYTES + size);
        Ok(Some(Message { request, needs_reply: flags & FLAG_NEED_REPLY != 0, payload }))
    }

    /// The descriptor that came with the last message, if one did.
    pub(super) fn take_fd(&mut self) -> Option<OwnedFd> {
        self.fds.pop_front()
    }

    /// Closes descriptors that came and were not wanted.
    pub(super) fn drop_fds(&mut self) {
        self.fds.clear();
    }

    /// Answers `request` with `payload`.
    pub(super) fn reply(&self, request: u32, payload: &[u8]) -> Result<(), LabError> {
        send(self.socket.as_fd(), request, VERSION | FLAG_REPLY, payload)
    }
}

/// Sends a message of the device's own, which wants no reply.
pub(super) fn tell(socket: BorrowedFd<'_>, request: u32, payload: &[u8]) -> Result<(), LabError> {
    send(socket, request, VERSION, payload)
}

fn send(socket: BorrowedFd<'_>, request: u32, flags: u32, body: &[u8]) -> Result<(), LabError> {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&request.to_ne_bytes());
    header[4..8].copy_from_slice(&flags.to_ne_bytes());
    // Payloads are ours, and short.
    header[8..].copy_from_slice(&(body.len() as u32).to_ne_bytes());
    let parts = [IoSlice::new(&header), IoSlice::new(body)];
    loop {
        let mut none = SendAncillaryBuffer::default();
        // A guest that does not read must not hold us up: it reads each answer
        // before it asks again, so that its socket is never full.
        match sendmsg(socket, &parts, &mut none, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            // A kernel that has gone is noticed when its end is read.
            Ok(_) | Err(Errno::PIPE | Errno::CONNRESET) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(e) => return Err(LabError::system("write to a disk's socket")(e)),
        }
    }
}
