//! A kernel that the user names instead of one of the cache.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::cache::KERNEL_VARIABLE;
use super::cache_files::PROGRAMS;
use super::zfs;
use super::{KernelError, LeftOutPatch, NamedProblem, left_out};

/// A kernel's file, and OpenZFS's programs if they lie next to it, as in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedKernel {
    /// The kernel's program; absolute.
    pub kernel: PathBuf,
    /// The directory of OpenZFS's programs.
    pub programs: Option<PathBuf>,
}

impl NamedKernel {
    /// The kernel that an option names, or else [`KERNEL_VARIABLE`]; none if neither does. Warns
    /// of each patch that it is known to lack.
    ///
    /// # Errors
    /// [`KernelError::Named`] if the name is not that of a program: a wrong name is better
    /// reported than silently replaced.
    pub fn find(option: Option<&Path>) -> Result<Option<Self>, KernelError> {
        let (by, path) = match option {
            Some(path) => ("--kernel", path.to_owned()),
            None => match std::env::var_os(KERNEL_VARIABLE).filter(|path| !path.is_empty()) {
                Some(path) => (KERNEL_VARIABLE, PathBuf::from(path)),
                None => return Ok(None),
            },
        };
        let refuse = |why: NamedProblem| KernelError::Named { by, path: path.clone(), why };
        let metadata = path.metadata().map_err(|e| refuse(e.into()))?;
        if !metadata.is_file() {
            return Err(refuse(NamedProblem::NotAFile));
        }
        if metadata.permissions().mode() & 0o111 == 0 {
            return Err(refuse(NamedProblem::NotExecutable));
        }
        let kernel = std::path::absolute(&path).map_err(|e| refuse(e.into()))?;
        for LeftOutPatch { name, effect } in left_out(&kernel) {
            tracing::warn!("the kernel was built without {name}: {effect}");
        }
        let programs = kernel.parent().map(|directory| directory.join(PROGRAMS));
        Ok(Some(Self { kernel, programs: programs.filter(|directory| zfs::complete(directory)) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_kernel_must_be_a_program() {
        let directory = tempfile::tempdir().expect("temp");
        let path = directory.path().join("linux");
        let error = |path: &Path| NamedKernel::find(Some(path)).expect_err("refused").to_string();
        assert!(error(&path).contains("No such file"), "{}", error(&path));
        assert!(error(directory.path()).contains("not a file"));
        std::fs::write(&path, "").expect("written");
        assert!(error(&path).contains("not executable"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("made");
        let found = NamedKernel::find(Some(&path)).expect("found");
        assert_eq!(found, Some(NamedKernel { kernel: path, programs: None }));
    }
}
