//! What is mounted, from `/proc/self/mountinfo` (man page proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use disklab_sample::MountState;

use crate::SystemRoot;

/// A line of mountinfo: what is mounted, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Major and minor number of the file system's device. Btrfs, ZFS and
    /// network file systems have an anonymous one, with major 0.
    pub device: (u32, u32),
    /// The part of the file system that is mounted; `/` as a rule.
    pub root: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Options of this mount, such as `rw,relatime`.
    pub options: String,
    /// The file system's type.
    pub fs_type: String,
    /// What was mounted, as the file system tells it: mostly a device node.
    pub source: PathBuf,
    /// Options of the file system itself, such as `rw,discard,data=ordered`.
    pub super_options: String,
}

impl Mount {
    /// As a sample keeps it, such as `/dev/md0 /mnt ext4 rw,relatime,stripe=128`.
    pub fn state(&self) -> MountState {
        let mut options: Vec<String> = self.options.split(',').map(str::to_owned).collect();
        for option in self.super_options.split(',') {
            if !options.iter().any(|known| known == option) {
                options.push(option.to_owned());
            }
        }
        MountState {
            source: self.source.display().to_string(),
            directory: self.mount_point.display().to_string(),
            kind: self.fs_type.clone(),
            options,
        }
    }
}

/// Reads the text of `mountinfo`, in the kernel's order. Lines that are no mount
/// are left out.
pub fn parse_mountinfo(bytes: &[u8]) -> Vec<Mount> {
    bytes.split(|b| *b == b'\n').filter_map(parse_line).collect()
}

/// All mounts that this process sees; none where they cannot be read.
pub fn mounts(root: &SystemRoot) -> Vec<Mount> {
    root.bytes("/proc/self/mountinfo").map(|bytes| parse_mountinfo(&bytes)).unwrap_or_default()
}

/// The mount that holds `path` (absolute, without `..` or links): of those with
/// the longest fitting mount point the last, which covers the others.
pub fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.components().count())
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    // The kernel separates with single spaces, and a source may be empty, so
    // runs of spaces must not be taken for one.
    let mut words = line.split(|b| *b == b' ');
    let _mount_id = words.next()?;
    let _parent_id = words.next()?;
    let device = parse_number(words.next()?)?;
    let root = path(words.next()?);
    let mount_point = path(words.next()?);
    let options = text(words.next()?);
    // Optional fields such as `shared:1`, ended by a hyphen.
    words.by_ref().find(|word| *word == b"-")?;
    let fs_type = text(words.next()?);
    let source = path(words.next()?);
    let super_options = text(words.next()?);
    Some(Mount { device, root, mount_point, options, fs_type, source, super_options })
}

fn parse_number(word: &[u8]) -> Option<(u32, u32)> {
    device_number(std::str::from_utf8(word).ok()?)
}

/// Reads `MAJOR:MINOR`.
pub(crate) fn device_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(word)).into_owned()
}

fn path(word: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(word)))
}

/// Undoes the kernel's octal escapes (`\040` for a space; seq_file.c,
/// `mangle_path`). A backslash without three octal digits stays as it is.
/// `/proc/swaps` is written the same way.
pub fn unescape(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, tail)) = rest.split_first() {
        let code = match tail {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] if first == b'\\' => {
                Some((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'))
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mount_is_read_with_spaces_in_its_names() {
        let text = b"36 35 9:0 / /mnt/two\\040words rw,noatime shared:1 master:2 - ext4 /dev/md0 rw,stripe=128\n";
        let mounts = parse_mountinfo(text);
        assert_eq!(mounts.len(), 1);
        assert_eq!(mounts[0].device, (9, 0));
        assert_eq!(mounts[0].mount_point, Path::new("/mnt/two words"));
        assert_eq!(
            mounts[0].state().to_string(),
            "/dev/md0 /mnt/two words ext4 rw,noatime,stripe=128"
        );
    }

    #[test]
    fn an_empty_source_does_not_shift_the_fields() {
        let mounts = parse_mountinfo(b"1 2 0:5 / /x rw - tmpfs  rw,size=4k");
        assert_eq!(mounts[0].source, Path::new(""));
        assert_eq!(mounts[0].super_options, "rw,size=4k");
    }

    #[test]
    fn the_innermost_and_latest_mount_holds_a_path() {
        let text = b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:2 / /home rw - xfs /dev/sda2 rw\n\
                     3 1 8:3 / /home rw - xfs /dev/sda3 rw\n";
        let mounts = parse_mountinfo(text);
        let device = |path: &str| mount_of(&mounts, Path::new(path)).map(|m| m.device);
        assert_eq!(device("/home/x"), Some((8, 3)));
        assert_eq!(device("/homes/x"), Some((8, 1)));
        assert_eq!(mount_of(&[], Path::new("/")), None);
    }

    #[test]
    fn this_machine_is_understood() {
        let mounts = mounts(&SystemRoot::here());
        assert!(mounts.iter().any(|mount| mount.mount_point == Path::new("/proc")));
    }

    #[test]
    fn escapes_are_undone_and_other_backslashes_left() {
        assert_eq!(unescape(b"a\\040b\\134c\\011"), b"a b\\c\t");
        assert_eq!(unescape(b"\\4\\999\\"), b"\\4\\999\\");
    }

    proptest! {
        #[test]
        fn hostile_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300), words in prop::collection::vec("[0-9:/\\\\a-z -]{0,9}", 0..14)) {
            for mount in parse_mountinfo(&bytes).iter().chain(&parse_mountinfo(words.join(" ").as_bytes())) {
                let _ = mount.state();
            }
        }

        #[test]
        fn unescaping_undoes_escaping(name in "[ -~\t\n]{0,30}") {
            let escaped: String = name.chars().map(|c| match c {
                ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", c as u32),
                c => c.to_string(),
            }).collect();
            prop_assert_eq!(unescape(escaped.as_bytes()), name.as_bytes());
        }
    }
}
