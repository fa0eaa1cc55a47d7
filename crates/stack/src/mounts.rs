//! What is mounted, as the kernel tells it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::StackError;

/// One line of `/proc/self/mountinfo` (proc(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is mounted.
    pub point: PathBuf,
    /// The file system's type, such as `ext4`.
    pub file_system: String,
    /// What is mounted: a device, or a word of the file system's own.
    pub source: PathBuf,
    /// `major:minor` of its device; made up by the kernel where it has none, or
    /// several.
    pub device: String,
}

/// All mounts of this process's name space, in the order of mounting.
///
/// # Errors
/// Where `/proc` cannot be read.
pub fn mounts() -> Result<Vec<Mount>, StackError> {
    let path = Path::new("/proc/self/mountinfo");
    std::fs::read(path)
        .map(|bytes| parse_mountinfo(&bytes))
        .map_err(|e| StackError::io("cannot read", path, e))
}

/// Lines that are none are passed over: the kernel may add fields, but does not
/// change these.
pub(crate) fn parse_mountinfo(bytes: &[u8]) -> Vec<Mount> {
    bytes.split(|b| *b == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|b| *b == b' ').collect();
    // id parent major:minor root point options [optional …] - type source options
    let dash = 6 + fields.get(6..)?.iter().position(|f| *f == b"-")?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(Mount {
        point: unescape(fields.get(4)?),
        file_system: text(fields.get(dash + 1)?),
        source: unescape(fields.get(dash + 2)?),
        device: text(fields.get(2)?),
    })
}

/// Undoes the kernel's escapes: space, tab, newline and backslash are shown as
/// a backslash and three octal digits (`mangle_path` in fs/seq_file.c).
fn unescape(bytes: &[u8]) -> PathBuf {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .filter(|digits| *first == b'\\' && digits.iter().all(|d| (b'0'..=b'7').contains(d)))
            .map(|digits| digits.iter().fold(0_u32, |n, d| n * 8 + u32::from(d - b'0')))
            .and_then(|n| u8::try_from(n).ok());
        match octal {
            Some(byte) => {
                plain.push(byte);
                rest = &after[3..];
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let text =
            b"36 35 98:0 /mnt1 /mnt/a\\040b rw,noatime master:1 shared:2 - ext3 /dev/root rw\n\
            22 27 0:21 / /proc rw,relatime - proc proc rw\nnonsense\n";
        let mounts = parse_mountinfo(text);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[0].point, Path::new("/mnt/a b"));
        assert_eq!(mounts[0].file_system, "ext3");
        assert_eq!(mounts[0].source, Path::new("/dev/root"));
        assert_eq!(mounts[0].device, "98:0");
        assert_eq!(mounts[1].point, Path::new("/proc"));
        assert!(mounts.iter().all(|m| m.point.is_absolute()));
    }

    #[test]
    fn the_root_is_always_mounted() {
        assert!(mounts().expect("mounts").iter().any(|m| m.point == Path::new("/")));
    }

    proptest! {
        #[test]
        fn escapes_read_back(name in "[ -~\t\n]{0,20}") {
            let escaped: String = name
                .chars()
                .map(|c| match c {
                    ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", c as u32),
                    c => c.to_string(),
                })
                .collect();
            prop_assert_eq!(unescape(escaped.as_bytes()), PathBuf::from(name));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_mountinfo(&bytes);
        }
    }
}
