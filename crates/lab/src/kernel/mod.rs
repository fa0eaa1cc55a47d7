//! Building the lab's kernel, and keeping it.
//!
//! The kernel is Linux for User-Mode Linux, with the options of
//! `kernel/lab.config` and no others. [`ensure`] builds it from Debian's source
//! package or from a folder, once for each source, compiler and configuration.
//! It needs no root, and changes nothing outside its cache folder.

mod build;
mod cache;
mod error;
mod options;
mod progress;
mod recipe;
mod source;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::Executor;

use build::Build;
use cache::Cache;
pub use cache::{KERNEL_VARIABLE, cache_folder, find};
pub use error::KernelError;
pub use options::FRAGMENT as CONFIGURATION;
use options::FRAGMENT;
pub use progress::{Progress, Step};
use recipe::{PATCHES, Recipe};
pub use source::Source;
use source::{Found, Origin};

/// What a build takes in the cache folder while it lasts: 740 MiB of source, 150
/// of objects and, where it is fetched, 290 of packages; with some to spare.
const NEEDED_MIB: u64 = 1500;

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
    if std::env::consts::ARCH != "x86_64" {
        return Err(KernelError::Machine(std::env::consts::ARCH.to_owned()));
    }
    let cache = &std::path::absolute(cache).map_err(KernelError::io("cannot find", cache))?;
    let found = source.find(Path::new("/"), executor)?;
    let recipe = Recipe {
        fragment: FRAGMENT,
        patches: if matches!(found.origin, Origin::Tree(_)) { &[] } else { PATCHES },
        source: found.identity.clone(),
        compiler: tools::compiler(executor)?,
    };
    match cache::usable(&cache.join(recipe.key())) {
        Some(kernel) => Ok(kernel),
        None => make(&found, &recipe, cache, executor, progress),
    }
}

fn make(
    found: &Found,
    recipe: &Recipe,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, KernelError> {
    tools::check(executor, matches!(found.origin, Origin::Tree(_)))?;
    check_path(cache)?;
    if let Origin::Tree(folder) = &found.origin {
        check_path(folder)?;
    }
    let key = recipe.key();
    let locked = Cache::lock(cache, &executor.interrupt, progress)?;
    // Somebody may have built it while we waited.
    if let Some(kernel) = cache::usable(&cache.join(&key)) {
        return Ok(kernel);
    }
    check_space(cache)?;
    let log = cache.join(format!("{key}.log"));
    fs::write(&log, "").map_err(KernelError::io("cannot write", &log))?;
    let workshop = locked.workshop(&key)?;
    let made = Build {
        workshop: &workshop.folder,
        log: &log,
        recipe,
        executor,
        progress,
        expected_objects: cache::expected_objects(cache),
    }
    .run(&found.origin);
    // Only the log of a failure is worth keeping here. One that stays does no harm.
    if !matches!(made, Err(KernelError::Failed { .. })) {
        let _ = fs::remove_file(&log);
    }
    locked.publish(&made?, &key)
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

fn check_space(cache: &Path) -> Result<(), KernelError> {
    let stat = rustix::fs::statvfs(cache).map_err(KernelError::io("cannot look at", cache))?;
    let free_mib = stat.f_bavail.saturating_mul(stat.f_frsize) >> 20;
    if free_mib >= NEEDED_MIB {
        return Ok(());
    }
    Err(KernelError::Space { path: cache.to_owned(), needed_mib: NEEDED_MIB, free_mib })
}
