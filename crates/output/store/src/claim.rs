//! Which directories a run may write to: new ones, empty ones, and its own.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use disklab_exec::{NamedPathError, OtherWriters, make_directories, refuse_others_directories};
use rustix::fs::{Access, OFlags, access};
use rustix::process::geteuid;

use crate::{RunDirectory, StoreError};

/// The file that makes a directory disklab's own. Nothing else writes it.
const MARKER: &str = ".disklab-directory";
/// What it contains.
const TEXT: &str = "disklab made this directory. It adds, replaces and removes files in it.\n";

/// A directory in which disklab may add, replace and remove files. If nothing was put into
/// it, dropping the claim leaves things as they were before.
#[derive(Debug)]
pub struct DirectoryClaim {
    directory: RunDirectory,
    /// Whether this claim created the directory.
    new: bool,
    /// Whether this claim created the marker.
    marked: bool,
    kept: bool,
}

impl DirectoryClaim {
    /// Whether `path` could be claimed, without changing anything.
    ///
    /// # Errors
    /// [`StoreError::NotEmpty`] if it contains something that disklab did not put there;
    /// [`StoreError::OthersPath`] if another user's link leads there, or root would write where
    /// others can put links;
    /// [`StoreError::Io`] if it is not a directory or not writable.
    pub fn check(path: &Path) -> Result<(), StoreError> {
        safe_for_root(path)?;
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                writable(path)?;
                empty_or_own(path)
            }
            Ok(_) => Err(StoreError::io("cannot make", path)(ErrorKind::NotADirectory.into())),
            Err(e) if e.kind() == ErrorKind::NotFound => writable(existing_parent(path)),
            Err(e) => Err(StoreError::io("cannot use", path)(e)),
        }
    }

    /// Claims `path`: creates it if there is nothing, and marks it as disklab's own.
    ///
    /// # Errors
    /// As [`DirectoryClaim::check`], and [`StoreError::Io`] if it cannot be created.
    pub fn make(path: &Path) -> Result<Self, StoreError> {
        Self::check(path)?;
        // That of a mere name is empty.
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            make_directories(parent).map_err(|e| unsafe_path("cannot make", parent, e))?;
        }
        let new = match std::fs::create_dir(path) {
            Ok(()) => true,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => false,
            Err(e) => return Err(StoreError::io("cannot make", path)(e)),
        };
        // From here on it is this one, whatever has its name.
        let directory = RunDirectory::to_write(path)?;
        let mut claim = Self { directory, new, marked: false, kept: false };
        // Again, as something may have come since the first look.
        safe_for_root(path)?;
        let inside = claim.directory.at("");
        let marked = empty_or_own(&inside).and_then(|()| mark(&inside));
        claim.marked = marked.map_err(|error| claim.directory.named(error))?;
        Ok(claim)
    }

    /// The directory, open.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// Keeps the directory: something was begun in it.
    pub fn keep(mut self) -> RunDirectory {
        self.kept = true;
        self.directory.clone()
    }
}

impl Drop for DirectoryClaim {
    fn drop(&mut self) {
        let is_marker = |entry: std::fs::DirEntry| entry.file_name() == MARKER;
        let begun = std::fs::read_dir(self.directory.at(""))
            .is_ok_and(|mut entries| !entries.all(|entry| entry.is_ok_and(is_marker)));
        if self.kept || begun {
            return;
        }
        if self.marked {
            let _ = std::fs::remove_file(self.directory.at(MARKER));
        }
        if self.new && self.directory.is_still_there() {
            // Only if it is empty, and not a link.
            let _ = std::fs::remove_dir(self.directory.path());
        }
    }
}

/// Creates the marker; false if it is there already.
fn mark(path: &Path) -> Result<bool, StoreError> {
    let marker = path.join(MARKER);
    // Exclusive: it never follows a link, and never replaces a file.
    let file = OpenOptions::new().write(true).create_new(true).open(&marker);
    match file.and_then(|mut file| file.write_all(TEXT.as_bytes())) {
        Ok(()) => Ok(true),
        // Another disklab claims it too: the run's lock decides between them.
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(StoreError::io("cannot make", &marker)(e)),
    }
}

fn empty_or_own(path: &Path) -> Result<(), StoreError> {
    let mut entries = std::fs::read_dir(path).map_err(StoreError::io("cannot read", path))?;
    let Some(first) = entries.next() else { return Ok(()) };
    if is_own(path) {
        return Ok(());
    }
    let first = first.map_err(StoreError::io("cannot read", path))?;
    Err(StoreError::NotEmpty {
        path: path.to_owned(),
        found: first.file_name().to_string_lossy().into_owned(),
    })
}

/// Whether there is a marker: a regular file, not a link to one.
fn is_own(path: &Path) -> bool {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let open =
        OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path.join(MARKER));
    let text = open.and_then(|file: File| {
        let mut text = String::new();
        let is_file = file.metadata()?.is_file();
        file.take(TEXT.len() as u64).read_to_string(&mut text)?;
        Ok(if is_file { text } else { String::new() })
    });
    // One that was cut off while it was written is empty.
    text.is_ok_and(|text| TEXT.starts_with(&text))
}

/// Refuses links of other users, and for root a directory that another user may change or put
/// another in the place of, so that a link could come at any moment. That of the user who became
/// root by sudo is the user's own.
///
/// # Errors
/// [`StoreError::OthersPath`].
pub(crate) fn safe_for_root(path: &Path) -> Result<(), StoreError> {
    match refuse_others_directories(path) {
        // What the system says of a path is said where it is used.
        Ok(()) | Err(NamedPathError::Io(_)) if !geteuid().is_root() => return Ok(()),
        result => result.map_err(|e| unsafe_path("cannot use", path, e))?,
    }
    // Here the sticky bit does not suffice: others add files.
    let Ok(metadata) = path.metadata() else { return Ok(()) };
    let Some(who) = OtherWriters::new(&metadata).filter(|_| metadata.is_dir()) else {
        return Ok(());
    };
    let (path, directory) = (path.to_owned(), path.to_owned());
    Err(StoreError::OthersPath(NamedPathError::OthersDirectory { path, directory, who }))
}

fn unsafe_path(what: &'static str, path: &Path, error: NamedPathError) -> StoreError {
    match error {
        NamedPathError::Io(source) => StoreError::io(what, path)(source),
        error => StoreError::OthersPath(error),
    }
}

fn writable(path: &Path) -> Result<(), StoreError> {
    access(path, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|e| StoreError::io("cannot write into", path)(e.into()))
}

/// The nearest directory above `path`, at which nothing is: a file in its way is another error.
fn existing_parent(path: &Path) -> &Path {
    path.ancestors()
        .skip(1)
        .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
        .find(|parent| parent.is_dir())
        .unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn claim_takes_new_and_empty_directories_and_its_own() {
        let temp = tempfile::tempdir().expect("temp");
        let empty = temp.path().join("empty");
        std::fs::create_dir(&empty).expect("make");
        for path in [temp.path().join("new/below"), empty] {
            DirectoryClaim::check(&path).expect("check");
            DirectoryClaim::make(&path).expect("claim").keep();
            std::fs::write(path.join("report.html"), "own").expect("write");
            DirectoryClaim::make(&path).expect("its own").keep();
            assert!(path.join("report.html").exists());
        }
    }

    #[test]
    fn dropped_claim_leaves_things_as_they_were() {
        let temp = tempfile::tempdir().expect("temp");
        let (new, empty) = (temp.path().join("new"), temp.path().join("empty"));
        std::fs::create_dir(&empty).expect("make");
        drop(DirectoryClaim::make(&new).expect("claim"));
        drop(DirectoryClaim::make(&empty).expect("claim"));
        assert!(!new.exists());
        assert_eq!(std::fs::read_dir(&empty).expect("read").count(), 0);
    }

    #[test]
    fn directories_of_the_user_are_refused_and_left_alone() {
        let temp = tempfile::tempdir().expect("temp");
        let marker = temp.path().join("text");
        std::fs::write(&marker, TEXT).expect("write");
        for case in ["file", "link", "other-marker", "directory-as-marker"] {
            let path = temp.path().join(case);
            std::fs::create_dir(&path).expect("make");
            match case {
                "file" => std::fs::write(path.join("report.html"), "mine"),
                "link" => symlink(&marker, path.join(MARKER)),
                "other-marker" => std::fs::write(path.join(MARKER), "something else"),
                _ => std::fs::create_dir(path.join(MARKER)),
            }
            .expect(case);
            for error in [DirectoryClaim::check(&path), DirectoryClaim::make(&path).map(drop)] {
                let error = error.expect_err(case);
                assert!(matches!(error, StoreError::NotEmpty { .. }), "{case}: {error}");
                assert!(error.to_string().contains("new or empty directory"), "{error}");
            }
            assert_eq!(std::fs::read_dir(&path).expect("read").count(), 1, "{case}");
        }
        assert_eq!(std::fs::read_to_string(&marker).expect("read"), TEXT);
    }

    #[test]
    fn places_that_cannot_be_written_are_found_without_a_change() {
        let temp = tempfile::tempdir().expect("temp");
        std::fs::write(temp.path().join("file"), "").expect("write");
        for path in ["file", "file/run", "file/a/run"] {
            let path = temp.path().join(path);
            DirectoryClaim::check(&path).expect_err("not a directory");
            DirectoryClaim::make(&path).expect_err("not a directory");
        }
        assert_eq!(std::fs::read_dir(temp.path()).expect("read").count(), 1);
    }

    #[test]
    fn a_marker_is_made_once_and_one_that_cannot_be_made_is_an_error() {
        let temp = tempfile::tempdir().expect("temp");
        let marked = [(); 2].map(|()| mark(temp.path()).expect("a marker"));
        assert_eq!(marked, [true, false]);
        mark(&temp.path().join("gone")).expect_err("no directory");
    }

    #[test]
    fn root_follows_no_link_of_another_user() {
        use std::fs::Permissions;
        use std::os::unix::fs::{PermissionsExt, chown, lchown};
        let temp = tempfile::tempdir().expect("temp");
        let at = |name: &str| temp.path().join(name);
        for name in ["target", "theirs", "theirs/roots", "open"] {
            std::fs::create_dir(at(name)).expect("make");
        }
        symlink(at("target"), at("link")).expect("link");
        symlink(at("target/new"), at("dangling")).expect("link");
        std::fs::set_permissions(at("open"), Permissions::from_mode(0o1777)).expect("mode");
        std::fs::write(at("theirs").join(MARKER), TEXT).expect("write");
        let other = Some(65_534);
        if lchown(at("link"), other, None).is_err() {
            eprintln!("skipped: needs root");
            return;
        }
        lchown(at("dangling"), other, None).expect("owner");
        chown(at("theirs"), other, None).expect("owner");
        let renamed = ["theirs/new", "theirs/roots", "theirs/roots/new"];
        for name in [&["link", "link/below", "dangling", "theirs", "open"], &renamed[..]].concat() {
            let claimed =
                [DirectoryClaim::check(&at(name)), DirectoryClaim::make(&at(name)).map(drop)];
            for error in claimed.map(|claimed| claimed.expect_err(name)) {
                assert!(matches!(error, StoreError::OthersPath(_)), "{name}: {error}");
            }
        }
        assert_eq!(std::fs::read_dir(at("target")).expect("read").count(), 0);
    }
}
