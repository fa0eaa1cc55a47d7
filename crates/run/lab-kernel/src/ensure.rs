//! A kernel that is in the cache, or else is built into it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_exec::Executor;
use disklab_units::duration_of;

use super::build::Build;
use super::cache::{self, Cache, ZfsKernel};
use super::cache_files::{self, KERNEL};
use super::error::KernelError;
use super::linux::LinuxVersion;
use super::parts::Parts;
use super::progress::{BuildProgress, BuildStep};
use super::recipe::Recipe;
use super::source::{Found, LinuxSource, Origin};
use super::variant::{PLAIN, Variant, ZFS};
use super::zfs::ZfsSource;
use super::{backports, tools, tree};

/// Has a kernel for `source` with `parts` in `cache`, and returns its path: one that is
/// there with these and perhaps more, or else one that is built with these alone. The first
/// build takes some minutes; `progress` is told how far it is. It stops within a second when
/// the executor's interrupt is raised, and the next build resumes it.
///
/// # Errors
/// Where something is missing, the source is not fit, the build fails, or the
/// user asked to stop.
pub fn ensure(
    source: &LinuxSource,
    parts: Parts,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<PathBuf, KernelError> {
    let directory = ensure_variant(PLAIN.with(parts), source, None, cache, executor, progress)?;
    Ok(directory.join(KERNEL))
}

/// Has the kernel with OpenZFS built in, and OpenZFS's programs, as [`ensure`] has
/// the plain one. Where a kernel for this `source` is there with any OpenZFS that
/// came from Debian, that is the one: nothing is fetched to see whether there is a
/// newer one.
///
/// # Errors
/// As for [`ensure`], and if OpenZFS is not available.
pub fn ensure_zfs(
    source: &LinuxSource,
    zfs: &ZfsSource,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<ZfsKernel, KernelError> {
    let directory = ensure_variant(ZFS, source, Some(zfs), cache, executor, progress)?;
    Ok(ZfsKernel::in_directory(&directory))
}

/// About how long [`ensure`] takes here to build a kernel of `version` with `parts`, as far as
/// it is not compiled already.
pub fn build_time(version: LinuxVersion, parts: Parts, cache: &Path) -> Duration {
    let directory = cache.join(version.tree());
    compile_time(tree::left(&directory, parts, |parts| PLAIN.with(parts).objects()))
}

/// About how long [`ensure_zfs`] takes here. It is compiled apart from the plain kernels, so
/// that nothing of it is there already.
pub fn zfs_build_time() -> Duration {
    /// OpenZFS's `configure` compiles some 200 trials against the kernel, one after another: 110 s
    /// on the same machine.
    const CONFIGURE: Duration = Duration::from_secs(110);
    CONFIGURE + compile_time(ZFS.objects())
}

/// About how long it takes to unpack a kernel and to compile so many objects.
fn compile_time(objects: u64) -> Duration {
    /// Of one of the two slow processors that docs/guide/first-minutes.md was measured on.
    /// With what most objects include precompiled (`kernel/headers`).
    const SECONDS_PER_OBJECT: f64 = 0.45;
    /// To unpack, configure and link, which more processors do not speed up.
    const BESIDES: f64 = 30.0;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    #[expect(clippy::cast_precision_loss, reason = "a kernel has some thousand objects")]
    let compile = objects as f64 * SECONDS_PER_OBJECT / processors as f64;
    duration_of(BESIDES + compile)
}

/// Whether [`ensure`] could build a kernel here, as far as that is known without
/// beginning.
///
/// # Errors
/// [`KernelError::Machine`] if there is no such kernel for this processor, [`KernelError::Tools`] with
/// what is missing and its packages, or what is wrong with the source.
pub fn check(source: &LinuxSource, executor: &Executor) -> Result<(), KernelError> {
    check_processor()?;
    let found = source.find(Path::new("/"), executor);
    tools::check(executor, found.as_ref().is_ok_and(|f| matches!(f.origin, Origin::Tree(_))))?;
    found.map(drop)
}

/// Whether there can be a lab on this machine's processor.
///
/// # Errors
/// [`KernelError::Machine`].
pub fn check_processor() -> Result<(), KernelError> {
    match std::env::consts::ARCH {
        "x86_64" => Ok(()),
        other => Err(KernelError::Machine(other.to_owned())),
    }
}

fn ensure_variant(
    variant: Variant,
    source: &LinuxSource,
    zfs: Option<&ZfsSource>,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<PathBuf, KernelError> {
    check_processor()?;
    let cache = &std::path::absolute(cache).map_err(KernelError::io("cannot find", cache))?;
    cache::check_cache(cache)?;
    let mut found = source.find(Path::new("/"), executor)?;
    let variant = variant.of(found.version);
    if matches!(found.origin, Origin::Backports) {
        // Nothing is fetched to see whether there is a newer one.
        if let Some(kernel) = cache::find_version(cache, found.version, variant.parts) {
            return Ok(kernel.parent().map(Path::to_owned).unwrap_or(kernel));
        }
        found.identity = identity_in_backports(found.version, cache, executor, progress)?;
    }
    let recipe = Recipe {
        variant,
        patches: variant.version.patches(),
        source: found.identity.clone(),
        compiler: tools::compiler(executor)?,
        openzfs: zfs.map(ZfsSource::identity).transpose()?.flatten(),
    };
    match cache::kept(cache, &recipe) {
        Some(directory) => Ok(directory),
        None => make(&found, zfs, recipe, cache, executor, progress),
    }
}

/// What the newest package of a version's source is, by lists that are fetched for it.
fn identity_in_backports(
    version: LinuxVersion,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<String, KernelError> {
    // The right to build comes with the duty to remove what killed builds have left.
    let locked = Cache::lock(cache, &executor.interrupt, progress)?;
    progress(BuildProgress::of(BuildStep::Fetch));
    let workshop = locked.workshop("lists")?;
    let newest = backports::newest(version, &workshop.directory, Path::new("/"), executor)?;
    Ok(format!("{} {newest}, fetched", version.package()))
}

/// What the whole of a source takes, a part of which is not unpacked otherwise.
const COPY_MIB: u64 = 1000;

/// Builds what the recipe says, and returns its directory.
pub(super) fn make(
    found: &Found,
    zfs: Option<&ZfsSource>,
    recipe: Recipe,
    cache: &Path,
    executor: &Executor,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<PathBuf, KernelError> {
    tools::check(executor, matches!(found.origin, Origin::Tree(_)))?;
    check_path(cache)?;
    if let Origin::Tree(directory) = &found.origin {
        check_path(directory)?;
    }
    let locked = Cache::lock(cache, &executor.interrupt, progress)?;
    // Somebody may have built it while we waited.
    if let Some(directory) = cache::kept(cache, &recipe) {
        return Ok(directory);
    }
    let is_named = matches!(found.origin, Origin::Tree(_));
    let copy_mib = if is_named { COPY_MIB } else { 0 };
    check_space(cache, recipe.variant.needed_mib + copy_mib)?;
    // Of OpenZFS the key does not know yet which it will be.
    let key = recipe.key();
    let log = cache.join(format!("{key}.log"));
    // OpenZFS is copied into the source that it is built with.
    let workshop = if zfs.is_some() {
        locked.workshop(&key)?
    } else {
        locked.tree(recipe.variant.version, &recipe.tree_text())?
    };
    let objects = tree::objects(&workshop.directory);
    let is_resumed = objects.is_dir();
    let mut build = Build {
        workshop: &workshop.directory,
        log: &log,
        recipe,
        zfs,
        left_out: Vec::new(),
        executor,
        progress,
    };
    fs::write(&log, "").map_err(KernelError::io("cannot write", &log))?;
    let mut made = build.run(&found.origin);
    if is_resumed && matches!(made, Err(KernelError::Failed { .. })) {
        // A power cut may have left objects that are whole by their names only.
        tracing::debug!("the objects of earlier builds are removed");
        cache_files::remove(&objects).map_err(KernelError::io("cannot remove", &objects))?;
        fs::write(&log, "").map_err(KernelError::io("cannot write", &log))?;
        made = build.run(&found.origin);
    }
    // A build that is resumed needs the source; otherwise it only takes room.
    if !made.as_ref().is_err_and(KernelError::is_interrupt) {
        tree::without_source(&workshop.directory)?;
    }
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
