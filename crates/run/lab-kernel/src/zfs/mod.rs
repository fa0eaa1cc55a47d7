//! OpenZFS, built into the kernel, and its programs.
//!
//! Its licence, the CDDL, does not go with the kernel's, the GPL: nobody may hand
//! on the two as one program, but anybody may build it for their own use
//! (<https://openzfs.github.io/openzfs-docs/License.html>). So nothing of OpenZFS
//! is part of disklab: it is fetched and built on the user's machine.

mod apt;
mod edits;
mod integrate;
mod programs;

use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::{Executor, Invocation};

use super::cache_files::APT;
use super::progress::{BuildProgress, BuildStep};
use super::{KernelError, ZfsProblem, source};

#[cfg(test)]
pub(super) use apt::fetch;
pub(super) use edits::{EDITS, Edit};
pub(super) use integrate::into_kernel;
#[cfg(test)]
pub(super) use programs::PROGRAMS;
pub(super) use programs::complete;

/// Where OpenZFS comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ZfsSource {
    /// Debian's packages `zfs-dkms` and `zfsutils-linux` from the component
    /// `contrib` of this machine's release or its backports, fetched without the
    /// user's package sources being changed, and not installed.
    #[default]
    Debian,
    /// An unpacked source, OpenZFS 2.3 or later, with its `configure`, in which
    /// nothing was built. It is only read. Its programs are built as well, which
    /// needs the headers that OpenZFS's documentation names.
    Tree(PathBuf),
}

/// A word for the command line of a guest with OpenZFS: the number of the host that
/// zpool(8) writes into each pool. Without it, the number would come from this
/// machine's `/etc/hostid`, and pools on two machines would differ.
pub const ZFS_HOST: &str = "spl.spl_hostid=0xd15c1ab";

/// OpenZFS, ready to be built into a kernel.
#[derive(Debug)]
pub(super) struct Openzfs {
    /// What it is, so exactly that another source has another identity.
    pub identity: String,
    /// Its source, a copy that may be changed.
    pub tree: PathBuf,
}

impl ZfsSource {
    /// What it is, if that is known without fetching it.
    ///
    /// # Errors
    /// [`KernelError::ZfsSource`] if a named directory is not a source of OpenZFS.
    pub(super) fn identity(&self) -> Result<Option<String>, KernelError> {
        match self {
            Self::Debian => Ok(None),
            Self::Tree(directory) => tree(directory).map(Some),
        }
    }

    /// Has it ready in `workshop`, and the programs in the new directory `programs`.
    ///
    /// # Errors
    /// If it is not available, or its programs cannot be built.
    pub(super) fn get(
        &self,
        workshop: &Path,
        programs: &Path,
        executor: &Executor,
        progress: &mut dyn FnMut(BuildProgress),
        step: &dyn Fn(Invocation) -> Result<(), KernelError>,
    ) -> Result<Openzfs, KernelError> {
        match self {
            Self::Debian => {
                progress(BuildProgress::of(BuildStep::FetchZfs));
                let packages = apt::fetch(&workshop.join(APT), Path::new("/"), executor)?;
                programs::take(&packages.unpacked, programs, executor)?;
                let tree = unpacked_source(&packages.unpacked)?;
                Ok(Openzfs { identity: format!("zfs-dkms {}", packages.version), tree })
            }
            Self::Tree(directory) => {
                let identity = tree(directory)?;
                progress(BuildProgress::of(BuildStep::BuildZfsPrograms));
                let tree = workshop.join("openzfs");
                source::copy(directory, &tree, step)?;
                integrate::build_programs(&tree, &workshop.join("programs-build"), programs, step)?;
                Ok(Openzfs { identity, tree })
            }
        }
    }
}

/// The directory `usr/src/zfs-VERSION` of the package.
fn unpacked_source(unpacked: &Path) -> Result<PathBuf, KernelError> {
    let sources = unpacked.join("usr/src");
    let found = fs::read_dir(&sources)
        .map_err(KernelError::io("cannot read", &sources))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.join("META").is_file());
    found.ok_or(KernelError::ZfsSource { path: sources, source: ZfsProblem::NotInPackage })
}

/// Looks at a named source and says what it is.
fn tree(directory: &Path) -> Result<String, KernelError> {
    let wrong = |source| KernelError::ZfsSource { path: directory.to_owned(), source };
    let unreadable = |file: &Path| {
        let file = file.to_owned();
        move |source| wrong(ZfsProblem::Io { file, source })
    };
    let resolved = directory.canonicalize().map_err(unreadable(directory))?;
    let meta = fs::read_to_string(resolved.join("META")).map_err(unreadable(Path::new("META")))?;
    let version = version(&meta).ok_or_else(|| wrong(ZfsProblem::NotOpenZfs))?;
    if apt::release(&version).is_none_or(|(major, minor, _)| (major, minor) < apt::SERIES) {
        return Err(wrong(ZfsProblem::TooOld { version }));
    }
    if !resolved.join("configure").is_file() {
        return Err(wrong(ZfsProblem::NoConfigure));
    }
    if resolved.join("zfs_config.h").exists() {
        return Err(wrong(ZfsProblem::Built));
    }
    let digest = source::digest(&resolved)?;
    Ok(format!("OpenZFS {version}, files {digest}"))
}

/// The version in a file META, such as `2.3.2`.
fn version(meta: &str) -> Option<String> {
    let value = |name: &str| {
        meta.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim())
        })
    };
    (value("Name") == Some("zfs")).then(|| value("Version").map(str::to_owned)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = "Meta:          1\nName:          zfs\nVersion:       2.3.2\n";

    #[test]
    fn a_named_source_is_looked_at() {
        let directory = tempfile::tempdir().expect("temp");
        let zfs = ZfsSource::Tree(directory.path().to_owned());
        let refusal = || {
            let error = zfs.identity().expect_err("must be refused");
            assert!(error.is_usage_error(), "{error}");
            match error {
                KernelError::ZfsSource { source, .. } => source,
                other => panic!("{other}"),
            }
        };
        assert!(matches!(refusal(), ZfsProblem::Io { file, .. } if file == Path::new("META")));
        let write = |name: &str, text: &str| {
            fs::write(directory.path().join(name), text).expect("file");
        };
        write("META", "Name: other\nVersion: 2.3.2\n");
        assert!(matches!(refusal(), ZfsProblem::NotOpenZfs));
        write("META", &META.replace("2.3.2", "2.2.7"));
        assert!(matches!(refusal(), ZfsProblem::TooOld { version } if version == "2.2.7"));
        write("META", META);
        assert!(matches!(refusal(), ZfsProblem::NoConfigure));
        write("configure", "");
        let first = zfs.identity().expect("a source").expect("known at once");
        assert!(first.starts_with("OpenZFS 2.3.2, files "), "{first}");
        write("module.c", "x");
        assert_ne!(zfs.identity().expect("a source"), Some(first));
        write("zfs_config.h", "");
        assert!(matches!(refusal(), ZfsProblem::Built));
        assert_eq!(ZfsSource::Debian.identity().expect("not looked for"), None);
    }

    #[test]
    fn the_package_has_its_source_in_a_directory_of_its_version() {
        let directory = tempfile::tempdir().expect("temp");
        let source = directory.path().join("usr/src/zfs-2.3.2");
        fs::create_dir_all(&source).expect("directory");
        let error = unpacked_source(directory.path()).expect_err("nothing in it");
        let KernelError::ZfsSource { source: ZfsProblem::NotInPackage, .. } = error else {
            panic!("{error}")
        };
        fs::write(source.join("META"), META).expect("META");
        assert_eq!(unpacked_source(directory.path()).expect("found"), source);
    }
}
