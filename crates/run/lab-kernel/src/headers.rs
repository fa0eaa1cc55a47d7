//! The compiler of the kernel's objects: gcc, with what most of them include precompiled.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::KernelError;
use super::cache_files::remove;
use super::make::age;

/// The name of its directory in that of a build.
const DIRECTORY: &str = "headers";
/// The compiler's.
const COMPILER: &str = "cc";
/// What lies in that directory. `scripts/kernel` copies the same.
const FILES: [(&str, &str); 3] = [
    (COMPILER, include_str!("../../../../kernel/headers/cc")),
    ("common.h", include_str!("../../../../kernel/headers/common.h")),
    ("names.h", include_str!("../../../../kernel/headers/names.h")),
];

/// Has the compiler ready in the directory of a build, without a header that was precompiled
/// before: options may have changed since.
pub(super) fn compiler(workshop: &Path) -> Result<PathBuf, KernelError> {
    let directory = workshop.join(DIRECTORY);
    remove(&directory).map_err(KernelError::io("cannot remove", &directory))?;
    fs::create_dir(&directory).map_err(KernelError::io("cannot make", &directory))?;
    for (name, text) in FILES {
        let path = directory.join(name);
        fs::write(&path, text).map_err(KernelError::io("cannot write", &path))?;
        age(&path)?;
    }
    let compiler = directory.join(COMPILER);
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))
        .map_err(KernelError::io("cannot write", &compiler))?;
    Ok(compiler)
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
