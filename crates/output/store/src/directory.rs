//! A run's directory, opened once: what is written into it goes there, whatever has its name by
//! then. Somebody may have moved it, and put a link in its place.

use std::fs::Metadata;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use disklab_exec::{NamedPathError, follow_own_links, open_real_directory};
use rusqlite::ffi;
use rustix::fs::{Mode, OFlags, fstat, open};

use crate::StoreError;

/// An open directory. Clones are the same one.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
    open: Arc<OwnedFd>,
}

impl RunDirectory {
    /// Opens one to write into it. Only links of this user and of root lead there.
    ///
    /// # Errors
    /// [`StoreError::OthersPath`] at another user's link, [`StoreError::Io`] if it cannot be opened.
    pub(crate) fn to_write(path: &Path) -> Result<Self, StoreError> {
        let wrong = |e| StoreError::io("cannot open", path)(e);
        let real = follow_own_links(path).map_err(|error| match error {
            NamedPathError::Io(source) => wrong(source),
            others => StoreError::OthersPath(others),
        })?;
        let open = open_real_directory(&real).map_err(wrong)?;
        Ok(Self { path: path.to_owned(), open: Arc::new(open) })
    }

    /// Opens one to read from it.
    ///
    /// # Errors
    /// [`StoreError::NoRun`] if there is no such directory.
    pub(crate) fn to_read(path: &Path) -> Result<Self, StoreError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = open(path, flags, Mode::empty());
        let open = open.map_err(|_| StoreError::NoRun(path.to_owned()))?;
        Ok(Self { path: path.to_owned(), open: Arc::new(open) })
    }

    /// Its name, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path of what is in it, as long as this is open and this process lives, for programs that
    /// it starts, too.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        let (process, number) = (std::process::id(), self.open.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{number}")).join(name)
    }

    /// Whether its name still leads to it.
    pub fn is_still_there(&self) -> bool {
        let identity = |there: Metadata| (there.dev(), there.ino());
        let held = fstat(&*self.open).map(|held| (held.st_dev, held.st_ino));
        held.is_ok_and(|held| self.path.metadata().is_ok_and(|there| identity(there) == held))
    }

    /// An error about something in it, with the path that the user knows.
    pub(crate) fn named(&self, mut error: StoreError) -> StoreError {
        if let StoreError::Io { path, .. }
        | StoreError::Unexpected { path, .. }
        | StoreError::Sqlite { path, .. }
        | StoreError::NotEmpty { path, .. }
        | StoreError::UnknownJournal { path } = &mut error
            && let Ok(rest) = path.strip_prefix(self.at(""))
        {
            let is_whole = rest.as_os_str().is_empty();
            *path = if is_whole { self.path.clone() } else { self.path.join(rest) };
        }
        error
    }
}

type Stat = unsafe extern "C" fn(*const libc::c_char, *mut libc::stat) -> libc::c_int;

/// Has SQLite use the paths of [`RunDirectory::at`] as they are: by itself it replaces links in a
/// path by what they lead to, and would then open its journal by the directory's name.
pub(crate) fn keep_links_in_paths() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite's own way to replace a system call (sqlite3_vfs in sqlite3.h), by one of the
        // same signature; the default VFS lives as long as the process.
        unsafe {
            let vfs = ffi::sqlite3_vfs_find(std::ptr::null());
            let stat = std::mem::transmute::<Stat, unsafe extern "C" fn()>(libc::stat);
            if let Some(set) = vfs.as_ref().and_then(|vfs| vfs.xSetSystemCall) {
                set(vfs, c"lstat".as_ptr(), Some(stat));
            }
        }
    });
}
