//! `make` for the lab.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use disklab_exec::Invocation;

use super::KernelError;

/// What `make` is told for the lab, whatever the user's environment says of other builds: an
/// argument a line. The same source makes the same kernel, whatever its user and time
/// (Documentation/kbuild/reproducible-builds.rst).
pub(super) const ARGUMENTS: &str = include_str!("../../../../kernel/make-arguments");
/// A patched file, or one of disklab's own, changes when the kernel is made, as for `make` an
/// object is older than what is written anew: 2026-01-01 00:00:00 UTC, in seconds since 1970.
const PATCHED: u64 = 1_767_225_600;

/// `make` for the lab, without what the user's environment says of other builds.
pub(super) fn make(tree: &Path, out: &Path) -> Invocation {
    Invocation::new("make")
        .env("MAKEFLAGS", "")
        .env("KBUILD_OUTPUT", "")
        .env("KCONFIG_CONFIG", ".config")
        .arg("-C")
        .arg(tree)
        .arg(format!("O={}", out.display()))
        .args(ARGUMENTS.lines())
}

/// Sets the time of a file as if it had always been there: see [`PATCHED`].
pub(super) fn age(path: &Path) -> Result<(), KernelError> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(PATCHED);
    fs::File::options()
        .write(true)
        .open(path)
        .and_then(|file| file.set_modified(time))
        .map_err(KernelError::io("cannot write", path))
}
