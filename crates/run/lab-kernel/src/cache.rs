//! Where kernels are kept.
//!
//! One directory per [key](super::recipe::Recipe::key), with the files below. It
//! appears under its name only when it is complete.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use disklab_exec::{Interrupt, refuse_others_content};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::KernelError;
use super::cache_files::{KERNEL, PROGRAMS, RECIPE, is_own, remove};
use super::linux::LinuxVersion;
use super::parts::Parts;
use super::progress::{BuildProgress, BuildStep};
use super::recipe::{self, Recipe};
use super::tree;
use super::variant::{PLAIN, Variant, ZFS};
use super::zfs;

/// The variable that names a kernel to be used instead of one of the cache.
pub const KERNEL_VARIABLE: &str = "DISKLAB_LAB_KERNEL";
/// What the names of unfinished builds begin with.
const UNFINISHED: &str = ".building-";

/// Where kernels are kept: `disklab/kernel` in the user's cache directory (XDG Base
/// Directory Specification).
pub fn cache_directory() -> PathBuf {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(|| PathBuf::from("/var/cache"))
        .join("disklab/kernel")
}

/// Refuses a directory of kernels that another user may change, or that is on a way which one may:
/// what is executed from there has this user's rights. It need not exist yet.
///
/// # Errors
/// [`KernelError::Untrusted`], with who may change what.
pub fn check_cache(directory: &Path) -> Result<(), KernelError> {
    refuse_others_content(directory).map_err(KernelError::Untrusted)
}

/// A kernel with OpenZFS built in, and the programs of the same version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZfsKernel {
    /// The kernel's program.
    pub kernel: PathBuf,
    /// A directory with `zpool`, `zfs` and `zdb`. They find their libraries wherever
    /// the directory is seen, and need not be installed.
    pub programs: PathBuf,
}

impl ZfsKernel {
    /// What is in the directory of a key.
    pub(super) fn in_directory(directory: &Path) -> Self {
        Self { kernel: directory.join(KERNEL), programs: directory.join(PROGRAMS) }
    }
}

/// A kernel with these parts that can be used at once: the one that [`KERNEL_VARIABLE`]
/// names, or else that of `cache` with all that this version of disklab needs and the
/// fewest other parts; the newest of several.
///
/// The one with the fewest other parts is the one that the study builds, if that is there: so
/// a study's next run gets the same kernel as its last. What other parts do to the samples:
/// docs/internals/same-figures.md.
pub fn find(cache: &Path, parts: Parts) -> Option<PathBuf> {
    match std::env::var_os(KERNEL_VARIABLE) {
        // A wrong name is better found out than silently replaced.
        Some(path) if !path.is_empty() => Some(PathBuf::from(path)),
        _ => find_version(cache, LinuxVersion::default(), parts),
    }
}

/// A kernel of a version with these parts that can be used at once, whatever
/// [`KERNEL_VARIABLE`] names.
pub fn find_version(cache: &Path, version: LinuxVersion, parts: Parts) -> Option<PathBuf> {
    found(cache, &PLAIN.of(version).with(parts)).map(|directory| directory.join(KERNEL))
}

/// A kernel with OpenZFS that can be used at once: the newest in `cache` that has
/// all that this version of disklab needs.
pub fn find_zfs(cache: &Path) -> Option<ZfsKernel> {
    found(cache, &ZFS).map(|directory| ZfsKernel::in_directory(&directory))
}

/// The directory of the best kernel of a kind, but for those of sources that the user named.
fn found(cache: &Path, variant: &Variant) -> Option<PathBuf> {
    best_that(cache, variant, |text| recipe::parts_of(text, variant, variant.version.patches()))
}

/// The directory of the best kernel that was made by this recipe, or by the same with more
/// parts.
pub(super) fn kept(cache: &Path, recipe: &Recipe) -> Option<PathBuf> {
    best_that(cache, &recipe.variant, |text| recipe.parts_covered_by(text))
}

/// The directory of the kernel that has the fewest parts, the newest of several.
fn best_that(
    cache: &Path,
    variant: &Variant,
    parts: impl Fn(&str) -> Option<Parts>,
) -> Option<PathBuf> {
    if let Err(e) = check_cache(cache) {
        tracing::debug!("{e}");
        return None;
    }
    let kernels = entries(cache).filter_map(|directory| {
        let made = usable(&directory, variant)?;
        let recipe = fs::read_to_string(directory.join(RECIPE)).ok()?;
        Some((Reverse(parts(&recipe)?.count()), made, directory))
    });
    kernels.max().map(|(_, _, directory)| directory)
}

/// When the kernel in a directory was made, where all that belongs to it is there.
fn usable(directory: &Path, variant: &Variant) -> Option<SystemTime> {
    let own = |path: &Path| path.symlink_metadata().ok().filter(is_own);
    own(directory).filter(fs::Metadata::is_dir)?;
    let metadata = own(&directory.join(KERNEL))?;
    let complete = metadata.is_file()
        && metadata.permissions().mode() & 0o111 != 0
        && (!variant.programs
            || own(&directory.join(PROGRAMS)).is_some()
                && zfs::complete(&directory.join(PROGRAMS)));
    complete.then(|| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH))
}

fn entries(cache: &Path) -> impl Iterator<Item = PathBuf> {
    let unfinished =
        |path: &Path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(UNFINISHED));
    fs::read_dir(cache)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(move |path| !unfinished(path))
}

/// The right to build in a cache directory. Only one process has it at a time.
#[derive(Debug)]
pub(super) struct Cache {
    directory: PathBuf,
    _lock: File,
}

impl Cache {
    /// Waits for that right, and removes what killed builds have left.
    pub fn lock(
        directory: &Path,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(BuildProgress),
    ) -> Result<Self, KernelError> {
        let mut builder = fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(KernelError::io("cannot make", directory))?;
        check_cache(directory)?;
        let path = directory.join("lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(KernelError::io("cannot make", &path))?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK) => {
                    progress(BuildProgress::of(BuildStep::Wait));
                    interrupt.sleep(Duration::from_millis(200))?;
                }
                Err(Errno::INTR) => {}
                Err(e) => return Err(KernelError::io("cannot lock", &path)(e)),
            }
        }
        for entry in fs::read_dir(directory).map_err(KernelError::io("cannot read", directory))? {
            let entry = entry.map_err(KernelError::io("cannot read", directory))?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                remove(&entry.path()).map_err(KernelError::io("cannot remove", &entry.path()))?;
            }
        }
        Ok(Self { directory: directory.to_owned(), _lock: file })
    }

    /// A new directory to build in. It vanishes with the value.
    pub fn workshop(&self, key: &str) -> Result<Workshop, KernelError> {
        let directory = self.directory.join(format!("{UNFINISHED}{key}"));
        fs::create_dir(&directory).map_err(KernelError::io("cannot make", &directory))?;
        Ok(Workshop { directory, is_kept: false })
    }

    /// The directory of a version's objects that is kept, for recipes that have `text` in common:
    /// what earlier builds made of them is in it, even what they did not finish. Objects of
    /// others are removed.
    pub fn tree(&self, version: LinuxVersion, text: &str) -> Result<Workshop, KernelError> {
        let directory = tree::prepare(&self.directory, version.tree(), text)?;
        Ok(Workshop { directory, is_kept: true })
    }

    /// Puts a complete directory in its place, and says where that is.
    pub fn publish(&self, made: &Path, key: &str) -> Result<PathBuf, KernelError> {
        let place = self.directory.join(key);
        // Somebody may have taken a part of it away.
        remove(&place).map_err(KernelError::io("cannot remove", &place))?;
        // After a power failure, a kernel under its name must be whole.
        sync(made)?;
        fs::rename(made, &place).map_err(KernelError::io("cannot make", &place))?;
        Ok(place)
    }
}

/// Writes all files below a directory to its disk.
fn sync(directory: &Path) -> Result<(), KernelError> {
    for entry in fs::read_dir(directory).map_err(KernelError::io("cannot read", directory))? {
        let path = entry.map_err(KernelError::io("cannot read", directory))?.path();
        if path.is_dir() {
            sync(&path)?;
            continue;
        }
        File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(KernelError::io("cannot write", &path))?;
    }
    Ok(())
}

/// A directory to build in.
#[derive(Debug)]
pub(super) struct Workshop {
    pub directory: PathBuf,
    /// Whether it stays for the next build.
    pub is_kept: bool,
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        if let Err(e) = remove(&self.directory) {
            tracing::warn!("cannot remove '{}': {e}", self.directory.display());
        }
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
