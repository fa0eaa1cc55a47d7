//! Building the lab's kernel, and keeping it.
//!
//! The kernel is Linux for User-Mode Linux, with the options of
//! `kernel/lab.config` and no others. [`ensure`] builds it from Debian's source
//! package or from a folder, once for each source, compiler and configuration.
//! [`ensure_zfs`] builds a second one, with OpenZFS in it and `kernel/zfs.config`
//! besides. They need no root, and change nothing outside their cache folder.

mod build;
mod cache;
mod error;
pub mod fingerprint;
mod named;
mod options;
mod progress;
mod recipe;
mod source;
mod tools;
mod variant;
mod zfs;

use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::Executor;

use build::Build;
use cache::Cache;
pub use cache::{KERNEL_VARIABLE, ZfsKernel, cache_folder, find, find_zfs};
pub use error::KernelError;
pub use named::NamedKernel;
pub use options::FRAGMENT as CONFIGURATION;
pub use progress::{Progress, Step};
use recipe::{PATCHES, Recipe};
pub use source::Source;
use source::{Found, Origin};
pub use variant::ZFS_FRAGMENT as ZFS_CONFIGURATION;
use variant::{PLAIN, Variant, ZFS};
pub use zfs::{ZFS_HOST, ZfsSource};

/// Has the kernel for `source` in `cache`, building it where it is not there yet,
/// and returns its path. The first build takes some minutes; `progress` is told
/// how far it is. It stops within a second when the executor's interrupt is
/// raised, and then nothing half is left.
///
/// # Errors
/// Where something is missing, the source is not fit, the build fails, or the
/// user asked to stop.
pub fn ensure(
    source: &Source,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, KernelError> {
    let folder = ensure_variant(PLAIN, source, None, cache, executor, progress)?;
    Ok(folder.join(cache::KERNEL))
}

/// Has the kernel with OpenZFS built in, and OpenZFS's programs, as [`ensure`] has
/// the plain one. Where a kernel for this `source` is there with any OpenZFS that
/// came from Debian, that is the one: nothing is fetched to see whether there is a
/// newer one.
///
/// # Errors
/// As for [`ensure`], and where OpenZFS cannot be had.
pub fn ensure_zfs(
    source: &Source,
    zfs: &ZfsSource,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(Progress),
) -> Result<ZfsKernel, KernelError> {
    let folder = ensure_variant(ZFS, source, Some(zfs), cache, executor, progress)?;
    Ok(ZfsKernel::in_folder(&folder))
}

/// Whether [`ensure`] could build a kernel here, as far as that can be told without
/// beginning.
///
/// # Errors
/// What is missing: programs, headers, the source.
pub fn check(source: &Source, executor: &Executor) -> Result<(), KernelError> {
    let found = source.find(Path::new("/"), executor);
    tools::check(executor, found.as_ref().is_ok_and(|f| matches!(f.origin, Origin::Tree(_))))?;
    found.map(drop)
}

fn ensure_variant(
    variant: Variant,
    source: &Source,
    zfs: Option<&ZfsSource>,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, KernelError> {
    if std::env::consts::ARCH != "x86_64" {
        return Err(KernelError::Machine(std::env::consts::ARCH.to_owned()));
    }
    let cache = &std::path::absolute(cache).map_err(KernelError::io("cannot find", cache))?;
    let found = source.find(Path::new("/"), executor)?;
    let recipe = Recipe {
        variant,
        patches: if matches!(found.origin, Origin::Tree(_)) { &[] } else { PATCHES },
        source: found.identity.clone(),
        compiler: tools::compiler(executor)?,
        openzfs: zfs.map(ZfsSource::identity).transpose()?.flatten(),
    };
    match cache::kept(cache, &recipe) {
        Some(folder) => Ok(folder),
        None => make(&found, zfs, recipe, cache, executor, progress),
    }
}

/// Builds what the recipe says, and returns its folder.
fn make(
    found: &Found,
    zfs: Option<&ZfsSource>,
    recipe: Recipe,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, KernelError> {
    tools::check(executor, matches!(found.origin, Origin::Tree(_)))?;
    check_path(cache)?;
    if let Origin::Tree(folder) = &found.origin {
        check_path(folder)?;
    }
    let locked = Cache::lock(cache, &executor.interrupt, progress)?;
    // Somebody may have built it while we waited.
    if let Some(folder) = cache::kept(cache, &recipe) {
        return Ok(folder);
    }
    check_space(cache, recipe.variant.needed_mib)?;
    // Of OpenZFS the key does not know yet which it will be.
    let key = recipe.key();
    let log = cache.join(format!("{key}.log"));
    fs::write(&log, "").map_err(KernelError::io("cannot write", &log))?;
    let workshop = locked.workshop(&key)?;
    let mut build = Build {
        workshop: &workshop.folder,
        log: &log,
        expected_objects: cache::expected_objects(cache, &recipe.variant),
        recipe,
        zfs,
        executor,
        progress,
    };
    let made = build.run(&found.origin);
    // Only the log of a failure is worth keeping here. One that stays does no harm.
    if !matches!(made, Err(KernelError::Failed { .. })) {
        let _ = fs::remove_file(&log);
    }
    locked.publish(&made?, &build.recipe.key())
}

/// The makefiles split their words at spaces and colons.
fn check_path(path: &Path) -> Result<(), KernelError> {
    let text = path.to_string_lossy();
    let bad = |c: char| c.is_whitespace() || ":\"'$#%;&\\".contains(c) || c == '\u{fffd}';
    if path.is_absolute() && !text.contains(bad) {
        return Ok(());
    }
    Err(KernelError::Path(path.to_owned()))
}

fn check_space(cache: &Path, needed_mib: u64) -> Result<(), KernelError> {
    let stat = rustix::fs::statvfs(cache).map_err(KernelError::io("cannot look at", cache))?;
    let free_mib = stat.f_bavail.saturating_mul(stat.f_frsize) >> 20;
    if free_mib >= needed_mib {
        return Ok(());
    }
    Err(KernelError::Space { path: cache.to_owned(), needed_mib, free_mib })
}
