//! Directories in which someone else may have written anything: a guest of the lab, or
//! someone who gave a run away.
//!
//! A name there can be a link to a file of the user's, a pipe that blocks its reader, or a
//! file without end. So entries are opened one name at a time, without following links;
//! only regular files count, and no more of them is read than the caller expects.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2,
    renameat, unlinkat,
};
use rustix::io::Errno;

/// What a file is called until it is whole.
const UNFINISHED: &str = ".unfinished";

/// A directory whose entries are not trusted. Its own path is the caller's choice.
#[derive(Debug)]
pub struct UntrustedDirectory {
    fd: OwnedFd,
    path: PathBuf,
}

/// Why an entry was left out of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftBehind {
    /// A link: what it points to may be anything on this machine.
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// A file of more bytes than were asked for.
    TooLarge,
}

impl LeftBehind {
    /// What it is, for a message.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Link => "a symbolic link",
            Self::Special => "not a regular file",
            Self::TooLarge => "too large",
        }
    }
}

impl UntrustedDirectory {
    /// Opens the directory at `path`, which must not be a link itself.
    ///
    /// # Errors
    /// What the system says: `NotFound` if there is none, and an error for a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = openat(CWD, path, flags, Mode::empty())?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// Its path, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory in it.
    ///
    /// # Errors
    /// What the system says: an error if it is a link, or not a directory.
    pub fn directory(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        let fd = open_beneath(&self.fd, name, OFlags::DIRECTORY | OFlags::RDONLY)?;
        Ok(Self { fd, path: self.path.join(name) })
    }

    /// Makes a directory in it, or opens the one that is there.
    ///
    /// # Errors
    /// What the system says: an error if the name is a link, or not a directory.
    pub fn make_directory(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        match mkdirat(&self.fd, single(name.as_ref())?.as_c_str(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.directory(name),
            Err(e) => Err(e.into()),
        }
    }

    /// Opens a regular file to be read.
    ///
    /// # Errors
    /// `NotFound` if there is none; another error if it is anything but a regular file.
    pub fn file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        // Without blocking: a pipe's reader would wait for a writer.
        let fd = open_beneath(&self.fd, name.as_ref(), OFlags::RDONLY | OFlags::NONBLOCK)?;
        if FileType::from_raw_mode(fstat(&fd)?.st_mode).is_file() {
            return Ok(File::from(fd));
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"))
    }

    /// Reads a file of up to `most` bytes.
    ///
    /// # Errors
    /// As [`UntrustedDirectory::file`], and if the file has more bytes.
    pub fn read(&self, name: impl AsRef<OsStr>, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file(name)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= most {
            return Ok(bytes);
        }
        let what = format!("it has more than {most} bytes");
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }

    /// Writes a file, whole or not at all, in place of whatever has the name.
    ///
    /// # Errors
    /// What the system says. A directory of that name stays.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace(name, |file| file.write_all(bytes))
    }

    /// Copies the file `name` of `from` to this directory, in place of whatever has that
    /// name here: of a longer file, the last `most` bytes.
    ///
    /// # Errors
    /// As [`UntrustedDirectory::file`] and [`UntrustedDirectory::write`].
    pub fn copy_end(&self, from: &Self, name: &str, most: u64) -> io::Result<()> {
        let mut source = from.file(name)?;
        let length = source.metadata()?.len();
        source.seek(SeekFrom::Start(length.saturating_sub(most)))?;
        self.replace(name, |file| io::copy(&mut source.take(most), file).map(drop))
    }

    /// Copies all regular files and directories of `from` into this one. Anything else and
    /// files of more than `most` bytes are left behind, and `note` gets their paths.
    ///
    /// # Errors
    /// The path that could not be read or written, and the reason.
    pub fn copy_all(
        &self,
        from: &Self,
        most: u64,
        note: &mut dyn FnMut(&Path, LeftBehind),
    ) -> Result<(), (PathBuf, io::Error)> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |e: io::Error| (path, e)
        };
        let entries = Dir::read_from(&from.fd).map_err(|e| at(&from.path)(e.into()))?;
        for entry in entries {
            let entry = entry.map_err(|e| at(&from.path)(e.into()))?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let name = os_name(name);
            let path = from.path.join(name);
            let stat = rustix::fs::statat(&from.fd, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_err(|e| at(&path)(e.into()))?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    let inner = from.directory(name).map_err(at(&path))?;
                    let made = self.make_directory(name).map_err(at(&self.path.join(name)))?;
                    made.copy_all(&inner, most, note)?;
                }
                FileType::RegularFile if u64::try_from(stat.st_size).is_ok_and(|s| s <= most) => {
                    let source = from.file(name).map_err(at(&path))?;
                    self.replace(name, |file| io::copy(&mut source.take(most), file).map(drop))
                        .map_err(at(&self.path.join(name)))?;
                }
                FileType::RegularFile => note(&path, LeftBehind::TooLarge),
                FileType::Symlink => note(&path, LeftBehind::Link),
                _ => note(&path, LeftBehind::Special),
            }
        }
        Ok(())
    }

    fn replace(
        &self,
        name: impl AsRef<OsStr>,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let name = name.as_ref();
        single(name)?;
        let mut unfinished = name.to_owned();
        unfinished.push(UNFINISHED);
        match unlinkat(&self.fd, &unfinished, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(e) => return Err(e.into()),
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(&self.fd, &unfinished, flags, Mode::from_raw_mode(0o666))?;
        let result = fill(&mut File::from(fd))
            .and_then(|()| Ok(renameat(&self.fd, &unfinished, &self.fd, name)?));
        if result.is_err() {
            let _ = unlinkat(&self.fd, &unfinished, AtFlags::empty());
        }
        result
    }
}

/// A name of one component, which leads nowhere else.
fn single(name: &OsStr) -> io::Result<CString> {
    let bytes = name.as_encoded_bytes();
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
        let what = format!("'{}' is not a name in a directory", name.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(CString::new(bytes)?)
}

fn os_name(name: &std::ffi::CStr) -> &OsStr {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(name.to_bytes())
}

fn open_beneath(directory: &OwnedFd, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
    let name = single(name)?;
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match openat2(directory.as_fd(), name.as_c_str(), flags, Mode::empty(), resolve) {
        // Before Linux 5.6, and in containers whose filter does not know the call. Of a
        // name of one component, NOFOLLOW says the same.
        Err(Errno::NOSYS | Errno::PERM) => {
            Ok(openat(directory, name.as_c_str(), flags, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}

#[cfg(test)]
mod tests;
