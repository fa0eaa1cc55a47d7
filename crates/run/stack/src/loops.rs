//! Loop devices, as sysfs shows them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What the kernel appends to the name of a backing file that was removed.
const DELETED: &[u8] = b" (deleted)";

/// The loop devices, such as `/dev/loop3`, that are attached to this file.
pub(crate) fn loops_on(file: &Path) -> Vec<PathBuf> {
    loops_below(Path::new("/sys/block"), file)
}

fn loops_below(sys_block: &Path, file: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(sys_block).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.as_bytes().starts_with(b"loop")
            && let Ok(shown) = std::fs::read(entry.path().join("loop/backing_file"))
            && is_file(shown, file)
        {
            found.push(Path::new("/dev").join(name));
        }
    }
    found.sort();
    found
}

/// Whether a backing file as shown in sysfs is `file`.
fn is_file(mut shown: Vec<u8>, file: &Path) -> bool {
    if shown.last() == Some(&b'\n') {
        shown.pop();
    }
    let name = file.as_os_str().as_bytes();
    if shown == name {
        return true;
    }
    // A file may be called so without having been removed.
    shown.strip_suffix(DELETED).is_some_and(|plain| plain == name)
        && !PathBuf::from(OsString::from_vec(shown.clone())).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_must_be_the_same_whole() {
        let directory = tempfile::tempdir().expect("temp");
        for (device, shown) in [
            ("loop0", "/x/disk\n"),
            ("loop1", "/x/disk2\n"),
            ("loop2", "/x/disk (deleted)\n"),
            ("loop3", "/x/a\nb\n"),
            ("sda", "/x/disk\n"),
        ] {
            let path = directory.path().join(device).join("loop");
            std::fs::create_dir_all(&path).expect("directory");
            std::fs::write(path.join("backing_file"), shown).expect("file");
        }
        std::fs::create_dir_all(directory.path().join("loop9")).expect("directory");
        let on = |file: &str| loops_below(directory.path(), Path::new(file));
        assert_eq!(on("/x/disk"), [Path::new("/dev/loop0"), Path::new("/dev/loop2")]);
        assert_eq!(on("/x/a\nb"), [Path::new("/dev/loop3")]);
        assert!(on("/x/dis").is_empty());
    }
}
