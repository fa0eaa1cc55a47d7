//! What `/proc` has of the kernel's threads, in memory before a cell begins.
//!
//! A step's conditions are looked for in all of `/proc`, where each process takes objects of the
//! kernel's memory. A kernel with more parts has more threads, and then less memory is left.

use std::fs;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::cmsg_space;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};

/// So many go into one message.
const FILES_PER_MESSAGE: usize = 32;

/// What is read of each process, next to its directory.
const FILES: &[&str] = &["", "comm", "stat"];

/// Keeps what `/proc` has of the processes that there are, until this program ends.
pub(super) fn hold() {
    if let Ok(held) = hold_below(Path::new("/proc")) {
        std::mem::forget(held);
    }
}

/// As messages that nobody receives: as open files, each program that is started would have
/// to be told to close them.
fn hold_below(root: &Path) -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    let (sender, receiver) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // So few are open at once that they do not enlarge the table of open files.
    let mut open_files = Vec::with_capacity(FILES_PER_MESSAGE);
    let names = fs::read_dir(root).into_iter().flatten().flatten();
    let processes =
        names.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    for process in processes {
        for file in FILES {
            let path = process.path().join(file);
            // It may have ended.
            let Ok(file) = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
                continue;
            };
            open_files.push(file);
            if open_files.len() == FILES_PER_MESSAGE {
                send(&sender, &open_files)?;
                open_files.clear();
            }
        }
    }
    if !open_files.is_empty() {
        send(&sender, &open_files)?;
    }
    Ok((sender, receiver))
}

fn send(sender: &OwnedFd, files: &[OwnedFd]) -> rustix::io::Result<()> {
    let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES_PER_MESSAGE))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(Errno::INVAL);
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(sender, &[IoSlice::new(&[0])], &mut control, flags).map(drop)
}

#[cfg(test)]
mod tests {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

    use super::*;

    /// The directories and files that are held.
    fn received(receiver: &OwnedFd) -> Vec<String> {
        let mut paths = Vec::new();
        loop {
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES_PER_MESSAGE))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut byte = [0];
            let buffers = &mut [std::io::IoSliceMut::new(&mut byte)];
            if recvmsg(receiver, buffers, &mut control, RecvFlags::DONTWAIT).is_err() {
                return paths;
            }
            for message in control.drain() {
                let RecvAncillaryMessage::ScmRights(files) = message else { continue };
                for file in files {
                    use std::os::fd::AsRawFd;
                    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
                    paths.push(fs::read_link(link).expect("a path").display().to_string());
                }
            }
        }
    }

    #[test]
    fn all_that_is_read_of_each_process_is_held() {
        let root = tempfile::tempdir().expect("temp");
        let names = |pid: u32| FILES.iter().map(move |file| format!("{pid}/{file}"));
        for pid in 1..=30 {
            fs::create_dir(root.path().join(pid.to_string())).expect("a process");
            for name in names(pid).skip(1) {
                fs::write(root.path().join(name), "").expect("a file");
            }
        }
        fs::create_dir(root.path().join("sys")).expect("no process");
        let open_now = || fs::read_dir("/proc/self/fd").expect("files").count();
        let before = open_now();
        let (sender, receiver) = hold_below(root.path()).expect("a message");
        assert_eq!(open_now() - before, 2, "the two ends");
        let mut held = received(&receiver);
        held.sort();
        let path = |name: String| {
            root.path().join(name).display().to_string().trim_end_matches('/').to_owned()
        };
        let mut expected: Vec<String> = (1..=30).flat_map(names).map(path).collect();
        expected.sort();
        assert_eq!(held, expected);
        drop(sender);
    }
}
