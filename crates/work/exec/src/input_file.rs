//! Files that the user names to be read: a text, a pipe from another program, or a mistake.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Texts that people write are shorter than this.
pub const LARGEST_TEXT: u64 = 4 << 20;

/// Reads all of what has this path, of which only up to `most` bytes are expected. A device such
/// as `/dev/zero` has no end, and no size that would say so.
///
/// # Errors
/// What the system says, and [`io::ErrorKind::FileTooLarge`] if there is more.
pub fn read_input(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    let what = format!("it has more than {most} bytes");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_end_are_refused() {
        let error = read_input(Path::new("/dev/zero"), 1 << 20).expect_err("too large");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it has more than 1048576 bytes");
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().join("text");
        std::fs::write(&path, "text").expect("write");
        assert_eq!(read_input(&path, 4).expect("read"), b"text");
        assert!(read_input(&path, 3).is_err());
    }
}
