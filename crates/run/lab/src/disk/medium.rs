//! What a drive writes to its own medium, reported to the guest.
//!
//! A solid-state or shingled drive writes more than it is given: it collects garbage,
//! folds and cleans. Real ones report that in SMART; those of the lab in a file in the
//! lab's directory for each, which the guest can read at any moment of its time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::LabError;
use disklab_lab_guest::medium_file;

/// A `u64` has as many digits.
const DIGITS: usize = 20;

/// The file of one drive. Until the guest is told otherwise, it holds 0.
#[derive(Debug)]
pub(crate) struct MediumFile {
    file: File,
    reported: u64,
}

impl MediumFile {
    /// The file of the disk of this name, in the lab's directory.
    pub fn new(directory: &Path, disk: &str) -> Result<Self, LabError> {
        let path = directory.join(medium_file(disk));
        let what = || format!("make '{}'", path.display());
        let file = File::create(&path).map_err(LabError::system(what()))?;
        let mut medium = Self { file, reported: u64::MAX };
        medium.tell(0)?;
        Ok(medium)
    }

    /// Tells the bytes that were written to the medium so far.
    pub fn tell(&mut self, bytes: u64) -> Result<(), LabError> {
        if bytes != self.reported {
            let text = format!("{bytes:0DIGITS$}\n");
            let what = "tell what a drive wrote to its medium";
            self.file.write_all_at(text.as_bytes(), 0).map_err(LabError::system(what))?;
            self.reported = bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_what_was_reported_last() {
        let directory = tempfile::tempdir().unwrap();
        let mut medium = MediumFile::new(directory.path(), "vdab").unwrap();
        let read = || std::fs::read_to_string(directory.path().join("medium-vdab")).unwrap();
        assert_eq!(read().trim().parse(), Ok(0_u64));
        for bytes in [1 << 30, u64::MAX, 7] {
            medium.tell(bytes).unwrap();
            assert_eq!((read().trim().parse(), read().len()), (Ok(bytes), DIGITS + 1));
        }
        assert!(MediumFile::new(Path::new("/no/such"), "vda").is_err());
    }
}
