//! Building OpenZFS: into a kernel's source, and its programs.

use std::fs;
use std::path::Path;

use disklab_exec::Invocation;

use super::super::KernelError;
use super::super::make::make;
use super::edits::{self, Edit};
use super::programs;

/// A step of the build, whose output goes to its log.
type Run<'a> = &'a dyn Fn(Invocation) -> Result<(), KernelError>;

/// The header with OpenZFS's revision. Its `copy-builtin` deletes it, and Debian's
/// package has no script to make it again.
const REVISION: &str = "include/zfs_gitrev.h";

/// Copies the source `openzfs` into the kernel's source `tree`, which is configured
/// in `out`, with the edits. Both sources are changed.
///
/// # Errors
/// Where OpenZFS does not go with this kernel, or is not as the edits expect it.
pub(in super::super) fn into_kernel(
    openzfs: &Path,
    edits: &[Edit],
    tree: &Path,
    out: &Path,
    run: Run<'_>,
) -> Result<(), KernelError> {
    // Its configure compiles small parts of a kernel.
    run(make(tree, out).args(["prepare", "modules_prepare"]))?;
    let revision = fs::read_to_string(openzfs.join(REVISION))
        .unwrap_or_else(|_| "#define ZFS_META_GITREV \"lab\"\n".to_owned());
    let configure = Invocation::new("sh")
        .cwd(openzfs)
        .env("ARCH", "um")
        .env("SUBARCH", "x86_64")
        .env("CC", "gcc")
        .env("MAKEFLAGS", "")
        .args(["configure", "--disable-dependency-tracking", "--with-config=kernel"])
        // As modules they need what the kernel has for the GPL only.
        .arg("--enable-linux-builtin")
        .arg(format!("--with-linux={}", tree.display()))
        .arg(format!("--with-linux-obj={}", out.display()));
    run(configure)?;
    let copy = Invocation::new("sh").cwd(openzfs).env("MAKEFLAGS", "");
    run(copy.arg("copy-builtin").arg(tree))?;
    let header = tree.join("include/zfs/zfs_gitrev.h");
    fs::write(&header, revision).map_err(KernelError::io("cannot write", &header))?;
    edits::apply(edits, &tree.join("fs/zfs"))
}

/// Builds the programs of the source `openzfs` in the new directory `out`, each with
/// its libraries in it, and copies them to the new directory `to`.
///
/// # Errors
/// Where the build fails, as it does without the headers that it needs.
pub(super) fn build_programs(
    openzfs: &Path,
    out: &Path,
    to: &Path,
    run: Run<'_>,
) -> Result<(), KernelError> {
    fs::create_dir(out).map_err(KernelError::io("cannot make", out))?;
    let configure = Invocation::new("sh").cwd(out).env("MAKEFLAGS", "");
    let configure = configure
        .arg(openzfs.join("configure"))
        .args(["--disable-dependency-tracking", "--with-config=user", "--disable-pyzfs"])
        .args(["--disable-shared", "--enable-static"]);
    run(configure)?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let make = Invocation::new("make").cwd(out).env("MAKEFLAGS", "");
    run(make.arg(format!("-j{jobs}")).args(programs::PROGRAMS))?;
    programs::take_built(out, to)
}
