//! What a drive writes to its own medium, behind what it is given: garbage that it
//! collects, caches that it empties, bands that it cleans.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::{Advice, fadvise};

use crate::SystemRoot;
use crate::block::BlockDevice;

/// Where a guest of the lab finds a file `medium-NAME` for each drive that tells: bytes
/// written so far, as a decimal number. It is the lab's directory as the guest mounts it.
pub const MEDIUM_DIRECTORY: &str = "/run/disklab/lab";
/// No number is longer.
const TEXT_BYTES: usize = 32;

/// A drive that tells.
#[derive(Debug)]
pub(crate) struct MediumCounter {
    file: File,
    before: u64,
}

impl MediumCounter {
    /// That of a whole device; nothing where it does not tell, as no drive outside of
    /// the lab does.
    pub fn of(root: &SystemRoot, device: &BlockDevice) -> Option<Self> {
        let path = format!("{MEDIUM_DIRECTORY}/medium-{}", device.name());
        let file = File::open(root.path(path)).ok()?;
        let before = read(&file)?;
        Some(Self { file, before })
    }

    /// Bytes written since it was looked up.
    pub fn written(&self) -> Option<u64> {
        Some(read(&self.file)?.saturating_sub(self.before))
    }
}

fn read(file: &File) -> Option<u64> {
    // The page cache does not know that the host has written.
    let _ = fadvise(file, 0, None, Advice::DontNeed);
    let mut buffer = [0; TEXT_BYTES];
    let length = file.read_at(&mut buffer, 0).ok()?;
    std::str::from_utf8(&buffer[..length]).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn writes_since_the_start_are_counted() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("vda", (254, 0), "A");
        let device = BlockDevice::at(&tree.root(), "/dev/vda".as_ref()).expect("device");
        assert!(MediumCounter::of(&tree.root(), &device).is_none(), "it does not tell");
        let file = format!("{MEDIUM_DIRECTORY}/medium-vda");
        tree.file(&file, "00000000000000001000\n");
        let medium = MediumCounter::of(&tree.root(), &device).expect("tells");
        tree.file(&file, "00000000000000005096\n");
        assert_eq!(medium.written(), Some(4096));
        tree.file(&file, "what?");
        assert_eq!(medium.written(), None);
    }

    proptest! {
        #[test]
        fn hostile_text_does_no_harm(text in "\\PC{0,50}|[0-9]{0,40}") {
            let directory = tempfile::tempdir().expect("temp");
            let path = directory.path().join("medium");
            std::fs::write(&path, &text).expect("file");
            let read = read(&File::open(&path).expect("file"));
            prop_assert!(read.is_none() || text.trim().parse::<u64>().is_ok());
        }
    }
}
