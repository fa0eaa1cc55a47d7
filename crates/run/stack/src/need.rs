//! What layers cannot do without.

use std::fmt;

/// A program or kernel feature that a layer cannot do without.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A program, and the Debian package that has it.
    Program {
        /// The program.
        name: &'static str,
        /// Debian's package.
        package: &'static str,
    },
    /// A file system in the kernel, such as `ext4`.
    FileSystem(&'static str),
    /// An md personality in the kernel, such as `raid5`.
    Md(&'static str),
    /// A device-mapper target in the kernel, such as `crypt`.
    DeviceMapper(&'static str),
    /// ZFS in the kernel.
    Zfs,
    /// Loop devices that can be attached.
    Loop,
    /// The rights of root.
    Root,
}

impl Need {
    /// Debian's package that has it, if it is a program.
    pub fn package(&self) -> Option<&'static str> {
        match self {
            Self::Program { package, .. } => Some(package),
            _ => None,
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program { name, package } => {
                write!(f, "the program {name} (package {package})")
            }
            Self::FileSystem(name) => write!(f, "{name} in the kernel"),
            Self::Md(name) => write!(f, "md ({name}) in the kernel"),
            Self::DeviceMapper(name) => write!(f, "device-mapper ({name}) in the kernel"),
            Self::Zfs => f.write_str("ZFS in the kernel"),
            Self::Loop => f.write_str("loop devices"),
            Self::Root => f.write_str("root"),
        }
    }
}

/// For a report: 'needs md (raid5) in the kernel and root'; empty where nothing
/// is needed.
pub fn needs_words(needs: &[Need]) -> String {
    let words: Vec<String> = needs.iter().map(Need::to_string).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => format!("needs {one}"),
        [first @ .., last] => format!("needs {} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_come_in_packages() {
        let program = Need::Program { name: "lvm", package: "lvm2" };
        assert_eq!([program, Need::Zfs].map(|need| need.package()), [Some("lvm2"), None]);
    }
}
