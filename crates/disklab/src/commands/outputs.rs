//! Files that commands write: never half of one, never through a link that nobody named, and
//! never in place of what disklab did not write.

mod part_file;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use disklab_exec::{NamedPathError, follow_own_links, open_real_directory, open_regular};
use disklab_measure::{FileUse, FileUses, SystemRoot};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;

use crate::exit::Failure;
use part_file::PartFile;

/// How much of a file says what it is.
const HEAD_BYTES: u64 = 4096;

/// Why an output was not written.
#[derive(Debug)]
pub enum OutputError {
    /// The system's reason.
    Io { path: PathBuf, source: io::Error },
    /// Something else has the name.
    Unexpected { path: PathBuf },
    /// The name is that of a file that does not hold text, as all outputs do.
    NotText { path: PathBuf },
    /// The kernel uses the file.
    InUse { path: PathBuf, used: FileUse },
    /// The name is that of a drive, whose data it would overwrite.
    BlockDevice { path: PathBuf },
    /// A link of another user's is on the way, or others could put one there.
    OthersPath(NamedPathError),
}

impl std::fmt::Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Self::Unexpected { path } => write!(
                f,
                "{} was not written by disklab and is left as it is; move it away",
                path.display()
            ),
            Self::NotText { path } => {
                write!(f, "{} is not text, and is left as it is; give another name", path.display())
            }
            Self::InUse { path, used } => {
                write!(f, "{} is left as it is: {used}", path.display())
            }
            Self::BlockDevice { path } => {
                write!(f, "{} is a block device; give the name of a file", path.display())
            }
            Self::OthersPath(error) => error.fmt(f),
        }
    }
}

impl OutputError {
    /// The user named a place that cannot be written to.
    pub fn into_usage_error(self) -> Failure {
        Failure::usage_error(self)
    }

    fn io(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }
}

/// Writes the file `name` in a directory of outputs and returns its path. What has the name
/// already is replaced only if it is a regular file whose beginning `is_own` accepts.
pub fn write_own(
    directory: &Path,
    name: &str,
    text: &str,
    is_own: impl Fn(&str) -> bool,
) -> Result<PathBuf, OutputError> {
    let path = check_own(directory, name, is_own)?;
    // The directory itself may be a link that the user has named.
    let parent = without_links(parent_of(&path))?.and_then(|real| open_real_directory(&real));
    replace(&path, parent.map_err(OutputError::io(&path))?, text)?;
    Ok(path)
}

/// Checks that [`write_own`] would write there, and returns the path.
pub fn check_own(
    directory: &Path,
    name: &str,
    is_own: impl Fn(&str) -> bool,
) -> Result<PathBuf, OutputError> {
    let path = directory.join(name);
    // What leads nowhere fails below, by what the system says of the file.
    let _ = without_links(directory)?;
    match path.symlink_metadata() {
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(source) => return Err(OutputError::Io { path, source }),
        Ok(there) if !there.is_file() => return Err(OutputError::Unexpected { path }),
        Ok(_) => {
            if !is_own(&head(&path).map_err(OutputError::io(&path))?) {
                return Err(OutputError::Unexpected { path });
            }
        }
    }
    Ok(path)
}

/// Checks that an output would not overwrite a drive.
///
/// # Errors
/// [`OutputError::BlockDevice`] if the name, or what it links to, is one.
fn refuse_block_device(path: &Path) -> Result<(), OutputError> {
    if path.metadata().is_ok_and(|there| there.file_type().is_block_device()) {
        return Err(OutputError::BlockDevice { path: path.to_owned() });
    }
    Ok(())
}

/// Checks that [`write_named`] would write there, and returns the path without links if it is
/// that of a file. A link is followed if this user or root made it: root would replace whatever
/// a link of another user's leads to. A file that is not text is not replaced: a run's database,
/// an archive or a disk's image was named by mistake.
///
/// # Errors
/// [`OutputError`] if the name is that of a drive or of a file that is not text, if a link of
/// another user's is on the way, or if the path cannot be looked up.
pub fn check_named(path: &Path) -> Result<Option<PathBuf>, OutputError> {
    refuse_block_device(path)?;
    let real = without_links(path)?;
    // What `/dev/stdout` leads to, such as a pipe, has no path.
    let is_file = match path.metadata() {
        Ok(there) => there.is_file(),
        Err(_) => true,
    };
    if !is_file {
        return Ok(None);
    }
    let real = real.map_err(OutputError::io(path))?;
    if let Some(used) = FileUses::now(&SystemRoot::here()).at(&real) {
        return Err(OutputError::InUse { path: path.to_owned(), used });
    }
    if real.exists() && head(&real).map_err(OutputError::io(path))?.contains('\0') {
        return Err(OutputError::NotText { path: path.to_owned() });
    }
    Ok(Some(real))
}

/// Writes the file that the user named, as [`check_named`] permits. A character device or a pipe
/// is written to.
pub fn write_named(path: &Path, text: &str) -> Result<(), OutputError> {
    let Some(real) = check_named(path)? else {
        return open_special(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(OutputError::io(path));
    };
    let parent = open_real_directory(parent_of(&real)).map_err(OutputError::io(path))?;
    replace(&real, parent, text)
}

/// Opens a device or a pipe to be written, without waiting for a program that reads.
fn open_special(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().write(true).custom_flags(flags.bits() as i32).open(path);
    let file = file.map_err(|e| match Errno::from_io_error(&e) {
        Some(Errno::NXIO) => io::Error::other("no program reads from it"),
        _ => e,
    })?;
    // A program that reads slowly is waited for.
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

/// The path without links, or why the system does not say.
///
/// # Errors
/// [`OutputError::OthersPath`] if one is neither root's nor this user's.
fn without_links(path: &Path) -> Result<io::Result<PathBuf>, OutputError> {
    match follow_own_links(path) {
        Ok(real) => Ok(Ok(real)),
        Err(NamedPathError::Io(source)) => Ok(Err(source)),
        Err(others) => Err(OutputError::OthersPath(others)),
    }
}

/// The directory of a file.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn head(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(HEAD_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes a file in `parent` as a whole: there is never half of it, and nothing else of it if this
/// process is killed. The directory is held open meanwhile: nobody can put a link in its place.
fn replace(path: &Path, parent: OwnedFd, text: &str) -> Result<(), OutputError> {
    let wrong = OutputError::io(path);
    let name = path.file_name().ok_or_else(|| wrong(ErrorKind::InvalidFilename.into()))?;
    part_file::sweep(&parent);
    let unfinished = PartFile::new(&parent, text).map_err(&wrong)?;
    unfinished.rename(name).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_outputs_of_disklab_are_replaced() {
        let temp = tempfile::tempdir().expect("temp");
        let write = |name: &str| write_own(temp.path(), name, "new\n", |head| head == "old\n");
        let read = |name: &str| std::fs::read_to_string(temp.path().join(name)).expect("read");
        std::fs::write(temp.path().join("old"), "old\n").expect("write");
        std::fs::write(temp.path().join("mine"), "mine\n").expect("write");
        std::fs::create_dir(temp.path().join("directory")).expect("make");
        symlink(temp.path().join("old"), temp.path().join("link")).expect("link");
        for name in ["mine", "directory", "link"] {
            let error = write(name).expect_err(name);
            assert!(matches!(error, OutputError::Unexpected { .. }), "{name}: {error}");
        }
        assert_eq!((read("mine"), read("old")), ("mine\n".to_owned(), "old\n".to_owned()));
        assert!(temp.path().join("link").is_symlink());
        for name in ["fresh", "old"] {
            write(name).expect(name);
            assert_eq!(read(name), "new\n");
        }
        assert_eq!(std::fs::read_dir(temp.path()).expect("read").count(), 5, "no part is left");
    }

    #[test]
    fn block_device_is_no_output() {
        let mut nodes = std::fs::read_dir("/sys/class/block").into_iter().flatten().flatten();
        let node = nodes.find_map(|entry| {
            let node = Path::new("/dev").join(entry.file_name());
            node.exists().then_some(node)
        });
        let Some(node) = node else {
            eprintln!("skipped: needs a block device");
            return;
        };
        let temp = tempfile::tempdir().expect("temp");
        let link = temp.path().join("drive");
        symlink(&node, &link).expect("linked");
        for path in [&node, &link] {
            // The check alone: nothing is lost if it fails.
            let refused = refuse_block_device(path).expect_err("refused");
            assert_eq!(refused.into_usage_error().code, crate::exit::USAGE_ERROR);
        }
        refuse_block_device(Path::new("/dev/null")).expect("no block device");
        refuse_block_device(&temp.path().join("none")).expect("nothing");
    }

    #[test]
    fn a_named_file_that_is_no_text_is_left_as_it_is() {
        let temp = tempfile::tempdir().expect("temp");
        let (file, link) = (temp.path().join("run.sqlite"), temp.path().join("link"));
        std::fs::write(&file, "SQLite format 3\0").expect("write");
        symlink(&file, &link).expect("link");
        for path in [&file, &link] {
            let error = write_named(path, "new").expect_err("refused");
            assert!(error.to_string().contains("is not text"), "{error}");
        }
        assert_eq!(std::fs::read(&file).expect("read"), b"SQLite format 3\0");
    }

    #[test]
    fn named_file_may_be_a_device_or_a_link() {
        let temp = tempfile::tempdir().expect("temp");
        let (file, link) = (temp.path().join("file"), temp.path().join("link"));
        std::fs::write(&file, "old").expect("write");
        symlink(&file, &link).expect("link");
        // What a name for an unfinished file could have been.
        let part = temp.path().join("link.part");
        symlink(&file, &part).expect("link");
        write_named(&link, "new").expect("written");
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "new");
        assert!(link.is_symlink() && part.is_symlink());
        write_named(Path::new("/dev/null"), "new").expect("written");
        assert!(!Path::new("/dev/null").metadata().expect("metadata").is_file());
        write_named(&temp.path().join("none/file"), "new").expect_err("no directory");
        write_named(Path::new("/"), "new").expect_err("a directory");
    }

    #[test]
    fn fifo_without_a_reader_is_not_waited_for() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let temp = tempfile::tempdir().expect("temp");
        let fifo = temp.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).expect("a FIFO");
        let error = write_named(&fifo, "new").expect_err("nobody reads");
        assert!(error.to_string().ends_with("fifo: no program reads from it"), "{error}");
        let error = write_own(temp.path(), "fifo", "new", |_| true).expect_err("not a file");
        assert!(matches!(error, OutputError::Unexpected { .. }), "{error}");
        let copy = File::create(temp.path().join("copy")).expect("made");
        let mut reader = std::process::Command::new("cat");
        let mut reader = reader.arg(&fifo).stdout(copy).spawn().expect("cat");
        let text = "x".repeat(1 << 20);
        // It may still be starting.
        while write_named(&fifo, &text).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(reader.wait().expect("ended").success());
        let copied = std::fs::metadata(temp.path().join("copy")).expect("a copy").len();
        assert_eq!(copied, text.len() as u64, "more than a pipe holds");
    }

    #[test]
    fn a_link_of_another_user_is_not_followed() {
        use std::os::unix::fs::lchown;
        let temp = tempfile::tempdir().expect("temp");
        let (etc, shared) = (temp.path().join("etc"), temp.path().join("shared"));
        for directory in [&etc, &shared] {
            std::fs::create_dir(directory).expect("made");
        }
        let passwd = etc.join("passwd");
        std::fs::write(&passwd, "root:x:0:0\n").expect("written");
        let (to_file, to_new, to_directory) =
            (shared.join("report.html"), shared.join("new.html"), shared.join("reports"));
        symlink(&passwd, &to_file).expect("link");
        symlink(etc.join("cron"), &to_new).expect("link");
        symlink(&etc, &to_directory).expect("link");
        for link in [&to_file, &to_new, &to_directory] {
            if lchown(link, Some(65_534), None).is_err() {
                eprintln!("skipped: needs root");
                return;
            }
        }
        for path in [to_file, to_new, to_directory.join("passwd"), to_directory.join("cron")] {
            let error = write_named(&path, "new").expect_err("another user's link");
            assert!(matches!(error, OutputError::OthersPath(_)), "{}: {error}", path.display());
            assert_eq!(error.into_usage_error().code, crate::exit::USAGE_ERROR);
        }
        let error = write_own(&shared.join("reports"), "cron", "new", |_| true).expect_err("link");
        assert!(matches!(error, OutputError::OthersPath(_)), "{error}");
        assert_eq!(std::fs::read_to_string(&passwd).expect("read"), "root:x:0:0\n");
        assert_eq!(std::fs::read_dir(&etc).expect("read").count(), 1);
    }
}
