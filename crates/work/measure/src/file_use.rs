//! Files that the kernel itself uses: to write to one, or to remove it, destroys what is
//! in it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::Metadata;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::mounts::unescape;
use crate::{BlockDevice, SystemRoot};

/// What the kernel uses a file for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileUse {
    /// Active swap space.
    Swap,
    /// It is what this loop device stores its data in.
    Loop(String),
}

impl fmt::Display for FileUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Swap => f.write_str("it is swap space in use; `swapoff` it first"),
            Self::Loop(name) => write!(
                f,
                "the loop device {name} keeps its data in it; `losetup --detach /dev/{name}` first"
            ),
        }
    }
}

/// The files that the kernel uses now, whatever they are called (device and inode).
#[derive(Debug, Clone, Default)]
pub struct FileUses(HashMap<(u64, u64), FileUse>);

impl FileUses {
    /// Asks the kernel.
    pub fn now(root: &SystemRoot) -> Self {
        let mut uses = Self::default();
        let swaps = root.bytes("/proc/swaps").unwrap_or_default();
        for line in swaps.split(|byte| *byte == b'\n').skip(1) {
            let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            uses.add(&root.path(path(unescape(word))), FileUse::Swap);
        }
        for device in BlockDevice::all(root) {
            let Some(file) = device.attribute_bytes("loop/backing_file") else { continue };
            let file = file.trim_ascii_end();
            // Behind that name there is another file by now, if there is any.
            if file.is_empty() || file.ends_with(b" (deleted)") {
                continue;
            }
            let user = FileUse::Loop(device.name().to_owned());
            uses.add(&root.path(path(file.to_vec())), user);
        }
        uses
    }

    fn add(&mut self, path: &Path, used: FileUse) {
        if let Ok(there) = path.metadata()
            && there.is_file()
        {
            self.0.insert((there.dev(), there.ino()), used);
        }
    }

    /// What a file is used for; `None` if for nothing known.
    pub fn of(&self, file: &Metadata) -> Option<&FileUse> {
        self.0.get(&(file.dev(), file.ino()))
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn files_are_known_by_what_they_are_and_not_by_their_names() {
        let folder = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(folder.path());
        for name in ["swap file", "image", "free", "new"] {
            tree.file(&format!("/data/{name}"), "x");
        }
        tree.swap("/data/swap\\040file", "file").swap("/dev/sda1", "partition");
        tree.looped("loop0", (7, 0), "/data/image").looped("loop1", (7, 1), "/data/new (deleted)");
        std::fs::hard_link(tree.path("/data/image"), tree.path("/data/alias")).expect("linked");
        let uses = FileUses::now(&tree.root());
        let of = |name: &str| uses.of(&tree.path(name).metadata().expect("there")).cloned();
        assert_eq!(of("/data/swap file"), Some(FileUse::Swap));
        assert_eq!(of("/data/image"), Some(FileUse::Loop("loop0".to_owned())));
        assert_eq!(of("/data/alias"), of("/data/image"));
        assert_eq!((of("/data/free"), of("/data/new")), (None, None));
    }
}
