//! Whether a state directory and its ledgers are ours: what they list is removed,
//! with the rights of their reader.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::geteuid;

use super::Distrust;
use crate::StackError;

/// Permissions that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// Creates the state directory if it is missing, for this user alone.
///
/// # Errors
/// If it cannot be created, or is not to be trusted.
pub(super) fn create_directory(path: &Path) -> Result<(), StackError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|e| StackError::io("cannot create the directory", path, e))?;
    check_directory(path).map(|_| ())
}

/// Checks the state directory; false if there is none.
///
/// # Errors
/// If it cannot be opened, or is not to be trusted.
pub(super) fn check_directory(path: &Path) -> Result<bool, StackError> {
    let directory = match open(path, OpenOptions::new().read(true), OFlags::DIRECTORY) {
        Ok(directory) => directory,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) if is_wrong_kind(&e) => return Err(distrust(path, Distrust::Kind)),
        Err(e) => return Err(StackError::io("cannot read the directory", path, e)),
    };
    let metadata = directory.metadata().map_err(|e| StackError::io("cannot look at", path, e))?;
    match distrusted(&metadata) {
        Some(why) => Err(distrust(path, why)),
        None => Ok(true),
    }
}

/// Opens a ledger to read and append; `None` if it is gone.
///
/// # Errors
/// If it cannot be opened, or is not to be trusted.
pub(super) fn open_ledger(path: &Path) -> Result<Option<File>, StackError> {
    let file = match open(path, OpenOptions::new().read(true).append(true), OFlags::NONBLOCK) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) if is_wrong_kind(&e) => return Err(distrust(path, Distrust::Kind)),
        // One that we may not open is not ours; its owner says so better.
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            let metadata = path.symlink_metadata().ok();
            return Err(match metadata.as_ref().and_then(distrusted) {
                Some(why) => distrust(path, why),
                None => StackError::io("cannot open the ledger", path, e),
            });
        }
        Err(e) => return Err(StackError::io("cannot open the ledger", path, e)),
    };
    let metadata = file.metadata().map_err(|e| StackError::io("cannot look at", path, e))?;
    let why = if metadata.is_file() {
        distrusted(&metadata)
            .or_else(|| Some(Distrust::Links(metadata.nlink())).filter(|_| metadata.nlink() > 1))
    } else {
        Some(Distrust::Kind)
    };
    why.map_or(Ok(Some(file)), |why| Err(distrust(path, why)))
}

fn open(path: &Path, options: &mut OpenOptions, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
}

/// open(2): ELOOP for a link under `O_NOFOLLOW`, ENOTDIR under `O_DIRECTORY`,
/// EISDIR and ENXIO for what cannot be written as a file.
fn is_wrong_kind(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO)
    )
}

fn distrusted(metadata: &std::fs::Metadata) -> Option<Distrust> {
    let own = geteuid().as_raw();
    if metadata.uid() != own {
        return Some(Distrust::Owner { owner: metadata.uid(), own });
    }
    let mode = metadata.mode() & 0o7777;
    (mode & OTHERS_WRITE != 0).then_some(Distrust::Mode(mode))
}

fn distrust(path: &Path, why: Distrust) -> StackError {
    StackError::Untrusted { path: path.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn why<T: std::fmt::Debug>(result: Result<T, StackError>) -> Distrust {
        match result {
            Err(StackError::Untrusted { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn directories_that_others_control_are_refused() {
        let temp = tempfile::tempdir().expect("temp");
        let state = temp.path().join("state/ledger");
        assert!(!check_directory(&state).expect("missing"));
        create_directory(&state).expect("created");
        assert!(check_directory(&state).expect("ours"));
        for mode in [0o720, 0o702, 0o777, 0o1777] {
            std::fs::set_permissions(&state, Permissions::from_mode(mode)).expect("mode");
            assert_eq!(why(check_directory(&state)), Distrust::Mode(mode));
            assert_eq!(why(create_directory(&state)), Distrust::Mode(mode));
        }
        std::fs::set_permissions(&state, Permissions::from_mode(0o755)).expect("mode");
        let link = temp.path().join("link");
        symlink(&state, &link).expect("link");
        assert_eq!(why(check_directory(&link)), Distrust::Kind);
        let file = temp.path().join("file");
        std::fs::write(&file, "").expect("file");
        assert_eq!(why(check_directory(&file)), Distrust::Kind);
        if geteuid().is_root() {
            std::os::unix::fs::chown(&state, Some(1000), None).expect("chown");
            assert_eq!(why(check_directory(&state)), Distrust::Owner { owner: 1000, own: 0 });
        } else {
            eprintln!("skipped: needs root to give a directory to another user");
        }
    }

    #[test]
    fn ledgers_that_others_control_are_refused() {
        let temp = tempfile::tempdir().expect("temp");
        let path = temp.path().join("ledger-1-0.jsonl");
        assert!(open_ledger(&path).expect("missing").is_none());
        std::fs::write(&path, "").expect("file");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("mode");
        assert!(open_ledger(&path).expect("ours").is_some());
        let other = temp.path().join("other");
        std::fs::hard_link(&path, &other).expect("link");
        assert_eq!(why(open_ledger(&path)), Distrust::Links(2));
        std::fs::remove_file(&other).expect("remove");
        symlink(&path, &other).expect("link");
        assert_eq!(why(open_ledger(&other)), Distrust::Kind);
        assert_eq!(why(open_ledger(temp.path())), Distrust::Kind);
        std::fs::set_permissions(&path, Permissions::from_mode(0o660)).expect("mode");
        assert_eq!(why(open_ledger(&path)), Distrust::Mode(0o660));
        let pipe = temp.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(open_ledger(&pipe).is_err());
        }
    }
}
