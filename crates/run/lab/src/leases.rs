//! Which processor a lab runs on, where one user has several labs at once.
//!
//! A lab and its guest share one processor ([`crate::LabOptions::core`]), and would
//! share it with the labs of every other disklab that began at the same one.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use disklab_exec::open_regular;
use rustix::fs::{FlockOperation, flock};
use rustix::process::getuid;

use crate::guest_memory::PARENTS;

/// Held while one looks and chooses.
const CHOOSING: &str = "choosing";

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

/// A folder by which the labs of one user know of each other.
#[derive(Debug, Clone)]
pub struct CpuLeases {
    folder: PathBuf,
}

impl CpuLeases {
    /// Those of the user who runs this. Where none of the folders is there that all find, it
    /// is in the one for temporary files, which may be another for each run.
    #[must_use]
    pub fn of_user() -> Self {
        let there = PARENTS.iter().map(PathBuf::from).find(|parent| parent.is_dir());
        // Not as the folders of labs are called, which are swept.
        let name = format!(".disklab-leases-{}", getuid().as_raw());
        Self::within(there.unwrap_or_else(std::env::temp_dir).join(name))
    }

    /// Those that are known in a folder, which is made at the first.
    #[must_use]
    pub fn within(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Takes the processor among `cores` that the fewest labs run on; of several, the
    /// first. `None` where there are no `cores`.
    ///
    /// If the folder is not available, such as when it belongs to another user, the first is taken,
    /// and others do not know: it costs time only.
    #[must_use]
    pub fn take(&self, cores: &[usize], memory_bytes: u64) -> Option<CpuLease> {
        let first = *cores.first()?;
        Some(
            self.choose(first, cores, memory_bytes).unwrap_or(CpuLease { core: first, held: None }),
        )
    }

    /// Memory of the guests of all labs that run now, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let taken = || -> io::Result<Vec<Taken>> {
            // Nobody has chosen yet where this is not there; nothing is made or swept to look.
            let choosing = open_regular(&self.folder.join(CHOOSING))?;
            flock(&choosing, FlockOperation::LockExclusive)?;
            Ok(self.held()?.0)
        };
        taken().unwrap_or_default().iter().map(|taken| taken.memory_bytes).sum()
    }

    fn choose(&self, first: usize, cores: &[usize], memory_bytes: u64) -> io::Result<CpuLease> {
        let _choosing = self.choosing()?;
        let (taken, left) = self.held()?;
        left.iter().for_each(|path| drop(fs::remove_file(path)));
        let on = |core: usize| taken.iter().filter(move |taken| taken.core == core);
        // The first of equals, as `min_by_key` has it.
        let core = cores.iter().copied().min_by_key(|core| on(*core).count()).unwrap_or(first);
        let numbers: Vec<u32> = on(core).map(|taken| taken.number).collect();
        let number = (0..).find(|number| !numbers.contains(number)).unwrap_or_default();
        let path = self.folder.join(format!("{core}.{number}"));
        let mut file = File::create(&path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(memory_bytes.to_string().as_bytes())?;
        Ok(CpuLease { core, held: Some((path, file)) })
    }

    /// Waits until no other looks or chooses, which takes others a moment.
    fn choosing(&self) -> io::Result<File> {
        own_folder(&self.folder)?;
        let file = File::create(self.folder.join(CHOOSING))?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }

    /// What is held now, and what nobody holds any more. Only while one is choosing.
    fn held(&self) -> io::Result<(Vec<Taken>, Vec<PathBuf>)> {
        let (mut all, mut left) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Some((core, number)) = entry.file_name().to_str().and_then(numbers) else {
                continue;
            };
            let Ok(mut file) = open_regular(&entry.path()) else { continue };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                left.push(entry.path());
                continue;
            }
            let mut text = String::new();
            let read = Read::by_ref(&mut file).take(32).read_to_string(&mut text);
            let memory_bytes = read.ok().and_then(|_| text.parse().ok()).unwrap_or_default();
            all.push(Taken { core, number, memory_bytes });
        }
        Ok((all, left))
    }
}

struct Taken {
    core: usize,
    number: u32,
    memory_bytes: u64,
}

fn numbers(name: &str) -> Option<(usize, u32)> {
    let (core, number) = name.split_once('.')?;
    Some((core.parse().ok()?, number.parse().ok()?))
}

/// Makes sure that the folder is there, and that nobody else can have put anything into
/// it: all may write next to it.
fn own_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    let meta = fs::symlink_metadata(folder)?;
    let closed = meta.permissions().mode() & 0o022 == 0;
    if meta.is_dir() && meta.uid() == getuid().as_raw() && closed {
        return Ok(());
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leases() -> (tempfile::TempDir, CpuLeases) {
        let folder = tempfile::tempdir().unwrap();
        let leases = CpuLeases::within(folder.path().join("seats"));
        (folder, leases)
    }

    fn take(leases: &CpuLeases) -> CpuLease {
        leases.take(&[2, 5], 100).unwrap()
    }

    #[test]
    fn labs_spread_over_the_processors() {
        let (_folder, leases) = leases();
        let all: Vec<_> = (0..4).map(|_| take(&leases)).collect();
        assert_eq!(all.iter().map(CpuLease::core).collect::<Vec<_>>(), [2, 5, 2, 5]);
        assert_eq!(leases.memory_bytes(), 400);
        assert!(leases.take(&[], 1).is_none());
    }

    #[test]
    fn released_leases_are_reused() {
        let (_folder, leases) = leases();
        let mut all: Vec<_> = (0..4).map(|_| take(&leases)).collect();
        drop(all.remove(1));
        assert_eq!(take(&leases).core(), 5);
        drop(all);
        assert_eq!(leases.memory_bytes(), 0);
    }

    #[test]
    fn stale_leases_are_ignored() {
        let (_folder, leases) = leases();
        drop(take(&leases));
        fs::write(leases.folder.join("2.7"), "1000").unwrap();
        fs::write(leases.folder.join("no seat"), "1000").unwrap();
        assert_eq!(leases.memory_bytes(), 0);
        assert_eq!(take(&leases).core(), 2);
        assert!(!leases.folder.join("2.7").exists());
    }

    #[test]
    fn threads_that_begin_at_once_spread_too() {
        let (_folder, leases) = leases();
        let all: Vec<CpuLease> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| take(&leases))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all.iter().filter(|lease| lease.core() == 2).count(), 4);
    }

    #[test]
    fn another_users_directory_is_not_used() {
        let (_folder, leases) = leases();
        fs::create_dir(&leases.folder).unwrap();
        fs::set_permissions(&leases.folder, fs::Permissions::from_mode(0o777)).unwrap();
        let all = [take(&leases), take(&leases)];
        assert_eq!(all.iter().map(CpuLease::core).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(fs::read_dir(&leases.folder).unwrap().count(), 0);
    }
}
