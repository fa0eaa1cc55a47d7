//! Where PostgreSQL's programs are, and as whom they run.

use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::find_program;

/// Debian keeps each version's programs in a directory of their own, outside of PATH:
/// /usr/lib/postgresql/15/bin.
const VERSIONS: &str = "/usr/lib/postgresql";
const PROGRAMS: [&str; 3] = ["initdb", "postgres", "pgbench"];
const PACKAGE: &str = "postgresql";

/// Who runs the server where disklab is run by root, the first that exists.
const USERS: [&str; 2] = ["postgres", "nobody"];

/// PostgreSQL's programs, all of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs(Option<PathBuf>);

impl Programs {
    /// The newest version that has all programs; else those in PATH.
    pub fn find() -> Self {
        Self(newest(Path::new(VERSIONS)))
    }

    /// The ones that are not here, each with its package.
    pub fn missing() -> Vec<(&'static str, &'static str)> {
        match Self::find() {
            Self(Some(_)) => Vec::new(),
            Self(None) => PROGRAMS.iter().map(|program| (*program, PACKAGE)).collect(),
        }
    }

    /// The path of a program, or its name where it is looked for in PATH.
    pub fn path(&self, program: &str) -> PathBuf {
        match &self.0 {
            Some(directory) => directory.join(program),
            None => find_program(program).unwrap_or_else(|| PathBuf::from(program)),
        }
    }
}

/// The directory of the newest version's programs below `versions`.
fn newest(versions: &Path) -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(versions)
        .ok()?
        .flatten()
        // Before 10 a version was two numbers, and lacked what is needed here.
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .map(|(version, directory)| (version, directory.join("bin")))
        .filter(|(_, bin)| PROGRAMS.iter().all(|program| bin.join(program).is_file()))
        .collect();
    found.sort();
    found.pop().map(|(_, directory)| directory)
}

/// Whether disklab is run by root, whom PostgreSQL refuses.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A user of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct User {
    pub name: String,
    /// The number.
    pub uid: u32,
    /// The number of the first group.
    pub gid: u32,
}

impl User {
    /// Who runs the server instead of root.
    pub fn instead_of_root() -> Option<Self> {
        let text = fs::read_to_string("/etc/passwd").ok()?;
        USERS.iter().find_map(|name| Self::in_passwd(&text, name))
    }

    /// A user by name, from the text of /etc/passwd (passwd(5)). Root is none.
    fn in_passwd(text: &str, name: &str) -> Option<Self> {
        text.lines().find_map(|line| {
            let mut fields = line.split(':');
            let found = fields.next()?;
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            (found == name && uid != 0).then(|| Self { name: found.to_owned(), uid, gid })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_newest_whole_version_is_taken() {
        let directory = tempfile::tempdir().expect("temp");
        assert_eq!(newest(&directory.path().join("none")), None);
        for (version, programs) in [
            ("9.6", &PROGRAMS[..]),
            ("9", &PROGRAMS),
            ("15", &PROGRAMS),
            ("17", &PROGRAMS[..2]),
            ("common", &PROGRAMS),
        ] {
            let bin = directory.path().join(version).join("bin");
            fs::create_dir_all(&bin).expect("directory");
            for program in programs {
                fs::write(bin.join(program), "").expect("program");
            }
        }
        assert_eq!(newest(directory.path()), Some(directory.path().join("15/bin")));
    }

    #[test]
    fn users_are_found() {
        let text = "root:x:0:0:root:/root:/bin/bash\npostgres:x:106:113:,,,:/var/lib:/bin/sh\n\
                    nobody:x:65534:65534::/:/bin/false\nbroken:x:\nfake:x:0:5::/:/bin/sh\n";
        let postgres = User { name: "postgres".to_owned(), uid: 106, gid: 113 };
        assert_eq!(User::in_passwd(text, "postgres"), Some(postgres));
        for name in ["broken", "fake", "root", "", "post"] {
            assert_eq!(User::in_passwd(text, name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([a-z:0-9x\n]|\\PC){0,80}", name in "[a-z]{0,3}") {
            if let Some(user) = User::in_passwd(&text, &name) {
                prop_assert!(user.uid != 0 && user.name == name);
            }
        }
    }
}
