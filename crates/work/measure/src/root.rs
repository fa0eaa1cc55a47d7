//! Where `/proc`, `/sys`, `/dev` and `/etc` are: the real ones, or a tree made
//! up for a test.

use std::io::Read;
use std::path::{Path, PathBuf};

/// No file of `/proc` or `/sys` that is read here is longer than this: 16 MiB.
const READ_LIMIT: u64 = 16 << 20;

/// The directory that holds `proc`, `sys`, `dev` and `etc`: `/` as a rule. Clones
/// name the same directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRoot(PathBuf);

impl Default for SystemRoot {
    fn default() -> Self {
        Self::here()
    }
}

impl SystemRoot {
    /// This machine.
    pub fn here() -> Self {
        Self(PathBuf::from("/"))
    }

    /// A tree made up in `directory`.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// Whether this is the machine itself and no made-up tree.
    pub fn is_here(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// An absolute path, as the system knows it, below this root.
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        self.0.join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// What a path below this root is called inside it: the reverse of
    /// [`SystemRoot::path`].
    pub fn inside(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.0)
            .map_or_else(|_| path.to_owned(), |rest| Path::new("/").join(rest))
    }

    /// A file's bytes; `None` where it cannot be read.
    pub fn bytes(&self, absolute: impl AsRef<Path>) -> Option<Vec<u8>> {
        let file = std::fs::File::open(self.path(absolute)).ok()?;
        let mut bytes = Vec::new();
        file.take(READ_LIMIT).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// A file's text without white space around it, bytes that are no UTF-8
    /// replaced; `None` where it cannot be read.
    pub fn text(&self, absolute: impl AsRef<Path>) -> Option<String> {
        let bytes = self.bytes(absolute)?;
        // Identity strings of drives are padded with NULs now and then.
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
    }

    /// A file's text where there is one and it is not empty.
    pub fn value(&self, absolute: impl AsRef<Path>) -> Option<String> {
        self.text(absolute).filter(|text| !text.is_empty())
    }

    /// Names in a directory, sorted; none where it cannot be read.
    pub fn names(&self, absolute: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(absolute)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_below_the_root_and_back() {
        let root = SystemRoot::at("/tmp/tree");
        assert_eq!(root.path("/proc/stat"), Path::new("/tmp/tree/proc/stat"));
        assert_eq!(root.inside(Path::new("/tmp/tree/dev/sda")), Path::new("/dev/sda"));
        assert_eq!(SystemRoot::here().path("/proc/stat"), Path::new("/proc/stat"));
        assert_eq!(SystemRoot::here().inside(Path::new("/dev/sda")), Path::new("/dev/sda"));
        assert!(SystemRoot::here().is_here() && !root.is_here());
    }

    #[test]
    fn text_is_trimmed_and_absence_is_none() {
        let directory = tempfile::tempdir().expect("temp");
        let root = SystemRoot::at(directory.path());
        std::fs::write(directory.path().join("model"), b" WDC \xff \n\0").expect("write");
        assert_eq!(root.text("/model").as_deref(), Some("WDC \u{fffd}"));
        std::fs::write(directory.path().join("empty"), b"\n").expect("write");
        assert_eq!(root.value("/empty"), None);
        assert_eq!(root.text("/none"), None);
        assert!(root.names("/none").is_empty());
    }
}
