//! Mounting again: the only way in which nothing of a file system is left in memory.

use std::path::{Path, PathBuf};

use disklab_exec::{ExecError, Executor, Invocation};

use crate::StackError;
use crate::mounts::{as_kernel_shows, mounts};
use crate::udev::zpool;

/// How what a stack ends in is unmounted and mounted again, as it was mounted first.
#[derive(Debug, Clone)]
pub enum Remount {
    /// A file system on block devices.
    FileSystem {
        /// Where it is mounted.
        directory: PathBuf,
        /// The command that mounted it, with its options.
        mount: Invocation,
        /// Those that mount it without one of its devices, where it must be told that it lacks one.
        degraded: Vec<Invocation>,
    },
    /// A ZFS pool whose root data set is the directory. Exported, it leaves nothing of
    /// itself in ZFS's own cache.
    Pool {
        /// As zpool(8) lists it; drawn, so that no other has it.
        name: String,
        /// Where its root data set is mounted.
        directory: PathBuf,
        /// The devices that it is made of.
        devices: Vec<PathBuf>,
        /// What decrypts it, from standard input.
        key: Option<String>,
    },
}

impl Remount {
    /// Where it is mounted.
    pub fn directory(&self) -> &Path {
        match self {
            Self::FileSystem { directory, .. } | Self::Pool { directory, .. } => directory,
        }
    }

    /// Whether it is a pool.
    pub fn is_pool(&self) -> bool {
        matches!(self, Self::Pool { .. })
    }

    /// Unmounts it. Where something still uses it, it stays mounted, and what umount
    /// said is returned.
    ///
    /// # Errors
    /// [`StackError::Program`] if umount or zpool cannot be started.
    pub fn unmount(&self, executor: &Executor) -> Result<Option<String>, StackError> {
        let unmount = match self {
            Self::FileSystem { directory, .. } => Invocation::new("umount").arg(directory),
            Self::Pool { name, .. } => Invocation::new("zpool").args(["export", name]),
        };
        // Not to be interrupted half-way: nothing finds what is exported.
        let done = executor.run(&unmount.uninterruptible()).map_err(program)?;
        match done.success() {
            Ok(_) => Ok(None),
            Err(error) if self.is_mounted()? => Ok(Some(error.to_string())),
            // zpool complains although it is gone, where a label could not be written.
            Err(_) => Ok(None),
        }
    }

    /// Mounts it again, without what it lacks if it was whole before; then that is returned, as a sentence.
    ///
    /// # Errors
    /// Where that fails: then it is not mounted, and nothing may continue.
    pub fn mount(&self, executor: &Executor) -> Result<Option<String>, StackError> {
        let (mount, degraded) = match self {
            Self::FileSystem { mount, degraded, .. } => (mount.clone(), &degraded[..]),
            Self::Pool { name, devices, key, .. } => {
                let mut import = import(devices);
                if let Some(key) = key {
                    import = import.arg("-l").stdin(key.as_str());
                }
                (import.arg(name), &[][..])
            }
        };
        let run = |mount: &Invocation| executor.check(&mount.clone().uninterruptible());
        let mut said = None;
        if let Err(error) = run(&mount) {
            let other = degraded.iter().find(|mount| run(mount).is_ok());
            let other = other.ok_or_else(|| program(error))?;
            said = Some(format!("mounted without one of its devices: {}", other.command_line()));
        }
        if self.is_mounted()? {
            return Ok(said);
        }
        Err(StackError::NotMountedAgain(self.directory().to_owned()))
    }

    fn is_mounted(&self) -> Result<bool, StackError> {
        let directory = as_kernel_shows(self.directory());
        Ok(mounts()?.iter().any(|mount| mount.mount_point == directory))
    }
}

/// What imports a pool of these devices; its name is to follow.
pub(crate) fn import(devices: &[PathBuf]) -> Invocation {
    let import = zpool().args(["import", "-f", "-o", "cachefile=none"]);
    devices.iter().fold(import, |import, device| import.arg("-d").arg(device))
}

fn program(source: ExecError) -> StackError {
    StackError::Program { layer: "remount".to_owned(), source }
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;

    use super::*;

    #[test]
    fn a_mount_without_effect_is_an_error() {
        let remount = Remount::FileSystem {
            directory: PathBuf::from("/no/such/place"),
            mount: Invocation::new("true"),
            degraded: Vec::new(),
        };
        let executor = Executor::new(Interrupt::new());
        let error = remount.mount(&executor).expect_err("not mounted").to_string();
        assert!(error.contains("/no/such/place is not mounted again"), "{error}");
        // Nothing is mounted there, so that nothing stays.
        assert_eq!(remount.unmount(&executor).expect("umount"), None);
    }

    #[test]
    fn a_mount_that_fails_says_so() {
        let remount = Remount::Pool {
            name: "no-such-pool".to_owned(),
            directory: PathBuf::from("/no/such/pool"),
            devices: vec![PathBuf::from("/dev/no-such-device")],
            key: None,
        };
        assert!(remount.is_pool());
        assert!(remount.mount(&Executor::new(Interrupt::new())).is_err());
    }
}
