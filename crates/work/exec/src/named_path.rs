//! Paths that the user named and that lead through links: whose links they are.
//!
//! In a directory that others may write to, such as /tmp, anybody can have put a link where
//! root is about to write, and it leads to a file that only root can replace. Linux refuses
//! such links with `fs.protected_symlinks`, which not every system has set.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::read_link;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::check_directory::check_directory;
use crate::named_path_error::NamedPathError;

/// As many as Linux follows (`MAXSYMLINKS`).
const MOST_LINKS: u32 = 40;

/// A path without links.
pub(crate) struct RealPath {
    /// What exists of it.
    pub there: PathBuf,
    /// The components that do not exist.
    pub missing: VecDeque<OsString>,
}

/// The path without links. Only links are followed that this user or root made; the last
/// component need not exist.
///
/// # Errors
/// [`NamedPathError::OthersLink`] at a link of another user.
pub fn follow_own_links(path: &Path) -> Result<PathBuf, NamedPathError> {
    let RealPath { there, missing } = follow(path, &mut |_| Ok(()))?;
    match missing.len() {
        0 | 1 => Ok(missing.into_iter().fold(there, |path, part| path.join(part))),
        _ => Err(io::Error::from(ErrorKind::NotFound).into()),
    }
}

/// Follows the links of a path, as far as it exists. `check` is asked about each directory, before
/// anything is looked up in it.
///
/// # Errors
/// [`NamedPathError::OthersLink`] at a link of another user, and those of `check`.
pub(crate) fn follow(
    path: &Path,
    check: &mut dyn FnMut(&Path) -> Result<(), NamedPathError>,
) -> Result<RealPath, NamedPathError> {
    let mut rest: VecDeque<OsString> = parts(&std::path::absolute(path)?);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        check(&real)?;
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match next.symlink_metadata() {
            Ok(there) if there.is_symlink() => {
                if !is_trusted(there.uid()) {
                    return Err(NamedPathError::OthersLink(next));
                }
                // Where others may, one has perhaps put root's own link there under this name.
                check_directory(path, &real)?;
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::from(Errno::LOOP).into());
                }
                let target = read_link(&next)?;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    rest.push_front(part);
                }
            }
            Ok(_) => real = next,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                rest.push_front(part);
                break;
            }
            Err(e) => return Err(e.into()),
        }
    }
    Ok(RealPath { there: real, missing: rest })
}

/// Opens the directory at a path without links. If one has come since it was found so, this
/// fails.
///
/// # Errors
/// That of the first directory on the way that cannot be opened, `ENOTDIR` at a link.
pub fn open_real_directory(path: &Path) -> io::Result<OwnedFd> {
    let common = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // One by one: openat2 is missing before Linux 5.6 and in some containers.
    let mut directory = open("/", common | OFlags::PATH, Mode::empty())?;
    for part in parts(&std::path::absolute(path)?) {
        directory = openat(&directory, &part, common | OFlags::PATH, Mode::empty())?;
    }
    Ok(openat(&directory, ".", common | OFlags::RDONLY, Mode::empty())?)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

fn is_trusted(owner: u32) -> bool {
    owner == 0 || owner == geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{lchown, symlink};

    use super::*;

    #[test]
    fn own_links_are_followed() {
        let temp = tempfile::tempdir().expect("temp");
        let root = temp.path().canonicalize().expect("real");
        std::fs::create_dir_all(root.join("a/b")).expect("made");
        symlink("a/b", root.join("relative")).expect("link");
        symlink(root.join("relative/../b"), root.join("absolute")).expect("link");
        symlink("loop", root.join("loop")).expect("link");
        symlink("a/new", root.join("dangling")).expect("link");
        let follow = |name: &str| follow_own_links(&root.join(name)).map_err(|e| e.to_string());
        assert_eq!(follow("absolute/file"), Ok(root.join("a/b/file")));
        assert_eq!(follow("relative/.."), Ok(root.join("a")));
        assert_eq!(follow("dangling"), Ok(root.join("a/new")));
        for wrong in ["loop", "none/file"] {
            follow(wrong).expect_err(wrong);
        }
        assert_eq!(follow_own_links(Path::new("/..")).expect("root"), Path::new("/"));
    }

    #[test]
    fn links_of_others_are_refused() {
        let temp = tempfile::tempdir().expect("temp");
        let root = temp.path().canonicalize().expect("real");
        std::fs::create_dir(root.join("a")).expect("made");
        let link = root.join("link");
        symlink("a", &link).expect("link");
        if lchown(&link, Some(65_534), None).is_err() {
            eprintln!("skipped: needs root");
            return;
        }
        symlink("link/file", root.join("through")).expect("link");
        for name in ["link", "link/file", "through"] {
            let refused = follow_own_links(&root.join(name)).expect_err(name);
            assert!(matches!(&refused, NamedPathError::OthersLink(at) if *at == link), "{refused}");
        }
        open_real_directory(&link).expect_err("a link");
        open_real_directory(&root.join("a")).expect("a directory");
    }

    proptest::proptest! {
        #[test]
        fn no_path_panics(text in "[a./ ]{0,40}") {
            let _ = follow_own_links(Path::new(&text));
        }
    }
}
