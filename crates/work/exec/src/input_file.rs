//! Files that the user names to be read: a text, a pipe from another program, or a mistake.

use std::fs::{File, OpenOptions, read_link};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Texts that people write are shorter than this.
pub const LARGEST_TEXT: u64 = 4 << 20;

/// Reads all of what has this path, of which only up to `most` bytes are expected. A device such
/// as `/dev/zero` has no end, and no size that would say so.
///
/// # Errors
/// What the system says, and [`io::ErrorKind::FileTooLarge`] if there is more.
pub fn read_input(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(File::open(path)?, most)
}

/// Opens what has this path to be read, if that is a file: without waiting, as a pipe would, and
/// without doing what opening a device does.
fn open_file(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    // A device that nobody names twice is at most opened, never read.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    Ok(file)
}

/// Reads at most `most` bytes of a file, of which there may be more.
///
/// # Errors
/// What the system says, or that it is not a file.
pub fn read_start(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of up to `most` bytes.
///
/// # Errors
/// What the system says, that it is not a file, or that there is more.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(open_file(path)?, most)
}

/// Reads a file of up to `most` bytes that lies below one of these directories, wherever a link
/// on the way to it leads.
///
/// # Errors
/// As [`read_file`], or that it lies elsewhere.
pub fn read_file_below(directories: &[PathBuf], path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_file(path)?;
    // Where the open file is, whatever its path leads to by now.
    let real = read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    if !directories.iter().any(|directory| real.starts_with(directory)) {
        let what = "it lies outside of the directory, by a link";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    whole(file, most)
}

fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    let what = format!("it has more than {most} bytes");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_end_are_refused() {
        let error = read_input(Path::new("/dev/zero"), 1 << 20).expect_err("too large");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has more than 1048576 bytes");
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().join("text");
        std::fs::write(&path, "text").expect("write");
        assert_eq!(read_input(&path, 4).expect("read"), b"text");
        assert!(read_input(&path, 3).is_err());
    }

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().expect("temp");
        let path = |name: &str| folder.path().join(name);
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
