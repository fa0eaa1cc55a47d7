//! Entries of a fileset.

/// What a number is the number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// Files.
    File,
    /// Directories that stay empty.
    Leaf,
    /// Directories that hold files or directories; they always exist.
    Inner,
}
