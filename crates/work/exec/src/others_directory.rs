//! Directories in which somebody else could put a link while root writes below them.
//!
//! A link that is there already is refused where a path is followed. One that comes later is
//! followed by the kernel: a user who may rename what is in a directory on the way, if only for a
//! moment, decides where root writes. So root uses no path through such a directory.

use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::process::geteuid;

use crate::check_directory::{check_directory, who_renames};
use crate::named_path::{RealPath, follow};
use crate::named_path_error::NamedPathError;
use crate::other_writers::OtherWriters;

/// Refuses, for root, a path on which somebody else may rename a directory. It need not exist
/// yet; what is created exclusively at its end stays where it is.
///
/// # Errors
/// [`NamedPathError::OthersDirectory`], or [`NamedPathError::OthersLink`] for any user.
pub fn refuse_others_directories(path: &Path) -> Result<(), NamedPathError> {
    let mut check = |directory: &Path| check_directory(path, directory);
    let real = follow(path, &mut check)?;
    check(&real.there)
}

/// Creates a directory and those above it that are missing. What root creates lies where nobody
/// else may rename it.
///
/// # Errors
/// As [`refuse_others_directories`], and what the system says.
pub fn make_directories(path: &Path) -> Result<(), NamedPathError> {
    if !geteuid().is_root() {
        return Ok(std::fs::create_dir_all(path)?);
    }
    let mut check = |directory: &Path| check_directory(path, directory);
    let RealPath { mut there, missing } = follow(path, &mut check)?;
    check(&there)?;
    for part in missing {
        if part == ".." {
            return Err(io::Error::from(ErrorKind::NotFound).into());
        }
        there.push(part);
        match std::fs::DirBuilder::new().mode(0o755).create(&there) {
            Ok(()) => {}
            // Somebody was faster, in a directory with the sticky bit.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e.into()),
        }
        check(&there)?;
    }
    Ok(())
}

/// Refuses, for any user, a directory whose content somebody else may change or replace: what is
/// executed from there has this user's rights. It need not exist yet.
///
/// # Errors
/// [`NamedPathError::OthersContent`], or [`NamedPathError::OthersLink`].
pub fn refuse_others_content(path: &Path) -> Result<(), NamedPathError> {
    let refused = |directory: &Path, who| {
        let (path, directory) = (path.to_owned(), directory.to_owned());
        NamedPathError::OthersContent { path, directory, who }
    };
    let mut check = |directory: &Path| match who_renames(directory)? {
        Some(who) => Err(refused(directory, who)),
        None => Ok(()),
    };
    let RealPath { there, missing } = follow(path, &mut check)?;
    check(&there)?;
    match OtherWriters::new(&there.symlink_metadata()?) {
        // Where all may write, as in /tmp, there may be anything.
        Some(who) if missing.is_empty() => Err(refused(&there, who)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::process::Uid;
    use rustix::thread::set_thread_res_uid;

    use super::*;

    const MALLORY: u32 = 65_534;

    /// A directory below which root's is: `None` without root.
    fn mallorys(at: &Path) -> Option<()> {
        create_dir(at).expect("made");
        create_dir(at.join("roots")).expect("made");
        if chown(at, Some(MALLORY), Some(MALLORY)).is_err() {
            eprintln!("skipped: needs root");
            return None;
        }
        Some(())
    }

    #[test]
    fn root_uses_nothing_that_others_may_rename() {
        let temp = tempfile::tempdir().expect("temp");
        let at = |name: &str| temp.path().join(name);
        let Some(()) = mallorys(&at("theirs")) else { return };
        for (name, mode, group) in [("open", 0o777, 0), ("group", 0o775, MALLORY)] {
            create_dir(at(name)).expect("made");
            create_dir(at(name).join("roots")).expect("made");
            chown(at(name), Some(0), Some(group)).expect("group");
            set_permissions(at(name), Permissions::from_mode(mode)).expect("mode");
        }
        // Root's link, in a directory in which it may be replaced.
        symlink("/etc", at("theirs/link")).expect("link");
        let refused = ["theirs", "theirs/new", "theirs/roots/a/b", "theirs/link/new", "open/roots"];
        for name in [&refused[..], &["open/new", "group/roots/new"]].concat() {
            for done in [refuse_others_directories(&at(name)), make_directories(&at(name))] {
                let error = done.expect_err(name);
                assert!(matches!(error, NamedPathError::OthersDirectory { .. }), "{name}: {error}");
                assert!(error.to_string().contains("run disklab as the user"), "{error}");
            }
        }
        assert!(!at("theirs/new").exists() && !at("theirs/roots/a").exists());
        create_dir(at("sticky")).expect("made");
        set_permissions(at("sticky"), Permissions::from_mode(0o1777)).expect("mode");
        create_dir(at("sticky/theirs")).expect("made");
        chown(at("sticky/theirs"), Some(MALLORY), None).expect("owner");
        std::fs::write(at("sticky/file"), "").expect("written");
        lchown(at("sticky/file"), Some(MALLORY), None).expect("owner");
        make_directories(&at("sticky/new/below")).expect("what root makes stays root's");
        for name in ["sticky/theirs/new", "sticky/file", "sticky/file/new"] {
            make_directories(&at(name)).expect_err(name);
        }
    }

    #[test]
    fn content_of_others_is_refused() {
        let temp = tempfile::tempdir().expect("temp");
        let at = |name: &str| temp.path().join(name);
        let mode = |name: &str, mode| {
            create_dir(at(name)).expect("made");
            set_permissions(at(name), Permissions::from_mode(mode)).expect("mode");
        };
        mode("own", 0o755);
        mode("shared", 0o1777);
        mode("open", 0o777);
        for name in ["own", "own/new/cache", "shared/new"] {
            refuse_others_content(&at(name)).expect(name);
        }
        for name in ["shared", "open", "open/new"] {
            let error = refuse_others_content(&at(name)).expect_err(name);
            assert!(matches!(error, NamedPathError::OthersContent { .. }), "{name}: {error}");
        }
        let Some(()) = mallorys(&at("theirs")) else { return };
        create_dir(at("shared/theirs")).expect("made");
        chown(at("shared/theirs"), Some(MALLORY), None).expect("owner");
        for name in ["theirs", "theirs/roots", "theirs/new", "shared/theirs"] {
            let error = refuse_others_content(&at(name)).expect_err(name);
            assert!(error.to_string().contains("belongs to user 65534"), "{name}: {error}");
        }
    }

    /// In a directory like /tmp, mallory makes the name that root is about to make, again and
    /// again: a link, a directory, nothing.
    #[test]
    fn root_follows_no_link_placed_in_a_race() {
        let temp = tempfile::tempdir().expect("temp");
        let at = |name: &str| temp.path().join(name);
        let Some(()) = mallorys(&at("sticky")) else { return };
        set_permissions(temp.path(), Permissions::from_mode(0o755)).expect("mode");
        chown(at("sticky"), Some(0), None).expect("owner");
        set_permissions(at("sticky"), Permissions::from_mode(0o1777)).expect("mode");
        create_dir(at("target")).expect("made");
        let (name, ended) = (at("sticky/run"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // This thread alone becomes mallory.
                let mallory = Uid::from_raw(MALLORY);
                set_thread_res_uid(mallory, mallory, mallory).expect("root may");
                while !ended.load(Ordering::Relaxed) {
                    let _ = symlink(at("target"), &name);
                    let _ = std::fs::remove_file(&name);
                    let _ = create_dir(&name);
                    let _ = std::fs::remove_dir(&name);
                }
            });
            let began = std::time::Instant::now();
            while began.elapsed().as_secs_f64() < 1.0 {
                let _ = make_directories(&name.join("a/b"));
                // A link itself, never what it leads to.
                let _ = std::fs::remove_dir_all(&name);
            }
            ended.store(true, Ordering::Relaxed);
        });
        let led: Vec<_> = std::fs::read_dir(at("target")).expect("read").flatten().collect();
        assert!(led.is_empty(), "{led:?}");
    }
}
