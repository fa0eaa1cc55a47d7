//! What work is done for.

use serde::{Deserialize, Serialize};

/// Work that a purpose may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Large files or blocks read sequentially.
    LargeRead,
    /// The same, written.
    LargeWrite,
    /// A large file read sequentially after it was written at random offsets.
    AgedRead,
    /// Small reads at random offsets.
    RandomRead,
    /// Small writes at random offsets, not each made durable.
    RandomWrite,
    /// Small writes into a file, each made durable.
    DurableWrite,
    /// The same, sequentially: a file that is saved, or grows.
    DurableAppend,
    /// Trees of small files copied.
    SmallFiles,
    /// Entries of a directory made.
    Create,
    /// A directory listed and looked at.
    List,
    /// Files deleted.
    Delete,
    /// Photos brought in.
    PhotoImport,
    /// Photos leafed through.
    Browse,
    /// A backup program writing.
    Backup,
    /// A backup program giving back.
    Restore,
    /// A database's commits.
    Commit,
    /// A database's look-ups.
    LookUp,
    /// A whole table of a database read.
    TableScan,
}
