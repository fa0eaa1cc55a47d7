//! A mount as the kernel reports it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A mount of a stack. Runs keep it in one line: `/dev/md0 /mnt ext4 rw,relatime`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MountState {
    /// What is mounted, mostly a device node.
    pub source: String,
    /// Where.
    pub directory: String,
    /// The file system's type.
    pub kind: String,
    /// The mount's options, and those of the file system that are not among them.
    pub options: Vec<String>,
}

/// A line that is no mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidMount(String);

impl fmt::Display for InvalidMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid mount '{}': expected source, directory, type and options", self.0)
    }
}

impl std::error::Error for InvalidMount {}

impl FromStr for MountState {
    type Err = InvalidMount;

    /// Type and options have no blanks; a directory may.
    fn from_str(line: &str) -> Result<Self, InvalidMount> {
        let mut words = line.rsplitn(3, ' ');
        let fields = (|| {
            let (options, kind) = (words.next()?, words.next()?);
            let (source, directory) = words.next()?.split_once(' ')?;
            let options = options.split(',').map(str::to_owned).collect();
            let [source, directory, kind] = [source, directory, kind].map(str::to_owned);
            Some(Self { source, directory, kind, options })
        })();
        fields.ok_or_else(|| InvalidMount(line.to_owned()))
    }
}

impl TryFrom<String> for MountState {
    type Error = InvalidMount;

    fn try_from(line: String) -> Result<Self, InvalidMount> {
        line.parse()
    }
}

impl From<MountState> for String {
    fn from(mount: MountState) -> Self {
        mount.to_string()
    }
}

impl fmt::Display for MountState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, directory, kind, options } = self;
        write!(f, "{source} {directory} {kind} {}", options.join(","))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mount_below_a_directory_with_blanks_is_read() {
        let mount: MountState = "/dev/md0 /mnt/two words ext4 rw,noatime".parse().expect("a mount");
        assert_eq!(
            (mount.source.as_str(), mount.directory.as_str()),
            ("/dev/md0", "/mnt/two words")
        );
        assert_eq!((mount.kind.as_str(), mount.options.len()), ("ext4", 2));
        for line in ["", "ext4 rw", "/dev/md0 ext4 rw"] {
            let error = line.parse::<MountState>().expect_err(line).to_string();
            assert!(error.starts_with(&format!("invalid mount '{line}'")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_mount_is_kept_in_its_line(line in "[a-z/,=]{0,6}( [a-z/,= ]{0,8}){3}") {
            let mount: MountState = line.parse().expect("four fields");
            let json = serde_json::to_string(&mount).expect("json");
            prop_assert_eq!(&json, &format!("\"{line}\""));
            prop_assert_eq!(serde_json::from_str::<MountState>(&json).expect("read"), mount);
        }
    }
}
