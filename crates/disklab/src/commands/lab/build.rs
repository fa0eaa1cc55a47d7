//! `disklab lab build`: the lab's kernels.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_bench::LoadedStudy;
use disklab_exec::{Executor, Interrupt};
use disklab_lab_kernel::{
    self as kernel, BuildProgress, KernelError, LeftOutPatch, LinuxChoice, LinuxSource,
    LinuxVersion, NamedKernel, Parts, ZfsKernel, ZfsSource,
};
use disklab_units::{count, show_duration};
use disklab_workload::Context;
use serde_json::json;

use super::build_progress::BuildBar;
use crate::cli::BuildArgs;
use crate::exit::{DONE, Failure};
use crate::printing::{print, print_json};
use crate::signals;
use disklab_runner::{FoundStudy, find_study, kernel_parts};

/// Builds the kernel that the arguments ask for, and says where it is.
pub fn build(args: &BuildArgs, as_json: bool) -> Result<u8, Failure> {
    let version = args.linux.unwrap_or_default().version;
    let source = args.source.clone().map_or(LinuxSource::Debian(version), LinuxSource::Tree);
    let interrupt = signals::interrupt()?;
    let began = Instant::now();
    let (kernel, programs, now) = if args.zfs {
        let zfs = args.zfs_source.clone().map_or(ZfsSource::Debian, ZfsSource::Tree);
        let (zfs, now) = build_zfs(&source, &zfs, &interrupt)?;
        (zfs.kernel, Some(zfs.programs), now)
    } else {
        let parts = match &args.study {
            Some(study) => study_parts(study)?,
            None => Parts::ALL,
        };
        let (kernel, now) = build_plain(&source, parts, &interrupt)?;
        (kernel, None, now)
    };
    let left_out = kernel::left_out(&kernel);
    if as_json {
        let patch = |patch: &LeftOutPatch| json!({"patch": patch.name, "effect": patch.effect});
        print_json(&json!({
            "kernel": kernel,
            "programs": programs,
            "built_now": now,
            "seconds": began.elapsed().as_secs_f64(),
            "left_out": left_out.iter().map(patch).collect::<Vec<_>>(),
        }))?;
        return Ok(DONE);
    }
    let mut text = format!("{}\n", kernel.display());
    if let Some(programs) = programs {
        text.push_str(&format!("with ZFS's programs in {}\n", programs.display()));
    }
    if now {
        text.push_str(&format!("built in {}\n", show_duration(began.elapsed())));
    } else {
        text.push_str("is there already; nothing was built\n");
    }
    if args.source.is_some() {
        text.push_str("used only where it is named: --kernel with the path above\n");
    }
    text.extend(left_out.iter().map(|patch| format!("{}\n", left_out_line(patch))));
    print(&text)?;
    Ok(DONE)
}

/// What does not hold in a kernel without a patch.
fn left_out_line(LeftOutPatch { name, effect }: &LeftOutPatch) -> String {
    format!("the source does not take {name}: {effect}")
}

/// What a study needs of the kernel.
fn study_parts(name: &str) -> Result<Parts, Failure> {
    let FoundStudy { study, directory } = find_study(name)?;
    let campaign =
        LoadedStudy::new(study, &Context::new(1.0, directory)).map_err(Failure::usage_error)?;
    Ok(kernel_parts(&campaign))
}

/// Has a kernel with `parts` from `source`, building it where it is not there yet, and
/// returns its path. While it is built, the user sees how far it is: a bar on a
/// terminal, lines otherwise, on standard error.
///
/// # Errors
/// [`KernelError`] if the user has to install, free or name something first, if `interrupt`
/// was raised, or if the build failed.
pub fn ensure(
    source: &LinuxSource,
    parts: Parts,
    interrupt: &Interrupt,
) -> Result<PathBuf, KernelError> {
    Ok(build_plain(source, parts, interrupt)?.0)
}

/// The kernel that an option or a variable names; none where `linux` chooses one.
pub fn named(
    kernel: Option<&Path>,
    linux: Option<LinuxChoice>,
) -> Result<Option<NamedKernel>, Failure> {
    let named = match linux {
        Some(_) => None,
        None => NamedKernel::find(kernel).map_err(Failure::usage_error)?,
    };
    if named.is_none() {
        kernel::check_cache(&kernel::cache_directory())?;
    }
    Ok(named)
}

/// Has the kernel of `linux`, or else the default one, with all parts.
///
/// # Errors
/// As for [`ensure`].
pub fn find_or_build(
    linux: Option<LinuxChoice>,
    interrupt: &Interrupt,
) -> Result<PathBuf, KernelError> {
    let cache = kernel::cache_directory();
    let found = match linux {
        Some(linux) => kernel::find_version(&cache, linux.version, Parts::ALL),
        None => kernel::find(&cache, Parts::ALL),
    };
    let version = linux.unwrap_or_default().version;
    found.map_or_else(|| ensure(&LinuxSource::Debian(version), Parts::ALL, interrupt), Ok)
}

/// Has the kernel with OpenZFS, and its programs, as [`ensure`] has the plain one.
///
/// # Errors
/// As for [`ensure`].
pub fn ensure_zfs(
    source: &LinuxSource,
    zfs: &ZfsSource,
    interrupt: &Interrupt,
) -> Result<ZfsKernel, KernelError> {
    Ok(build_zfs(source, zfs, interrupt)?.0)
}

/// The kernel, and whether it was not there before.
fn build_plain(
    source: &LinuxSource,
    parts: Parts,
    interrupt: &Interrupt,
) -> Result<(PathBuf, bool), KernelError> {
    shown(&begins_plain(version_of(source), parts), interrupt, |executor, progress| {
        kernel::ensure(source, parts, &kernel::cache_directory(), executor, progress)
    })
}

fn build_zfs(
    source: &LinuxSource,
    zfs: &ZfsSource,
    interrupt: &Interrupt,
) -> Result<(ZfsKernel, bool), KernelError> {
    shown(&begins(" with ZFS", &zfs_build_time()), interrupt, |executor, progress| {
        kernel::ensure_zfs(source, zfs, &kernel::cache_directory(), executor, progress)
    })
}

/// The version that a build is estimated by.
fn version_of(source: &LinuxSource) -> LinuxVersion {
    match source {
        LinuxSource::Debian(version) => *version,
        LinuxSource::Tree(_) => LinuxVersion::default(),
    }
}

/// What a build of the default kernel takes here.
pub fn build_time(parts: Parts) -> String {
    time_of_build(LinuxVersion::default(), parts)
}

fn time_of_build(version: LinuxVersion, parts: Parts) -> String {
    about(kernel::build_time(version, parts, &kernel::cache_directory()))
}

/// What the build of the kernel with ZFS takes here.
pub fn zfs_build_time() -> String {
    about(kernel::zfs_build_time())
}

fn about(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let minutes = (seconds / 60.0).ceil();
    format!("about {minutes} min on {}", count(processors, "slow processor"))
}

/// What is said when a build begins, which nobody may have asked for: it is the first thing
/// that somebody sees who wanted something else.
fn begins(with: &str, time: &str) -> String {
    let cache = kernel::cache_directory();
    format!(
        "The lab's kernel{with} is not there yet. It is built now, once, which takes {time}; it is \
         kept in {}",
        cache.display()
    )
}

fn begins_plain(version: LinuxVersion, parts: Parts) -> String {
    let with =
        if parts == Parts::ALL { String::new() } else { format!(" with {}", parts_words(parts)) };
    begins(&with, &time_of_build(version, parts))
}

/// The parts of a kernel for a sentence.
pub fn parts_words(parts: Parts) -> String {
    if parts == Parts::NONE { "no file system".to_owned() } else { parts.to_string() }
}

/// Builds and shows how far it is; says whether there was anything to build.
fn shown<T>(
    begins: &str,
    interrupt: &Interrupt,
    build: impl FnOnce(&Executor, &mut dyn FnMut(BuildProgress)) -> Result<T, KernelError>,
) -> Result<(T, bool), KernelError> {
    let mut executor = Executor::default();
    executor.interrupt = interrupt.clone();
    let mut progress = BuildBar::new(begins.to_owned());
    let built = build(&executor, &mut |now| progress.take(now));
    progress.finish();
    built.map(|built| (built, progress.has_begun()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_with_zfs_is_said_to_take_longer() {
        // Nothing of it is there after a plain one was built: it took seven minutes, and 'about 1
        // min' was said.
        assert!(kernel::zfs_build_time() > Duration::from_secs(140));
        let said =
            kernel::build_time(LinuxVersion::default(), Parts::ALL, &PathBuf::from("/nonexistent"));
        assert!(kernel::zfs_build_time() > said, "{said:?}");
        assert!(begins(" with ZFS", "about 8 min").contains("with ZFS is not there yet"));
    }
}
