//! What work is done for.

use serde::{Deserialize, Serialize};

/// Work that a purpose may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Large files or blocks read in order.
    LargeRead,
    /// The same, written.
    LargeWrite,
    /// Small reads at random places.
    RandomRead,
    /// Small writes at random places, not each made safe.
    RandomWrite,
    /// Small writes, each made safe.
    DurableWrite,
    /// Trees of small files copied.
    SmallFiles,
    /// Entries of a folder made.
    Create,
    /// A folder listed and looked at.
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
}
