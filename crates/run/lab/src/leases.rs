//! Which processor a lab runs on, where there are several labs at once.
//!
//! A lab and its guest share one processor ([`crate::LabOptions::core`]), and would
//! share it with the labs of every other disklab that began at the same one. Each user's labs are
//! known by files in a directory of the user's own, at which all users may look: what is in
//! another's is counted, and nothing depends on it but which processor is taken.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use disklab_exec::open_regular;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::getuid;

use crate::guest_memory::PARENTS;

/// Held while one looks and chooses. Nobody else may lock it, and so make its owner wait.
const CHOOSING: &str = "choosing";
/// Before the user's number, in the name of each user's directory. Not as the directories of labs
/// are called, which are swept.
const PREFIX: &str = ".disklab-leases-";
/// So many files of another user are looked at.
const MOST_FILES: usize = 10_000;

/// A processor, and memory, that a lab holds for as long as this lives.
#[derive(Debug)]
pub struct CpuLease {
    core: usize,
    held: Option<(PathBuf, File)>,
}

impl CpuLease {
    /// The processor.
    #[must_use]
    pub fn core(&self) -> usize {
        self.core
    }
}

impl Drop for CpuLease {
    fn drop(&mut self) {
        // What is left behind by the killed is held by nobody, and removed by the next.
        if let Some((path, _)) = &self.held {
            let _ = fs::remove_file(path);
        }
    }
}

/// A directory by which the labs of one user know of each other, next to those of other users.
#[derive(Debug, Clone)]
pub struct CpuLeases {
    directory: PathBuf,
}

impl CpuLeases {
    /// Those of the user who runs this. Where none of the directories is there that all find, it
    /// is in the one for temporary files, which may be another for each run.
    #[must_use]
    pub fn of_user() -> Self {
        let there = PARENTS.iter().map(PathBuf::from).find(|parent| parent.is_dir());
        let name = format!("{PREFIX}{}", getuid().as_raw());
        Self::within(there.unwrap_or_else(std::env::temp_dir).join(name))
    }

    /// Those that are known in a directory, which is made at the first.
    #[must_use]
    pub fn within(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Takes the processor among `cores` that the fewest labs run on; of several, the
    /// first. `None` where there are no `cores`.
    ///
    /// If the directory is not available, such as when it belongs to another user, the first is taken,
    /// and others do not know: it costs time only.
    #[must_use]
    pub fn take(&self, cores: &[usize], memory_bytes: u64) -> Option<CpuLease> {
        let first = *cores.first()?;
        Some(
            self.choose(first, cores, memory_bytes).unwrap_or(CpuLease { core: first, held: None }),
        )
    }

    /// Memory of the guests of all labs that run now, of all users, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let taken = || -> io::Result<Vec<Taken>> {
            // Nobody has chosen yet where this is not there; nothing is made or swept to look.
            let choosing = open_regular(&self.directory.join(CHOOSING))?;
            flock(&choosing, FlockOperation::LockExclusive)?;
            Ok(self.held()?.0)
        };
        let own = taken().unwrap_or_default().into_iter();
        let others = self.held_by_others().into_iter();
        own.chain(others).map(|taken| taken.memory_bytes).fold(0, u64::saturating_add)
    }

    fn choose(&self, first: usize, cores: &[usize], memory_bytes: u64) -> io::Result<CpuLease> {
        let _choosing = self.choosing()?;
        let (taken, left) = self.held()?;
        left.iter().for_each(|path| drop(fs::remove_file(path)));
        let others = self.held_by_others();
        let on = |core: usize| taken.iter().filter(move |taken| taken.core == core);
        let others_on = |core: usize| others.iter().filter(|taken| taken.core == core).count();
        let labs_on = |core: usize| on(core).count() + others_on(core);
        // The first of equals, as `min_by_key` has it.
        let core = cores.iter().copied().min_by_key(|core| labs_on(*core)).unwrap_or(first);
        let numbers: Vec<u32> = on(core).map(|taken| taken.number).collect();
        let number = (0..).find(|number| !numbers.contains(number)).unwrap_or_default();
        let path = self.directory.join(format!("{core}.{number}"));
        let mut file = own_file(&path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(memory_bytes.to_string().as_bytes())?;
        // From here on others may look at it: they cannot lock it any more.
        file.set_permissions(Permissions::from_mode(0o644))?;
        Ok(CpuLease { core, held: Some((path, file)) })
    }

    /// Waits until no other looks or chooses, which takes others a moment.
    fn choosing(&self) -> io::Result<File> {
        own_directory(&self.directory)?;
        let file = own_file(&self.directory.join(CHOOSING))?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }

    /// What other users hold, as far as it can be seen.
    fn held_by_others(&self) -> Vec<Taken> {
        let next_to_own = self.directory.parent().and_then(|parent| fs::read_dir(parent).ok());
        let directories = next_to_own.into_iter().flatten().flatten().map(|entry| entry.path());
        directories
            .filter(|directory| *directory != self.directory)
            .flat_map(|directory| of_other(&directory))
            .collect()
    }

    /// What is held now, and what nobody holds any more. Only while one is choosing.
    fn held(&self) -> io::Result<(Vec<Taken>, Vec<PathBuf>)> {
        let (mut all, mut left) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let Some((core, number)) = entry.file_name().to_str().and_then(numbers) else {
                continue;
            };
            let Ok(mut file) = open_regular(&entry.path()) else { continue };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                left.push(entry.path());
                continue;
            }
            all.push(Taken { core, number, memory_bytes: memory_in(&mut file) });
        }
        Ok((all, left))
    }
}

struct Taken {
    core: usize,
    number: u32,
    memory_bytes: u64,
}

fn memory_in(file: &mut File) -> u64 {
    let mut text = String::new();
    let read = Read::by_ref(file).take(32).read_to_string(&mut text);
    read.ok().and_then(|_| text.parse().ok()).unwrap_or_default()
}

/// What is held by the files in the directory of another user. No link is followed, nothing is
/// waited for, and no lock that another could miss is taken.
fn of_other(directory: &Path) -> Vec<Taken> {
    let name = directory.file_name().and_then(|name| name.to_str());
    let uid: Option<u32> =
        name.and_then(|name| name.strip_prefix(PREFIX)).and_then(|uid| uid.parse().ok());
    let is_theirs = |meta: &fs::Metadata| Some(meta.uid()) == uid;
    if !fs::symlink_metadata(directory).is_ok_and(|meta| meta.is_dir() && is_theirs(&meta)) {
        return Vec::new();
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(MOST_FILES);
    let held = |entry: fs::DirEntry| {
        let (core, number) = entry.file_name().to_str().and_then(numbers)?;
        let there = |meta: io::Result<fs::Metadata>| {
            meta.is_ok_and(|meta| meta.is_file() && is_theirs(&meta))
        };
        if !there(entry.metadata()) {
            return None;
        }
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut options = File::options();
        let mut file =
            options.read(true).custom_flags(flags.bits() as i32).open(entry.path()).ok()?;
        let is_held =
            there(file.metadata()) && flock(&file, FlockOperation::NonBlockingLockShared).is_err();
        is_held.then(|| Taken { core, number, memory_bytes: memory_in(&mut file) })
    };
    entries.filter_map(held).collect()
}

/// Makes, or empties, a file that nobody else may open.
fn own_file(path: &Path) -> io::Result<File> {
    let file = File::options().create(true).write(true).truncate(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

fn numbers(name: &str) -> Option<(usize, u32)> {
    let (core, number) = name.split_once('.')?;
    Some((core.parse().ok()?, number.parse().ok()?))
}

/// Makes sure that the directory is there, that others may look at it, and that nobody else can have
/// put anything into it: all may write next to it.
fn own_directory(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(directory) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    let meta = fs::symlink_metadata(directory)?;
    let closed = meta.permissions().mode() & 0o022 == 0;
    if !(meta.is_dir() && meta.uid() == getuid().as_raw() && closed) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // A umask, or an earlier version, may have closed it.
    fs::set_permissions(directory, Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leases() -> (tempfile::TempDir, CpuLeases) {
        let directory = tempfile::tempdir().unwrap();
        let leases = CpuLeases::within(directory.path().join("seats"));
        (directory, leases)
    }

    fn take(leases: &CpuLeases) -> CpuLease {
        leases.take(&[2, 5], 100).unwrap()
    }

    #[test]
    fn labs_spread_over_the_processors() {
        let (_directory, leases) = leases();
        let all: Vec<_> = (0..4).map(|_| take(&leases)).collect();
        assert_eq!(all.iter().map(CpuLease::core).collect::<Vec<_>>(), [2, 5, 2, 5]);
        assert_eq!(leases.memory_bytes(), 400);
        assert!(leases.take(&[], 1).is_none());
    }

    #[test]
    fn released_leases_are_reused() {
        let (_directory, leases) = leases();
        let mut all: Vec<_> = (0..4).map(|_| take(&leases)).collect();
        drop(all.remove(1));
        assert_eq!(take(&leases).core(), 5);
        drop(all);
        assert_eq!(leases.memory_bytes(), 0);
    }

    #[test]
    fn stale_leases_are_ignored() {
        let (_directory, leases) = leases();
        drop(take(&leases));
        fs::write(leases.directory.join("2.7"), "1000").unwrap();
        fs::write(leases.directory.join("no seat"), "1000").unwrap();
        assert_eq!(leases.memory_bytes(), 0);
        assert_eq!(take(&leases).core(), 2);
        assert!(!leases.directory.join("2.7").exists());
    }

    #[test]
    fn threads_that_begin_at_once_spread_too() {
        let (_directory, leases) = leases();
        let all: Vec<CpuLease> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| take(&leases))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all.iter().filter(|lease| lease.core() == 2).count(), 4);
    }

    /// A directory next to the user's own, as another user's labs would have it.
    fn others(leases: &CpuLeases, uid: u32) -> Option<CpuLeases> {
        let directory = leases.directory.with_file_name(format!("{PREFIX}{uid}"));
        let others = CpuLeases::within(directory);
        let lease = others.take(&[2], 1000)?;
        let (path, _) = lease.held.as_ref()?;
        for path in [&others.directory, path] {
            std::os::unix::fs::chown(path, Some(uid), None).ok()?;
        }
        // It stays held as long as this process lives.
        std::mem::forget(lease);
        Some(others)
    }

    #[test]
    fn labs_of_other_users_are_counted() {
        let (_directory, leases) = leases();
        let Some(others) = others(&leases, 65_533) else {
            eprintln!("skipped: needs root");
            return;
        };
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&others.directory), 0o755);
        assert_eq!(mode(&others.directory.join("2.0")), 0o644);
        assert_eq!(mode(&others.directory.join(CHOOSING)), 0o600, "nobody makes its owner wait");
        let all: Vec<_> = (0..3).map(|_| take(&leases)).collect();
        assert_eq!(all.iter().map(CpuLease::core).collect::<Vec<_>>(), [5, 2, 5]);
        assert_eq!(leases.memory_bytes(), 1300);
    }

    #[test]
    fn nothing_of_another_user_is_followed_or_waited_for() {
        let (directory, leases) = leases();
        let Some(others) = others(&leases, 65_532) else {
            eprintln!("skipped: needs root");
            return;
        };
        let held = directory.path().join("mine");
        let mine = File::create(&held).unwrap();
        flock(&mine, FlockOperation::LockExclusive).unwrap();
        std::os::unix::fs::symlink(&held, others.directory.join("5.1")).unwrap();
        let fifo = others.directory.join("5.2");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        // Of another than the directory's owner.
        File::create(others.directory.join("5.3")).unwrap();
        assert_eq!(take(&leases).core(), 5);
        // Another user's directory under the name of a third.
        fs::rename(&others.directory, leases.directory.with_file_name(format!("{PREFIX}1")))
            .unwrap();
        assert_eq!(take(&leases).core(), 2);
    }

    #[test]
    fn another_users_directory_is_not_used() {
        let (_directory, leases) = leases();
        fs::create_dir(&leases.directory).unwrap();
        fs::set_permissions(&leases.directory, fs::Permissions::from_mode(0o777)).unwrap();
        let all = [take(&leases), take(&leases)];
        assert_eq!(all.iter().map(CpuLease::core).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(fs::read_dir(&leases.directory).unwrap().count(), 0);
    }
}
