//! A file that is being written, and what killed processes left of such.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use disklab_exec::owner;
use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, flock, linkat, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

const PREFIX: &str = ".disklab-";
const ENDING: &str = ".part";

/// A whole text on its way to its name. Where the file system can, it has no name before, so that
/// the kernel removes it if this process is killed.
pub struct PartFile<'a> {
    directory: &'a OwnedFd,
    /// Locked, so that others see that its process lives.
    file: File,
    /// Its name so far, if it has one.
    name: Option<String>,
}

impl<'a> PartFile<'a> {
    /// Writes a text.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(directory: &'a OwnedFd, text: &str) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let unnamed = openat(directory, ".", flags | OFlags::TMPFILE, mode);
        let mut part = match unnamed.map(File::from) {
            // Without /proc it could get no name.
            Ok(file) if named_by_proc(&file).is_some() => Self { directory, file, name: None },
            _ => {
                let name = part_name();
                let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
                let file = File::from(openat(directory, &name, flags, mode)?);
                Self { directory, file, name: Some(name) }
            }
        };
        let _ = flock(&part.file, FlockOperation::NonBlockingLockExclusive);
        part.file.write_all(text.as_bytes())?;
        Ok(part)
    }

    /// Gives it its name, in place of a file that has it.
    ///
    /// # Errors
    /// What the system says.
    pub fn rename(mut self, to: &OsStr) -> io::Result<()> {
        let name = match self.name.clone() {
            Some(name) => name,
            None => {
                let path = named_by_proc(&self.file).ok_or(io::ErrorKind::NotFound)?;
                let link =
                    |to: &OsStr| linkat(CWD, &path, self.directory, to, AtFlags::SYMLINK_FOLLOW);
                match link(to) {
                    Err(Errno::EXIST) => {}
                    result => return Ok(result?),
                }
                let name = part_name();
                link(OsStr::new(&name))?;
                self.name.insert(name).clone()
            }
        };
        renameat(self.directory, &name, self.directory, to)?;
        self.name = None;
        Ok(())
    }
}

impl Drop for PartFile<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(self.directory, name, AtFlags::empty());
        }
    }
}

/// Removes files of this user that killed processes were writing.
pub fn sweep(directory: &OwnedFd) {
    let Ok(entries) = Dir::read_from(directory) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().to_str() else { continue };
        if is_part_name(name) && is_abandoned(directory.as_fd(), name) {
            let _ = unlinkat(directory, name, AtFlags::empty());
        }
    }
}

fn is_abandoned(directory: BorrowedFd<'_>, name: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(directory, name, flags, Mode::empty()).map(File::from) else {
        return false;
    };
    let is_own = file.metadata().is_ok_and(|m| m.is_file() && m.uid() == geteuid().as_raw());
    is_own && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn part_name() -> String {
    format!("{PREFIX}{}{ENDING}", owner())
}

/// Whether [`part_name`] gives such a name in some process.
fn is_part_name(name: &str) -> bool {
    let owner = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(ENDING));
    owner.and_then(|owner| owner.split_once('-')).is_some_and(|(process, word)| {
        process.parse::<u32>().is_ok()
            && word.len() == 16
            && word.chars().all(|c| c.is_ascii_hexdigit())
    })
}

fn named_by_proc(file: &File) -> Option<String> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::fs::symlink_metadata(&path).is_ok().then_some(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use rustix::fs::open;

    use super::*;

    fn directory(path: &Path) -> OwnedFd {
        open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).expect("open")
    }

    fn names(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).expect("read").flatten();
        let mut names: Vec<_> =
            entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn unfinished_file_has_no_name_and_a_named_one_goes_with_its_owner() {
        let temp = tempfile::tempdir().expect("temp");
        let at = directory(temp.path());
        let part = PartFile::new(&at, "one").expect("written");
        if part.name.is_none() {
            assert_eq!(names(temp.path()), [""; 0]);
        } else {
            eprintln!("skipped: needs a file system with O_TMPFILE");
        }
        part.rename(OsStr::new("a")).expect("renamed");
        PartFile::new(&at, "two").and_then(|part| part.rename(OsStr::new("a"))).expect("replaced");
        assert_eq!(std::fs::read_to_string(temp.path().join("a")).expect("read"), "two");
        std::fs::create_dir(temp.path().join("directory")).expect("made");
        let part = PartFile::new(&at, "three").expect("written");
        part.rename(OsStr::new("directory")).expect_err("not a file");
        assert_eq!(names(temp.path()), ["a", "directory"]);
    }

    #[test]
    fn only_what_killed_processes_were_writing_is_removed() {
        let temp = tempfile::tempdir().expect("temp");
        let at = |name: &str| temp.path().join(name);
        let killed = ".disklab-123-0123456789abcdef.part";
        let held = ".disklab-124-0123456789abcdef.part";
        let link = ".disklab-125-0123456789abcdef.part";
        let others = [".disklab-1.part", ".disklab-x-0123456789abcdef.part", "mine.part"];
        for name in [killed, held].iter().chain(&others) {
            std::fs::write(at(name), "half").expect("written");
        }
        symlink("mine.part", at(link)).expect("link");
        let writer = File::open(at(held)).expect("open");
        flock(&writer, FlockOperation::LockExclusive).expect("locked");
        sweep(&directory(temp.path()));
        let mut left =
            [held, link].iter().chain(&others).map(|n| (*n).to_owned()).collect::<Vec<_>>();
        left.sort();
        assert_eq!(names(temp.path()), left);
        drop(writer);
        sweep(&directory(temp.path()));
        assert!(!at(held).exists());
    }
}
