//! What is mounted, for teardown: not being able to tell is an error here,
//! because 'nothing is mounted' would let us remove what is in use.

use std::path::Path;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_always_mounted() {
        assert!(mounts().expect("mounts").iter().any(|m| m.mount_point == Path::new("/")));
    }
}
