//! The directory in which the plain kernel's objects are kept from one build to the next.
//!
//! A build that is interrupted, killed or needs more parts than the last one is resumed in it:
//! `make` compiles what is not there yet, or what depends on an option that has changed. The
//! source is unpacked for each build, with the same times, and removed after it.

use std::fs;
use std::path::{Path, PathBuf};

use super::KernelError;
use super::cache_files::{APT, PACKAGED, is_own, remove};
use super::parts::Parts;

/// What its objects have in common: [`super::recipe::Recipe::tree_text`].
const IDENTITY: &str = "identity";
/// Names the parts that were begun in it.
const PARTS: &str = "parts";
const SOURCE: &str = "source";
/// Is there when the source is unpacked and patched.
pub(super) const UNPACKED: &str = "unpacked";
const OBJECTS: &str = "objects";

/// Has the directory `name` in `cache` for objects that have `identity` in common; removes others.
pub(super) fn prepare(cache: &Path, name: &str, identity: &str) -> Result<PathBuf, KernelError> {
    let directory = cache.join(name);
    let path = directory.join(IDENTITY);
    if fs::read_to_string(&path).is_ok_and(|text| text == identity) && is_own_alone(&directory) {
        return Ok(directory);
    }
    remove(&directory).map_err(KernelError::io("cannot remove", &directory))?;
    fs::create_dir(&directory).map_err(KernelError::io("cannot make", &directory))?;
    fs::write(&path, identity).map_err(KernelError::io("cannot write", &path))?;
    Ok(directory)
}

/// Whether all in a directory is the user's own: `make` runs programs that it finds there.
fn is_own_alone(path: &Path) -> bool {
    let Ok(there) = path.symlink_metadata() else { return false };
    let below = || fs::read_dir(path).into_iter().flatten();
    is_own(&there) && (!there.is_dir() || below().all(|e| e.is_ok_and(|e| is_own_alone(&e.path()))))
}

/// The source in a directory, and whether it is there already, unpacked and patched. If not,
/// its directory is new and empty.
pub(super) fn source_directory(directory: &Path) -> Result<(PathBuf, bool), KernelError> {
    let source = directory.join(SOURCE);
    if directory.join(UNPACKED).is_file() && source.is_dir() {
        return Ok((source, true));
    }
    remove(&source).map_err(KernelError::io("cannot remove", &source))?;
    fs::create_dir(&source).map_err(KernelError::io("cannot make", &source))?;
    Ok((source, false))
}

/// Notes that the source is unpacked and patched.
pub(super) fn unpacked(directory: &Path) -> Result<(), KernelError> {
    let path = directory.join(UNPACKED);
    fs::write(&path, "").map_err(KernelError::io("cannot write", &path))
}

/// Removes the source after a build: unpacking it again takes seconds, and it is large.
pub(super) fn without_source(directory: &Path) -> Result<(), KernelError> {
    let _ = fs::remove_file(directory.join(UNPACKED));
    for name in [SOURCE, PACKAGED, APT] {
        let path = directory.join(name);
        remove(&path).map_err(KernelError::io("cannot remove", &path))?;
    }
    Ok(())
}

pub(super) fn objects(directory: &Path) -> PathBuf {
    directory.join(OBJECTS)
}

/// How many objects a build of `parts` still has to make in a directory, as `objects_of`
/// estimates what parts take; notes that they are begun.
pub(super) fn begin(directory: &Path, parts: Parts, objects_of: impl Fn(Parts) -> u64) -> u64 {
    let all = parts.union(begun(directory));
    // Without it, the next estimate is wrong, and nothing else.
    let _ = fs::write(directory.join(PARTS), all.to_string());
    objects_of(all).saturating_sub(count(&objects(directory)))
}

/// The same for a build in `directory` that may begin later.
pub(super) fn left(directory: &Path, parts: Parts, objects_of: impl Fn(Parts) -> u64) -> u64 {
    objects_of(parts.union(begun(directory))).saturating_sub(count(&objects(directory)))
}

fn begun(directory: &Path) -> Parts {
    let text = fs::read_to_string(directory.join(PARTS)).unwrap_or_default();
    text.parse().unwrap_or(Parts::NONE)
}

/// How many objects are below a directory, without those of the build's own programs.
fn count(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            let (path, name) = (entry.path(), entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && name != "scripts" => count(&path),
                Ok(kind) if kind.is_file() => u64::from(path.extension().is_some_and(|e| e == "o")),
                _ => 0,
            }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_stay_for_the_same_source_and_compiler_only() {
        let cache = tempfile::tempdir().expect("temp");
        let directory = prepare(cache.path(), "tree", "gcc 12\n").expect("made");
        fs::write(directory.join("x"), "").expect("written");
        assert_eq!(prepare(cache.path(), "tree", "gcc 12\n").expect("kept"), directory);
        assert!(directory.join("x").exists());
        prepare(cache.path(), "tree", "gcc 13\n").expect("made");
        assert!(!directory.join("x").exists());
        // Another program's, or half made.
        fs::remove_file(directory.join(IDENTITY)).expect("removed");
        fs::write(directory.join("x"), "").expect("written");
        prepare(cache.path(), "tree", "gcc 13\n").expect("made");
        assert!(!directory.join("x").exists());
    }

    #[test]
    fn source_that_is_half_unpacked_is_unpacked_again() {
        let directory = tempfile::tempdir().expect("temp");
        let (path, there) = source_directory(directory.path()).expect("made");
        assert!(!there);
        fs::write(path.join("Makefile"), "").expect("written");
        assert_eq!(source_directory(directory.path()).expect("made"), (path.clone(), false));
        assert!(!path.join("Makefile").exists());
        unpacked(directory.path()).expect("noted");
        assert_eq!(source_directory(directory.path()).expect("kept"), (path.clone(), true));
        without_source(directory.path()).expect("removed");
        assert!(!path.exists());
        assert!(!source_directory(directory.path()).expect("made").1);
    }

    #[test]
    fn compiled_objects_are_not_expected_again() {
        let directory = tempfile::tempdir().expect("temp");
        let objects_of = |parts: Parts| 10 + u64::from(parts.count());
        let parts = |text: &str| text.parse::<Parts>().expect("parts");
        assert_eq!(begin(directory.path(), parts("ext4"), objects_of), 11);
        for name in ["fs/a.o", "b.o", "scripts/c.o", "fs/a.c"] {
            let path = objects(directory.path()).join(name);
            fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            fs::write(path, "").expect("written");
        }
        assert_eq!(begin(directory.path(), parts("ext4"), objects_of), 9);
        assert_eq!(begin(directory.path(), parts("xfs"), objects_of), 10);
    }
}
