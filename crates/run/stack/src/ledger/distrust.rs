//! Why what another user controls is not touched.

use std::fmt;

/// Why a directory or a ledger is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distrust {
    /// It belongs to another user.
    Owner {
        /// The user's number.
        owner: u32,
        /// This run's own.
        own: u32,
    },
    /// Others may write to it.
    Mode(u32),
    /// It is a symbolic link, or of another kind than it should be.
    Kind,
    /// It has further names (hard links).
    Links(u64),
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { owner, own } => {
                write!(f, "it belongs to user {owner}, and this process runs as user {own}")
            }
            Self::Mode(mode) => write!(f, "others may write to it (mode {mode:04o})"),
            Self::Kind => f.write_str("it is a symbolic link or of an unexpected type"),
            Self::Links(count) => write!(f, "it has {count} names (hard links)"),
        }
    }
}
