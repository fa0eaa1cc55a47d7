//! Open files in messages between processes.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// So many go into one message.
pub(crate) const FILES_PER_MESSAGE: usize = 32;

/// Sends [`FILES_PER_MESSAGE`] files at most, with a byte, and waits for nobody. Allocates nothing, so that
/// a process just forked may call it.
///
/// # Errors
/// That of sendmsg(2). More files than that are `EINVAL`.
pub(crate) fn send_files(socket: &OwnedFd, files: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES_PER_MESSAGE))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(Errno::INVAL);
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(socket, &[IoSlice::new(&[0])], &mut control, flags).map(drop)
}
