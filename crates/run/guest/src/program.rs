//! Which program is a guest's first.
//!
//! All of it is read into the guest's memory and linked anew at each boot, which took 26 of 65 ms with
//! the 39 MB of `disklab` in the quick build (docs/internals/lab-speed.md). So the guests' is a program
//! of its own, which lies next to it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use disklab_exec::close_inherited;

/// Of what sources this program was built.
pub const BUILD: &str = env!("DISKLAB_GUEST_BUILD");
/// The program's name, next to disklab's.
const NAME: &str = "disklab-guest";
/// The argument to which it answers with its [`BUILD`].
pub const BUILD_OPTION: &str = "--build";

/// The program for guests next to this one; this one, which can do the same more slowly, where
/// there is none, or one of another build or of another user.
///
/// # Errors
/// If this program does not find itself: it was replaced or deleted.
pub fn guest_program() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let sibling = own.with_file_name(NAME);
    match check(&own, &sibling) {
        Ok(()) => Ok(sibling),
        Err(why) => {
            tracing::info!("guests boot more slowly, with '{}': {why}", own.display());
            Ok(own)
        }
    }
}

/// Why a program next to this one is not used.
#[derive(Debug, thiserror::Error)]
enum ProgramProblem {
    #[error("'{}' is not there: {source}", path.display())]
    Missing { path: PathBuf, source: io::Error },
    #[error("'{}' does not belong to disklab's owner, or others can write to it", .0.display())]
    OfOthers(PathBuf),
    #[error("'{}' does not start: {source}", path.display())]
    Start { path: PathBuf, source: io::Error },
    #[error("'{}' is of another build", .0.display())]
    OtherBuild(PathBuf),
}

fn check(own: &Path, path: &Path) -> Result<(), ProgramProblem> {
    let missing = |source| ProgramProblem::Missing { path: path.to_owned(), source };
    let (own, file) = fs::symlink_metadata(path)
        .and_then(|file| Ok((fs::metadata(own)?, file)))
        .map_err(missing)?;
    // In a directory like /tmp another user could have put it there.
    if !file.is_file() || file.uid() != own.uid() || file.mode() & 0o022 & !own.mode() != 0 {
        return Err(ProgramProblem::OfOthers(path.to_owned()));
    }
    let answer = close_inherited(&mut Command::new(path))
        .arg(BUILD_OPTION)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|source| ProgramProblem::Start { path: path.to_owned(), source })?;
    if answer.stdout.trim_ascii() == BUILD.as_bytes() {
        Ok(())
    } else {
        Err(ProgramProblem::OtherBuild(path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A program `disklab-guest` that answers with `build`, and the one that it lies next to.
    fn pair(directory: &Path, build: &str) -> (PathBuf, PathBuf) {
        let own = directory.join("disklab");
        let path = directory.join(NAME);
        fs::write(&own, "").unwrap();
        fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = {BUILD_OPTION} ] && echo {build}\n"))
            .unwrap();
        for file in [&own, &path] {
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        (own, path)
    }

    #[test]
    fn program_of_this_build_is_used() {
        let directory = tempfile::tempdir().unwrap();
        let (own, path) = pair(directory.path(), BUILD);
        check(&own, &path).unwrap();
    }

    #[test]
    fn missing_program_and_one_of_another_build_are_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let (own, path) = pair(directory.path(), "0123456789abcdef");
        let error = check(&own, &path).unwrap_err();
        assert!(matches!(error, ProgramProblem::OtherBuild(_)), "{error}");
        fs::remove_file(&path).unwrap();
        let error = check(&own, &path).unwrap_err();
        assert!(matches!(error, ProgramProblem::Missing { .. }), "{error}");
    }

    #[test]
    fn program_that_another_user_could_have_made_is_not_even_started() {
        let directory = tempfile::tempdir().unwrap();
        let started = directory.path().join("started");
        let (own, path) =
            pair(directory.path(), &format!("{BUILD}; touch '{}'", started.display()));
        // Another may write it.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o757)).unwrap();
        let error = check(&own, &path).unwrap_err();
        assert!(matches!(error, ProgramProblem::OfOthers(_)), "{error}");
        // It leads elsewhere.
        let elsewhere = directory.path().join("elsewhere");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        let error = check(&own, &path).unwrap_err();
        assert!(matches!(error, ProgramProblem::OfOthers(_)), "{error}");
        // It is another user's.
        fs::remove_file(&path).unwrap();
        fs::rename(&elsewhere, &path).unwrap();
        if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
            let error = check(&own, &path).unwrap_err();
            assert!(matches!(error, ProgramProblem::OfOthers(_)), "{error}");
        } else {
            eprintln!("skipped: needs root to give a file to another user");
        }
        assert!(!started.exists(), "none of these is started");
    }
}
