//! Where the cells' data go.

use std::path::{Path, PathBuf};

use disklab_bench::free_space;
use disklab_lab::ContentLimits;
use disklab_units::Bytes;

use super::paths::existing_ancestor;
use crate::BenchKind;

/// A directory that the cells' data go to.
#[derive(Debug, Clone)]
pub struct DataDirectory {
    /// On whose file system they will be.
    pub directory: PathBuf,
    /// Bytes free there.
    pub free: Bytes,
    /// What of it cells may take.
    pub usable: Bytes,
    /// What to do if that is too little.
    pub(crate) remedy: &'static str,
}

impl DataDirectory {
    /// That of a bench whose large files go to `scratch`.
    pub(super) fn of(bench: &BenchKind, scratch: &Path) -> Option<Self> {
        let (directory, existing, remedy) = match bench {
            BenchKind::Disks(_) => return None,
            BenchKind::Dir(path) => {
                (path.as_path(), path.clone(), "take another place with --on dir:PATH")
            }
            BenchKind::Lab | BenchKind::Loop => {
                (scratch, existing_ancestor(scratch), "take another place with --scratch")
            }
        };
        let free = free_space(&existing);
        let usable = match bench {
            BenchKind::Lab => Bytes(ContentLimits::of_free(free.0).disk.limit_bytes()),
            _ => free,
        };
        Some(Self { directory: directory.to_owned(), free, usable, remedy })
    }
}
