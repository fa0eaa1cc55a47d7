//! What the operations of a figure are.

use serde::{Deserialize, Serialize};

/// What a figure counts as one operation. Only what asks the kernel for a block is an
/// I/O: a commit takes several, a file of a backup may take none.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// Reads and writes of blocks.
    #[default]
    Io,
    /// Commits of a database or a log.
    Commit,
    /// Transactions of a database that may read only.
    Transaction,
    /// Rows that were looked up.
    LookUp,
    /// Files that were created, copied, stored or removed.
    File,
    /// Directory entries that were listed or looked at.
    Entry,
    /// Operations of several kinds.
    Operation,
}

impl OperationKind {
    /// In the plural, after 'per second': `commits`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Io => "I/Os",
            Self::Commit => "commits",
            Self::Transaction => "transactions",
            Self::LookUp => "look-ups",
            Self::File => "files",
            Self::Entry => "entries",
            Self::Operation => "operations",
        }
    }

    /// The unit of its rate: `IOPS`, `commits/s`.
    pub fn rate_unit(self) -> &'static str {
        match self {
            Self::Io => "IOPS",
            Self::Commit => "commits/s",
            Self::Transaction => "transactions/s",
            Self::LookUp => "look-ups/s",
            Self::File => "files/s",
            Self::Entry => "entries/s",
            Self::Operation => "operations/s",
        }
    }

    /// The rate in words: `commits per second`.
    pub fn rate_name(self) -> &'static str {
        match self {
            Self::Io | Self::Operation => "operations per second",
            Self::Commit => "commits per second",
            Self::Transaction => "transactions per second",
            Self::LookUp => "look-ups per second",
            Self::File => "files per second",
            Self::Entry => "entries per second",
        }
    }

    /// Whether it is a block's.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(crate) fn is_io(&self) -> bool {
        *self == Self::Io
    }

    /// What figures of two kinds have in common.
    pub fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Operation }
    }
}
