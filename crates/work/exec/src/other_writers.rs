//! Who besides this user may change what is in a directory.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rustix::process::geteuid;

const GROUP_WRITES: u32 = 0o020;
const ALL_WRITE: u32 = 0o002;

/// Who besides root may change what is in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherWriters {
    /// The user with this number, who owns it.
    Owner(u32),
    /// The members of the group with this number.
    Group(u32),
    /// Everybody.
    All,
}

impl fmt::Display for OtherWriters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(user) => write!(f, "belongs to user {user}"),
            Self::Group(group) => write!(f, "can be written to by group {group}"),
            Self::All => f.write_str("can be written to by everybody"),
        }
    }
}

impl OtherWriters {
    /// Those of a directory or file, if there are any. This process's user is none, nor are the user
    /// who became root by sudo, a private group, which has its user's number, and that of root.
    pub fn new(there: &Metadata) -> Option<Self> {
        let user = geteuid();
        let own = if user.is_root() { sudo_user() } else { Some(user.as_raw()) };
        Self::of(there.mode(), there.uid(), there.gid(), own)
    }

    fn of(mode: u32, owner: u32, group: u32, own: Option<u32>) -> Option<Self> {
        if owner != 0 && Some(owner) != own {
            Some(Self::Owner(owner))
        } else if mode & ALL_WRITE != 0 {
            Some(Self::All)
        } else if mode & GROUP_WRITES != 0 && group != 0 && group != owner {
            Some(Self::Group(group))
        } else {
            None
        }
    }
}

fn sudo_user() -> Option<u32> {
    std::env::var("SUDO_UID").ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_users_with_write_access() {
        let others = |mode, owner, group| OtherWriters::of(mode, owner, group, Some(1000));
        for (mode, owner, group, expected) in [
            (0o755, 0, 0, None),
            (0o775, 0, 0, None),
            (0o755, 1000, 1000, None),
            // As a user's own are where the umask is 002.
            (0o775, 1000, 1000, None),
            (0o700, 1001, 1000, Some(OtherWriters::Owner(1001))),
            (0o2775, 0, 50, Some(OtherWriters::Group(50))),
            (0o775, 1000, 100, Some(OtherWriters::Group(100))),
            (0o1777, 0, 0, Some(OtherWriters::All)),
        ] {
            assert_eq!(others(mode, owner, group), expected, "{mode:o} {owner} {group}");
        }
        assert_eq!(OtherWriters::of(0o755, 1000, 1000, None), Some(OtherWriters::Owner(1000)));
    }
}
