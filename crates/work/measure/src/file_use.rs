//! Files that the kernel itself uses: to write to one, or to remove it, destroys what is
//! in it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::mounts::unescape;
use crate::openers::has_opener;
use crate::{BlockDevice, LoopBacking, SystemRoot};

/// What the kernel uses a file for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileUse {
    /// Active swap space.
    Swap,
    /// It is what this loop device stores its data in.
    Loop(String),
    /// Something writes to it that `/proc` does not show.
    Unseen,
}

impl fmt::Display for FileUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Swap => f.write_str("it is swap space in use; `swapoff` it first"),
            Self::Loop(name) => write!(
                f,
                "the loop device {name} keeps its data in it; `losetup --detach /dev/{name}` first"
            ),
            Self::Unseen => f.write_str(
                "something has it open for writing that is not a process here: a target (LIO, \
                 NVMe, USB) that keeps its data in it, swap of another mount namespace, or a \
                 program in another container; stop that first",
            ),
        }
    }
}

/// The files that the kernel uses now, whatever they are called (device and inode).
#[derive(Debug, Clone, Default)]
pub struct FileUses(HashMap<(u64, u64), FileUse>);

impl FileUses {
    /// Asks the kernel.
    pub fn now(root: &SystemRoot) -> Self {
        let mut uses = Self::default();
        let swaps = root.bytes("/proc/swaps").unwrap_or_default();
        for line in swaps.split(|byte| *byte == b'\n').skip(1) {
            let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            uses.add(&root.path(path(unescape(word))), FileUse::Swap);
        }
        for device in BlockDevice::all(root) {
            let Some(file) = device.attached_path() else { continue };
            let user = FileUse::Loop(device.name().to_owned());
            let backing = if root.is_here() { LoopBacking::of(&device) } else { None };
            match backing {
                Some(backing) => {
                    uses.0.insert(backing.identity(), user);
                }
                // Only root may ask. A name with '(deleted)' at its end leads to another file by
                // now, or to one that is really called so.
                None => uses.add(&root.path(file), user),
            }
        }
        uses
    }

    fn add(&mut self, path: &Path, used: FileUse) {
        if let Ok(there) = path.metadata()
            && there.is_file()
        {
            self.0.insert((there.dev(), there.ino()), used);
        }
    }

    /// What a file is used for; `None` if for nothing known.
    pub fn of(&self, file: &Metadata) -> Option<&FileUse> {
        self.0.get(&(file.dev(), file.ino()))
    }

    /// The same for the file at `path`, and whether something unknown writes to it. Only root can
    /// tell that from a process of another user's.
    pub fn at(&self, path: &Path) -> Option<FileUse> {
        let known = self.of(&path.metadata().ok()?).cloned();
        known.or_else(|| is_written_unseen(path).then_some(FileUse::Unseen))
    }
}

/// Whether something that is not a process here writes to a regular file.
fn is_written_unseen(path: &Path) -> bool {
    if !rustix::process::geteuid().is_root() || !path.is_file() {
        return false;
    }
    let flags = OFlags::NONBLOCK.bits() as i32;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else {
        return false;
    };
    has_writer(&file) && {
        let found = file.metadata();
        drop(file);
        found.is_ok_and(|found| !has_opener(&SystemRoot::here(), &found))
    }
}

/// Whether a file has a writer: then nobody gets a lease to read it (fcntl(2), `F_SETLEASE`), which
/// is given back at once.
///
/// It must last: a ring of io_uring that was closed, or a process that ended, gives its files back
/// a moment later.
fn has_writer(file: &File) -> bool {
    let began = Instant::now();
    while is_refused_a_lease(file) {
        if began.elapsed() > LASTS {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// So long a writer must stay to count.
const LASTS: Duration = Duration::from_secs(1);

fn is_refused_a_lease(file: &File) -> bool {
    // The signal of a writer that comes meanwhile: one that is ignored (signal(7)). The usual one would
    // end this process.
    const F_SETSIG: libc::c_int = 10;
    let fd = file.as_raw_fd();
    // SAFETY: it only sets and asks something of a descriptor that is open.
    unsafe {
        if libc::fcntl(fd, F_SETSIG, libc::SIGURG) != 0 {
            return false;
        }
        if libc::fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK) == 0 {
            libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK);
            return false;
        }
    }
    io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn files_are_known_by_what_they_are_and_not_by_their_names() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        for name in ["swap file", "image", "free", "new"] {
            tree.file(&format!("/data/{name}"), "x");
        }
        tree.swap("/data/swap\\040file", "file").swap("/dev/sda1", "partition");
        tree.looped("loop0", (7, 0), "/data/image").looped("loop1", (7, 1), "/data/new (deleted)");
        std::fs::hard_link(tree.path("/data/image"), tree.path("/data/alias")).expect("linked");
        let uses = FileUses::now(&tree.root());
        let of = |name: &str| uses.of(&tree.path(name).metadata().expect("there")).cloned();
        assert_eq!(of("/data/swap file"), Some(FileUse::Swap));
        assert_eq!(of("/data/image"), Some(FileUse::Loop("loop0".to_owned())));
        assert_eq!(of("/data/alias"), of("/data/image"));
        assert_eq!((of("/data/free"), of("/data/new")), (None, None));
    }

    /// The kernel shows the path by which a file was attached, and not what is there by now.
    #[test]
    fn the_file_behind_a_loop_device_is_known_under_each_name() {
        let directory = tempfile::tempdir().expect("temp");
        let at = |name: &str| directory.path().join(name);
        let losetup = |args: &[&std::ffi::OsStr]| {
            let done = std::process::Command::new("losetup").args(args).output().ok()?;
            let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
            done.status.success().then_some(text)
        };
        for name in ["image", "image (deleted)", "image\n", "image\n (deleted)\n"] {
            for path in [name, "other", "free"] {
                std::fs::write(at(path), vec![0; 1 << 16]).expect("written");
            }
            let file = at(name);
            let Some(device) = losetup(&["--find".as_ref(), "--show".as_ref(), file.as_ref()])
            else {
                eprintln!("skipped: needs root and loop devices");
                return;
            };
            let used = |path: &str| {
                let file = at(path).metadata().expect("there");
                FileUses::now(&SystemRoot::here()).of(&file).cloned()
            };
            let expected = Some(FileUse::Loop(device.trim_start_matches("/dev/").to_owned()));
            let mut found = vec![used(name)];
            std::fs::hard_link(&file, at("link")).expect("linked");
            std::fs::rename(at("other"), &file).expect("another file under its name");
            found.push(used("link"));
            let innocent = [used(name), used("free")];
            losetup(&["--detach".as_ref(), device.as_ref()]);
            std::fs::remove_file(at("link")).expect("removed");
            assert_eq!(found, [expected.clone(), expected], "{name:?}");
            assert_eq!(innocent, [None, None], "{name:?}");
        }
    }

    /// As a target of the kernel's does: a loop device, of which [`FileUses`] has not asked.
    #[test]
    fn a_writer_that_is_not_a_process_is_noticed() {
        let directory = tempfile::tempdir().expect("temp");
        let path = directory.path().join("file");
        std::fs::write(&path, vec![0; 1 << 16]).expect("written");
        let none = FileUses::default();
        assert_eq!(none.at(&path), None);
        let open = OpenOptions::new().write(true).open(&path).expect("opened");
        assert!(has_writer(&File::open(&path).expect("opened")));
        assert_eq!(none.at(&path), None, "a process, which may share it");
        drop(open);
        let losetup = |args: &[&str]| {
            let done = std::process::Command::new("losetup").args(args).arg(&path).output().ok()?;
            done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
        };
        let Some(device) = losetup(&["--find", "--show"]) else {
            eprintln!("skipped: needs root and loop devices");
            return;
        };
        let found = none.at(&path);
        let detach = std::process::Command::new("losetup").args(["--detach", &device]).status();
        assert!(detach.is_ok_and(|status| status.success()));
        assert_eq!(found, Some(FileUse::Unseen));
    }
}
