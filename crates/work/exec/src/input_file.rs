//! Files that disklab reads and did not make: texts that the user names, another program's
//! output, what somebody put into a directory.
//!
//! Under any such name there may be something whose opening or reading does not end, or does
//! something: a FIFO waits for a writer, a tape rewinds, `/dev/zero` has no end.

use std::fs::{File, FileType, OpenOptions, read_link};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fstatfs};
use rustix::io::Errno;

/// Texts that people write are shorter than this.
pub const LARGEST_TEXT: u64 = 4 << 20;

/// What `fstatfs` says of a pipe without a name (PIPEFS_MAGIC in `include/uapi/linux/magic.h`).
const PIPE_FS: u64 = 0x5049_5045;

/// Opens a regular file to be read. Never waits, and opens nothing else, by its own name or a
/// link's.
///
/// # Errors
/// What the system says, and [`ErrorKind::InvalidInput`] if it is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Before it is opened, as opening a device can have an effect; and after, as there may be
    // something else by then.
    check_regular(path.metadata()?.file_type())?;
    let file = open_without_waiting(path)?;
    check_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads all of what has this path, of which only up to `most` bytes are expected: a regular
/// file, or what another program writes into a pipe without a name, as in `disklab fio <(…)`.
///
/// # Errors
/// As [`open_regular`], [`ErrorKind::FileTooLarge`] if there is more, and an error if a signal
/// comes before the other program has written all.
pub fn read_input(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    match path.metadata()?.file_type().is_fifo() {
        true => whole(PipeReader(open_pipe(path)?), most),
        false => read_file(path, most),
    }
}

/// The same of a text in UTF-8.
///
/// # Errors
/// As [`read_input`], and [`ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_input(path, most)?)
        .map_err(|e| io::Error::new(ErrorKind::InvalidData, e.utf8_error()))
}

/// Reads at most `most` bytes of a file, of which there may be more.
///
/// # Errors
/// As [`open_regular`].
pub fn read_start(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of up to `most` bytes.
///
/// # Errors
/// As [`open_regular`], and [`ErrorKind::FileTooLarge`] if there is more.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    // Without reading what is known to be too large.
    if file.metadata()?.len() > most {
        return Err(too_large(most));
    }
    whole(file, most)
}

/// Reads a file of up to `most` bytes that lies below one of these directories, wherever a link
/// on the way to it leads.
///
/// # Errors
/// As [`read_file`], or that it lies elsewhere.
pub fn read_file_below(directories: &[PathBuf], path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    // Where the open file is, whatever its path leads to by now.
    let real = read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    if !directories.iter().any(|directory| real.starts_with(directory)) {
        let what = "it lies outside of the directory, by a link";
        return Err(io::Error::new(ErrorKind::PermissionDenied, what));
    }
    whole(file, most)
}

fn whole(file: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most { Ok(bytes) } else { Err(too_large(most)) }
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes"))
}

fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

fn check_regular(kind: FileType) -> io::Result<()> {
    let what = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() => "a block device",
        _ => "a character device",
    };
    let what = format!("it is {what}, not a regular file");
    Err(io::Error::new(ErrorKind::InvalidInput, what))
}

/// Of a pipe with a name it is not known whether a writer will ever come.
fn open_pipe(path: &Path) -> io::Result<File> {
    let file = open_without_waiting(path)?;
    if fstatfs(&file)?.f_type as u64 != PIPE_FS {
        check_regular(file.metadata()?.file_type())?;
    }
    Ok(file)
}

/// The end of a pipe that does not wait by itself.
struct PipeReader(File);

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let pipe = &mut self.0;
        loop {
            match pipe.read(buffer) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
            match poll(&mut [PollFd::new(&*pipe, PollFlags::IN)], None) {
                Ok(_) => {}
                // `read_to_end` would try again.
                Err(Errno::INTR) => return Err(io::Error::other("interrupted")),
                Err(e) => return Err(e.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc;
    use std::time::Duration;

    use rustix::fs::{CWD, FileType as NodeType, Mode, mknodat};

    use super::*;

    /// What reading gives, within a time.
    fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let path = path.to_owned();
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || send.send(read_input(&path, most)));
        receive.recv_timeout(Duration::from_secs(30)).expect("reading it hangs")
    }

    #[test]
    fn only_regular_files_are_opened() {
        let directory = tempfile::tempdir().expect("temp");
        let at = |name: &str| directory.path().join(name);
        mknodat(CWD, at("fifo"), NodeType::Fifo, Mode::RWXU, 0).expect("a FIFO");
        let _socket = UnixListener::bind(at("socket")).expect("a socket");
        symlink("fifo", at("link")).expect("a link");
        for (path, what) in [
            (at("fifo"), "a FIFO"),
            (at("link"), "a FIFO"),
            (at("socket"), "a socket"),
            (at(""), "a directory"),
            (PathBuf::from("/dev/zero"), "a character device"),
            (PathBuf::from("/dev/tty"), "a character device"),
        ] {
            for error in
                [read(&path, 1 << 20).expect_err(what), open_regular(&path).expect_err(what)]
            {
                assert_eq!(error.to_string(), format!("it is {what}, not a regular file"));
                assert_eq!(error.kind(), ErrorKind::InvalidInput);
            }
        }
    }

    #[test]
    fn files_that_are_too_large_are_refused() {
        let directory = tempfile::tempdir().expect("temp");
        let path = directory.path().join("text");
        std::fs::write(&path, "text").expect("write");
        assert_eq!(read(&path, 4).expect("read"), b"text");
        let error = read(&path, 3).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has more than 3 bytes");
        // The length of such a file is not known before it is read.
        assert!(!read(Path::new("/proc/self/status"), 1 << 20).expect("read").is_empty());
        assert!(read(Path::new("/proc/self/status"), 3).is_err());
    }

    #[test]
    fn pipe_of_another_program_is_read_to_its_end() {
        let (end, mut writer) = io::pipe().expect("a pipe");
        let path = PathBuf::from(format!("/proc/self/fd/{}", end.as_raw_fd()));
        let late = std::thread::spawn(move || {
            for part in ["one ", "two"] {
                std::thread::sleep(Duration::from_millis(50));
                writer.write_all(part.as_bytes()).expect("write");
            }
        });
        assert_eq!(read(&path, 100).expect("read"), b"one two");
        late.join().expect("written");
        let (end, _writer) = io::pipe().expect("a pipe");
        let path = PathBuf::from(format!("/proc/self/fd/{}", end.as_raw_fd()));
        (&_writer).write_all(&[b'x'; 100]).expect("write");
        assert_eq!(read(&path, 99).expect_err("too much").kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn only_files_are_opened() {
        let directory = tempfile::tempdir().expect("temp");
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("text"), "text").expect("written");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        // Nobody writes to it: to open it as a file is opened would not end.
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), kind, mode, 0).expect("pipe");
        for wrong in [path("pipe"), path("."), Path::new("/dev/zero").to_owned()] {
            assert!(read_file(&wrong, 9).is_err() && read_start(&wrong, 9).is_err(), "{wrong:?}");
        }
        assert_eq!(read_file(&path("text"), 4).expect("read"), b"text");
        assert!(read_file(&path("text"), 3).is_err());
        assert_eq!(read_start(&path("text"), 3).expect("read"), b"tex");
    }
}
