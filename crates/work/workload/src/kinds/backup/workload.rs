//! A backup, read.

use disklab_content::Share;
use disklab_units::Bytes;

use crate::tree::Tree;

/// Where the tree lies that is backed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum BackupSource {
    /// Nowhere: it is made while Borg reads it, as a tar archive through a pipe. So
    /// only the repository is on the stack, as in a backup from another machine, and
    /// there is room for any size.
    #[default]
    Stream,
    /// In a directory next to the repository, on the same stack.
    SameStack,
}

/// What is done with the last copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Restore {
    /// It is written to a directory next to the repository.
    #[default]
    Directory,
    /// It is read and unpacked, and not written.
    Discard,
    /// Nothing.
    Not,
}

/// How the repository is looked through in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum BackupCheck {
    /// Checksums of the repository, and whether the archives lack anything.
    #[default]
    Repository,
    /// Besides, all data are unpacked and compared with their hashes.
    Data,
    /// Not at all.
    Not,
}

#[derive(Debug)]
pub(super) struct Backup {
    pub(super) tree: Tree,
    pub(super) scaled_from: Option<Bytes>,
    /// The share of the data that compression saves.
    pub(super) compressible: Share,
    /// The share of the data that lie in files which are copies.
    pub(super) repeated: Share,
    pub(super) copies: u64,
    pub(super) changed: Share,
    pub(super) origin: BackupSource,
    pub(super) compression: String,
    pub(super) encryption: &'static str,
    pub(super) restore: Restore,
    pub(super) check: BackupCheck,
    pub(super) sync: bool,
}

impl Backup {
    /// What compression leaves of one byte, as asked for.
    pub(super) fn compressed(&self) -> f64 {
        if self.compression == "none" { 1.0 } else { self.compressible.rest().part() }
    }

    /// Bytes of the repository after `copies` copies, as asked for, lists of files
    /// left out.
    pub(super) fn kept(&self, copies: u64) -> Bytes {
        let size = self.tree.size.0 as f64 * self.compressed();
        let first = size * self.repeated.rest().part();
        let later = size * self.changed.part() * copies.saturating_sub(1) as f64;
        Bytes((first + later) as u64)
    }
}
