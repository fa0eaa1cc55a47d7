//! The parts of the lab's kernel that only some studies need.
//!
//! Each is a file of `kernel/parts`. A kernel with some of them is built in a fraction of
//! the time that all of them take.

use std::fmt;
use std::str::FromStr;

use super::options::settings;

struct Part {
    name: &'static str,
    /// Its options, as Kconfig writes them.
    fragment: &'static str,
    /// Objects that Linux 6.12 makes of them: what its build adds to that of a kernel
    /// without. It only serves to guess how long a build takes.
    objects: u64,
}

/// All parts, in the order of their options and names in recipes.
const PARTS: [Part; 10] = [
    Part {
        name: "ext4",
        fragment: include_str!("../../../../kernel/parts/ext4.config"),
        objects: 42,
    },
    Part {
        name: "xfs",
        fragment: include_str!("../../../../kernel/parts/xfs.config"),
        objects: 112,
    },
    Part {
        name: "btrfs",
        fragment: include_str!("../../../../kernel/parts/btrfs.config"),
        objects: 110,
    },
    Part {
        name: "nilfs2",
        fragment: include_str!("../../../../kernel/parts/nilfs2.config"),
        objects: 23,
    },
    Part {
        name: "f2fs",
        fragment: include_str!("../../../../kernel/parts/f2fs.config"),
        objects: 25,
    },
    Part {
        name: "md-dm",
        fragment: include_str!("../../../../kernel/parts/md-dm.config"),
        objects: 78,
    },
    Part {
        name: "inet",
        fragment: include_str!("../../../../kernel/parts/inet.config"),
        objects: 58,
    },
    Part {
        name: "target",
        fragment: include_str!("../../../../kernel/parts/target.config"),
        objects: 42,
    },
    Part {
        name: "overlay",
        fragment: include_str!("../../../../kernel/parts/overlay.config"),
        objects: 11,
    },
    Part {
        name: "scsi",
        fragment: include_str!("../../../../kernel/parts/scsi.config"),
        objects: 25,
    },
];

/// A set of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts(u16);

impl Parts {
    /// None: what every kernel has besides is always there.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self((1 << PARTS.len()) - 1);

    /// The parts that have these options, such as `CONFIG_EXT4_FS`. One that no part has is
    /// in every kernel, or in none.
    pub fn with_options<'a>(options: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = Self::NONE;
        for option in options {
            for (index, part) in PARTS.iter().enumerate() {
                if settings(part.fragment).any(|(name, value)| name == option && value == "y") {
                    set.0 |= 1 << index;
                }
            }
        }
        set
    }

    /// Whether all of `others` are among these.
    pub fn contain(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }

    /// How many there are.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Those of both.
    #[must_use]
    pub fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    fn iter(self) -> impl Iterator<Item = &'static Part> {
        PARTS.iter().enumerate().filter(move |(index, _)| self.0 & (1 << index) != 0).map(|p| p.1)
    }

    /// Their options, one part after the other.
    pub(super) fn fragment(self) -> String {
        self.iter().map(|part| part.fragment).collect()
    }

    /// Objects that a build makes of them.
    pub(super) fn objects(self) -> u64 {
        self.iter().map(|part| part.objects).sum()
    }
}

/// Their names with spaces between, as [`FromStr`] reads them.
impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(|part| part.name).collect();
        f.write_str(&names.join(" "))
    }
}

impl FromStr for Parts {
    type Err = UnknownPart;

    fn from_str(text: &str) -> Result<Self, UnknownPart> {
        let mut set = Self::NONE;
        for name in text.split_whitespace() {
            let index = PARTS.iter().position(|part| part.name == name);
            set.0 |= 1 << index.ok_or_else(|| UnknownPart(name.to_owned()))?;
        }
        Ok(set)
    }
}

/// A name that no part has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown part of the lab's kernel '{0}'")]
pub struct UnknownPart(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_their_options() {
        let parts =
            Parts::with_options(["CONFIG_XFS_FS", "CONFIG_DM_CRYPT", "CONFIG_BLK_DEV_LOOP"]);
        assert_eq!(parts.to_string(), "xfs md-dm");
        assert_eq!(parts.count(), 2);
        assert!(Parts::ALL.contain(parts) && !parts.contain(Parts::ALL));
        assert!(parts.contain(Parts::NONE));
        // Off in it.
        assert_eq!(Parts::with_options(["CONFIG_MD_AUTODETECT"]), Parts::NONE);
    }

    #[test]
    fn parts_are_read_as_they_are_written() {
        for text in ["", "ext4 xfs btrfs", "overlay"] {
            assert_eq!(text.parse::<Parts>().expect("known").to_string(), text);
        }
        assert_eq!(Parts::ALL.to_string().parse(), Ok(Parts::ALL));
        let unknown = "ext4 reiserfs".parse::<Parts>().expect_err("unknown");
        assert_eq!(unknown.to_string(), "unknown part of the lab's kernel 'reiserfs'");
    }

    #[test]
    fn a_file_of_parts_is_in_the_table() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../kernel/parts");
        let mut files: Vec<String> = std::fs::read_dir(directory)
            .expect("parts")
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        files.sort();
        let mut names: Vec<String> = PARTS.iter().map(|p| format!("{}.config", p.name)).collect();
        names.sort();
        assert_eq!(files, names);
    }
}
