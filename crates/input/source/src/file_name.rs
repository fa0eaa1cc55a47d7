//! Names that become part of a path.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::path::Path;

use crate::is_hidden;

/// A name that can be joined to a directory and never leads out of it: one component of a
/// path, with room for an ending. Whatever a study, a job file, a script or another
/// program's output names, and disklab makes a file or a directory of, is one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName(String);

/// Why a text is not a [`FileName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileNameError {
    /// There is nothing.
    Empty,
    /// `.` or `..`, which name other directories.
    Dots,
    /// It contains `/`, so that it names a place elsewhere.
    Slash,
    /// It contains a character that acts instead of showing, such as a control or
    /// bidirectional one.
    Hidden,
    /// It is longer than [`FileName::LONGEST`] bytes.
    TooLong,
}

impl fmt::Display for FileNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = FileName::LONGEST;
        match self {
            Self::Empty => f.write_str("a name cannot be empty"),
            Self::Dots => f.write_str("'.' and '..' are directories, not names"),
            Self::Slash => f.write_str("a name cannot contain '/'"),
            Self::Hidden => f.write_str("a name cannot contain characters that are not visible"),
            Self::TooLong => write!(f, "a name cannot be longer than {longest} bytes"),
        }
    }
}

impl std::error::Error for FileNameError {}

impl FileName {
    /// File systems take 255 bytes (NAME_MAX of Linux); endings and numbers are added.
    pub const LONGEST: usize = 200;

    /// `text` as a name.
    ///
    /// # Errors
    /// Why it is not one.
    ///
    /// ```
    /// use disklab_source::{FileName, FileNameError};
    /// assert_eq!(FileName::new("../precious"), Err(FileNameError::Slash));
    /// assert_eq!(FileName::new("drive-1").unwrap().to_string(), "drive-1");
    /// ```
    pub fn new(text: &str) -> Result<Self, FileNameError> {
        let wrong = match text {
            "" => FileNameError::Empty,
            "." | ".." => FileNameError::Dots,
            text if text.contains('/') => FileNameError::Slash,
            text if text.chars().any(|c| c.is_control() || is_hidden(c)) => FileNameError::Hidden,
            text if text.len() > Self::LONGEST => FileNameError::TooLong,
            text => return Ok(Self(text.to_owned())),
        };
        Err(wrong)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name for something whose own name may have any characters, such as a stack's:
    /// letters, digits and `- _ . = +` are kept, up to `longest` of them, and others become
    /// `_`. Never fails.
    #[must_use]
    pub fn plain(text: &str, longest: usize) -> Self {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.=+".contains(c);
        let longest = longest.min(Self::LONGEST);
        let name: String =
            text.chars().map(|c| if fits(c) { c } else { '_' }).take(longest).collect();
        Self::new(&name).unwrap_or_else(|_| Self("_".to_owned()))
    }
}

impl Deref for FileName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<Path> for FileName {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl AsRef<str> for FileName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for FileName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq<str> for FileName {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for FileName {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for FileName {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl From<FileName> for String {
    fn from(name: FileName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use super::*;

    const HOSTILE: [&str; 14] = [
        "",
        ".",
        "..",
        "/",
        "../x",
        "a/../../x",
        "/etc/passwd",
        "a/",
        "./a",
        "..\0",
        "a\nb",
        "\u{1b}[2J",
        "../../../escape/precious",
        "\u{7f}",
    ];

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for text in HOSTILE {
            FileName::new(text).expect_err(text);
        }
        assert_eq!(FileName::new(&"a".repeat(201)), Err(FileNameError::TooLong));
        for text in ["a", "...", ".hidden", "a b", "hgst-10tb", "é", "a..b", "-"] {
            assert_eq!(FileName::new(text).expect(text), text);
        }
    }

    #[test]
    fn plain_name_is_always_one_component() {
        let long = "é/".repeat(300);
        let texts = HOSTILE.into_iter().chain([&*long, "raid5/ext4[a='../b']", "a:b\\c"]);
        for text in texts {
            let name = FileName::plain(text, 80);
            let path = Path::new("/run").join(&name);
            let last = path.components().next_back();
            assert!(matches!(last, Some(Component::Normal(_))), "{text:?}: {path:?}");
            assert_eq!(path.components().count(), 3, "{text:?}");
            assert!(name.len() <= 80, "{text:?}");
        }
        assert_eq!(FileName::plain("raid5/ext4", 80), "raid5_ext4");
    }
}
