//! Where output of programs is caught.

use std::fs::{File, OpenOptions, remove_file};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

/// A file in memory to catch output: unlike a pipe it cannot fill up and block,
/// and a worker that outlives its parent cannot hold it open.
pub(crate) fn capture(name: &str) -> io::Result<File> {
    match memfd_create(name, MemfdFlags::CLOEXEC) {
        Ok(file) => Ok(File::from(file)),
        // Before Linux 3.17, as on many NAS.
        Err(Errno::NOSYS) => {
            unnamed(Path::new("/dev/shm")).or_else(|_| unnamed(&std::env::temp_dir()))
        }
        Err(e) => Err(e.into()),
    }
}

/// A file in a directory that loses its name at once, so that it ends with its last user.
fn unnamed(directory: &Path) -> io::Result<File> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!(".disklab-{}-{number}", std::process::id()));
    let mut options = OpenOptions::new();
    // Never one that is there: someone else may have made it.
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn unnamed_file_keeps_what_is_written_and_leaves_nothing() {
        let directory = tempfile::tempdir().expect("temp");
        let mut file = unnamed(directory.path()).expect("a file");
        assert_eq!(std::fs::read_dir(directory.path()).expect("read").count(), 0);
        file.write_all(b"said").expect("written");
        file.rewind().expect("rewound");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("read");
        assert_eq!(text, "said");
        assert!(unnamed(Path::new("/nowhere")).is_err());
    }
}
