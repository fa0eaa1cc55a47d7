//! The versions of Linux that the lab's kernel can be built from, and how each runs the
//! guest's programs.

use std::fmt;
use std::str::FromStr;

use super::patches::{PATCHES_6_12, PATCHES_7_3, Patch};

/// A version of Linux that the lab has patches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum LinuxVersion {
    /// That of Debian 12 and 13, which all figures that come with disklab were made with.
    #[default]
    V6_12,
    /// That of Debian 13's backports.
    V7_3,
}

impl LinuxVersion {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::V6_12, Self::V7_3];

    /// Its first two numbers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V6_12 => "6.12",
            Self::V7_3 => "7.3",
        }
    }

    /// The version whose options a source with this release takes.
    pub(super) fn like(release: &str) -> Self {
        let major = release.split('.').next().and_then(|number| number.parse::<u32>().ok());
        if major.is_some_and(|major| major >= 7) { Self::V7_3 } else { Self::V6_12 }
    }

    /// Debian's package of its source.
    pub(super) fn package(self) -> &'static str {
        match self {
            Self::V6_12 => "linux-source-6.12",
            Self::V7_3 => "linux-source-7.3",
        }
    }

    /// The suite of Debian that has the package where the user's own sources do not.
    pub(super) fn backports(self) -> Option<&'static str> {
        match self {
            Self::V6_12 => None,
            Self::V7_3 => Some("trixie-backports"),
        }
    }

    /// The changes to Debian's source.
    pub(super) fn patches(self) -> &'static [Patch] {
        match self {
            Self::V6_12 => PATCHES_6_12,
            Self::V7_3 => PATCHES_7_3,
        }
    }

    /// What it has besides the options of `kernel/lab.config` and the parts.
    pub(super) fn more_options(self) -> &'static str {
        match self {
            Self::V6_12 => "",
            Self::V7_3 => include_str!("../../../../kernel/7.3.config"),
        }
    }

    /// Of those options, the ones that it no longer knows: they cannot be off.
    pub(super) fn always_on(self) -> &'static [&'static str] {
        match self {
            Self::V6_12 => &[],
            Self::V7_3 => &["CONFIG_PREEMPT_NONE", "CONFIG_PROC_SYSCTL"],
        }
    }

    /// The directory of its objects in the cache.
    pub(super) fn tree(self) -> &'static str {
        match self {
            Self::V6_12 => "tree",
            Self::V7_3 => "tree-7.3",
        }
    }
}

impl fmt::Display for LinuxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a kernel intercepts the system calls and page faults of the guest's programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyscallInterception {
    /// It traces their processes.
    Ptrace,
    /// Their processes catch them by a filter and hand them over in shared memory.
    Seccomp,
}

/// A kernel of the lab by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinuxChoice {
    name: &'static str,
    /// The series that is built, such as 7.3.
    pub version: LinuxVersion,
    /// How it intercepts what programs do.
    pub interception: SyscallInterception,
}

const DEFAULT: LinuxChoice = LinuxChoice {
    name: "6.12",
    version: LinuxVersion::V6_12,
    interception: SyscallInterception::Ptrace,
};

/// The choices that there are, the default first.
const CHOICES: [LinuxChoice; 3] = [
    DEFAULT,
    LinuxChoice {
        name: "7.3",
        version: LinuxVersion::V7_3,
        interception: SyscallInterception::Seccomp,
    },
    LinuxChoice {
        name: "7.3-ptrace",
        version: LinuxVersion::V7_3,
        interception: SyscallInterception::Ptrace,
    },
];

impl LinuxChoice {
    /// The names of all choices, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        CHOICES.iter().map(|choice| choice.name)
    }

    /// Words for the kernel's command line. They do not count in the guest's random numbers,
    /// as the kernel takes them out before.
    pub fn arguments(self) -> Vec<String> {
        match self.interception {
            SyscallInterception::Ptrace => Vec::new(),
            SyscallInterception::Seccomp => vec!["seccomp=on".to_owned()],
        }
    }

    /// What a record says of it besides the kernel's release; nothing where the version has
    /// only one way.
    pub fn words(self) -> &'static str {
        match (self.version, self.interception) {
            (LinuxVersion::V6_12, _) => "",
            (_, SyscallInterception::Ptrace) => ", programs by ptrace",
            (_, SyscallInterception::Seccomp) => ", programs by seccomp",
        }
    }
}

impl Default for LinuxChoice {
    fn default() -> Self {
        DEFAULT
    }
}

/// The name, as [`FromStr`] reads it.
impl fmt::Display for LinuxChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl FromStr for LinuxChoice {
    type Err = UnknownLinux;

    fn from_str(text: &str) -> Result<Self, UnknownLinux> {
        let known = CHOICES.into_iter().find(|choice| choice.name == text);
        known.ok_or_else(|| UnknownLinux { name: text.to_owned() })
    }
}

/// A name that no choice has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the lab has no kernel '{name}'; it has {known}", known = known())]
pub struct UnknownLinux {
    name: String,
}

fn known() -> String {
    LinuxChoice::names().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_choice_is_read_as_it_is_written() {
        for name in LinuxChoice::names() {
            let choice: LinuxChoice = name.parse().expect("known");
            assert_eq!(choice.to_string(), name);
            assert!(name.starts_with(choice.version.as_str()));
        }
        let default = LinuxChoice::default();
        assert_eq!(
            (default.version, default.to_string()),
            (LinuxVersion::default(), "6.12".into())
        );
        assert_eq!((default.arguments(), default.words()), (Vec::new(), ""));
    }

    #[test]
    fn ways_of_one_version_are_distinguished() {
        let [seccomp, ptrace] =
            ["7.3", "7.3-ptrace"].map(|name| name.parse::<LinuxChoice>().expect("known"));
        assert_eq!(seccomp.arguments(), ["seccomp=on"]);
        assert!(ptrace.arguments().is_empty());
        assert_ne!(seccomp.words(), ptrace.words());
    }

    #[test]
    fn an_unknown_kernel_is_refused_with_those_that_there_are() {
        let error = "5.10".parse::<LinuxChoice>().expect_err("unknown").to_string();
        assert_eq!(error, "the lab has no kernel '5.10'; it has 6.12, 7.3, 7.3-ptrace");
    }

    #[test]
    fn a_source_takes_the_options_of_its_release() {
        for (release, version) in [
            ("6.12.117", LinuxVersion::V6_12),
            ("6.18.1", LinuxVersion::V6_12),
            ("7.3.4", LinuxVersion::V7_3),
            ("10.0", LinuxVersion::V7_3),
            ("", LinuxVersion::V6_12),
        ] {
            assert_eq!(LinuxVersion::like(release), version, "{release}");
        }
    }

    #[test]
    fn a_patch_of_a_version_is_in_its_table() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../kernel/patches");
        for version in LinuxVersion::ALL {
            let own = if version == LinuxVersion::default() { "" } else { version.as_str() };
            let mut files: Vec<String> = std::fs::read_dir(format!("{directory}/{own}"))
                .expect("patches")
                .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
                .filter(|name| name.ends_with(".patch"))
                .map(|name| format!("{own}/{name}").trim_start_matches('/').to_owned())
                .collect();
            files.sort();
            let mut names: Vec<&str> = version.patches().iter().map(|patch| patch.name).collect();
            names.sort_unstable();
            assert_eq!(files, names, "{version}");
        }
    }

    proptest! {
        #[test]
        fn hostile_names_are_refused(text in "\\PC*") {
            if let Ok(choice) = text.parse::<LinuxChoice>() {
                prop_assert_eq!(choice.to_string(), text);
            }
        }
    }
}
