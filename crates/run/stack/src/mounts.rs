//! What is mounted, for teardown: not being able to tell is an error here,
//! because 'nothing is mounted' would let us remove what is in use.

use std::path::{Path, PathBuf};

use disklab_measure::{Mount, parse_mountinfo};

use crate::StackError;

/// All mounts of this process's name space, in the order of mounting.
///
/// # Errors
/// [`StackError::Io`] if `/proc/self/mountinfo` cannot be read.
pub fn mounts() -> Result<Vec<Mount>, StackError> {
    let path = Path::new("/proc/self/mountinfo");
    std::fs::read(path)
        .map(|bytes| parse_mountinfo(&bytes))
        .map_err(|e| StackError::io("cannot read", path, e))
}

/// `path` as the kernel shows it in its tables: what leads to it resolved, but
/// not the last part, which may be a mount that no longer answers.
pub(crate) fn as_kernel_shows(path: &Path) -> PathBuf {
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_always_mounted() {
        assert!(mounts().expect("mounts").iter().any(|m| m.mount_point == Path::new("/")));
    }
}
