//! What lies in a directory of the cache, and in one that is built in.

use std::fs;
use std::io;
use std::path::Path;

use disklab_exec::OtherWriters;

/// The kernel's program.
pub(super) const KERNEL: &str = "linux";
/// Its configuration.
pub(super) const CONFIG: &str = "config";
/// What the build said.
pub(super) const LOG: &str = "build.log";
/// What it was made from.
pub(super) const RECIPE: &str = "recipe";
/// The directory of OpenZFS's programs, next to a kernel that has it.
pub(super) const PROGRAMS: &str = "programs";
/// The directory of an apt of our own.
pub(super) const APT: &str = "apt";
/// The directory that a package unpacks to.
pub(super) const PACKAGED: &str = "usr";

/// Whether what is in a trusted directory is the user's own: it may have been put there from elsewhere,
/// as it was.
pub(super) fn is_own(there: &fs::Metadata) -> bool {
    match OtherWriters::new(there) {
        None => true,
        // The mode of a link says nothing.
        Some(who) => there.is_symlink() && !matches!(who, OtherWriters::Owner(_)),
    }
}

/// Removes a directory, which may be missing.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
