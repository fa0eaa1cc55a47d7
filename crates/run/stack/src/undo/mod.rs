//! Teardown: one file for each kind of thing.
//!
//! Each is safe to do twice, and makes sure that the thing is the one that was
//! entered: names such as `/dev/loop3` or `/dev/sdb` may mean something else by
//! the time a ledger is recovered.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use disklab_exec::Executor;
use disklab_measure::{BlockDevice, SystemRoot};
use serde::{Deserialize, Serialize};

use crate::{LineProblem, StackError};

mod btrfs;
mod detach_loop;
mod file_identity;
mod inspect;
mod mapping;
mod marks;
mod obstacle;
mod partitions;
mod pool;
mod program;
mod queue;
mod remove;
mod stop_array;
mod tree;
mod unmount;
mod users;
mod volume_group;
mod wipe_drive;
mod write_cache;

pub(crate) use marks::Marks;
pub(crate) use pool::DATASET_NAME;
pub(crate) use program::started;
pub(crate) use queue::instance;
pub(crate) use users::end_programs_of;

pub use btrfs::RemoveBtrfs;
pub use detach_loop::DetachLoop;
pub use file_identity::FileIdentity;
pub use mapping::{CloseCrypt, CloseIntegrity, DeviceMapping};
pub use obstacle::{Obstacle, UnseenContent};
pub use partitions::RemovePartitions;
pub use pool::DestroyPool;
pub use program::EndProgram;
pub use queue::{QueueSetting, RestoreQueue};
pub use remove::{RemoveFile, RemoveFolder};
pub use stop_array::StopArray;
pub use tree::RemoveTree;
pub use unmount::Unmount;
pub use volume_group::RemoveVolumeGroup;
pub use wipe_drive::WipeDrive;
pub use write_cache::RestoreWriteCache;

/// A kind of thing to tear down: one file, and one line in [`Undo`]. Each is safe to do twice, and
/// does nothing to a thing of the same name that is not ours. `Display` names the thing: 'the mount
/// at /x'.
pub(crate) trait Teardown: fmt::Display {
    /// Tears it down. Returns whether there was anything to do.
    ///
    /// # Errors
    /// [`StackError`] of the step that failed; the entry stays in the ledger.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError>;

    /// What is on or in it that the run with these marks did not make. With any, it is to be left
    /// alone. Settings, and a process that is recognised by its start, have none.
    ///
    /// # Errors
    /// [`StackError`] if it cannot be inspected: the caller leaves it alone then.
    fn obstacles(&self, _: &Marks, _: &TeardownContext<'_>) -> Result<Vec<Obstacle>, StackError> {
        Ok(Vec::new())
    }

    /// What it is recognised by.
    fn marks(&self) -> Vec<String> {
        Vec::new()
    }

    /// The paths that it acts on.
    fn paths(&self) -> Vec<&Path>;

    /// Whether a restart of the machine has undone it.
    fn ends_with_boot(&self) -> bool {
        false
    }

    /// Whether removing it would remove what is at one of these paths, too: what is in a
    /// directory, or built on a device.
    fn contains(&self, _: &[&Path]) -> bool {
        false
    }
}

macro_rules! kinds {
    ($($(#[$attribute:meta])* $kind:ident),+ $(,)?) => {
        /// One thing to tear down, as a ledger has it.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[expect(missing_docs, reason = "each kind is documented in its file")]
        pub enum Undo {
            $($(#[$attribute])* $kind($kind),)+
        }

        $(impl From<$kind> for Undo {
            fn from(undo: $kind) -> Self {
                Self::$kind(undo)
            }
        })+

        impl Undo {
            fn kind(&self) -> &dyn Teardown {
                match self {
                    $(Self::$kind(undo) => undo,)+
                }
            }
        }
    };
}

kinds!(
    Unmount,
    RemoveFolder,
    RemoveTree,
    #[serde(rename = "write-cache")]
    RestoreWriteCache,
    EndProgram,
    #[serde(rename = "queue")]
    RestoreQueue,
    WipeDrive,
    RemoveFile,
    DetachLoop,
    RemovePartitions,
    RemoveBtrfs,
    StopArray,
    RemoveVolumeGroup,
    CloseCrypt,
    CloseIntegrity,
    DestroyPool,
);

/// What tears things down: the executor, and the list of what was not as it
/// should be although the thing is gone.
pub(crate) struct TeardownContext<'a> {
    /// Runs the programs; each invocation is to be uninterruptible.
    pub executor: &'a Executor,
    /// What the user must know, such as 'it was still in use'.
    pub complaints: Vec<StackError>,
    /// Whether it removes what is in use, too: that which this process made itself,
    /// or which the user has decided about. Not what a killed run left.
    pub by_force: bool,
    /// Whether the machine was restarted since the things were made.
    pub rebooted: bool,
}

impl<'a> TeardownContext<'a> {
    /// For what this process itself has made, or the user wants to be gone.
    pub(crate) fn by_force(executor: &'a Executor) -> Self {
        Self { executor, complaints: Vec::new(), by_force: true, rebooted: false }
    }

    /// For what a killed run left.
    pub(crate) fn with_care(executor: &'a Executor) -> Self {
        Self { by_force: false, ..Self::by_force(executor) }
    }
}

impl Undo {
    /// See [`Teardown::tear_down`].
    pub(crate) fn carry_out(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        self.kind().tear_down(context)
    }

    /// See [`Teardown::obstacles`].
    pub(crate) fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        self.kind().obstacles(marks, context)
    }

    /// See [`Teardown::marks`].
    pub(crate) fn marks(&self) -> Vec<String> {
        self.kind().marks()
    }

    /// See [`Teardown::ends_with_boot`].
    pub(crate) fn ends_with_boot(&self) -> bool {
        self.kind().ends_with_boot()
    }

    /// See [`Teardown::paths`].
    pub(crate) fn paths(&self) -> Vec<&Path> {
        self.kind().paths()
    }

    /// Whether removing it would remove what `other` is about, too.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.kind().contains(&other.paths())
    }

    /// Whether an entry read from a file can be ours at all: disklab enters
    /// only absolute paths below some directory.
    ///
    /// # Errors
    /// [`LineProblem::OddPath`] with the first that is not absolute, or leads upwards.
    pub(crate) fn check(&self) -> Result<(), LineProblem> {
        for path in self.paths() {
            let plain =
                path.components().all(|c| matches!(c, Component::RootDir | Component::Normal(_)));
            if !path.is_absolute() || !plain || path.components().count() < 3 {
                return Err(LineProblem::OddPath(path.to_owned()));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Whether a device among `above` is one of `below`, or built on one.
fn any_is_built_on(above: &[&Path], below: &[&Path]) -> bool {
    above.iter().any(|path| below.iter().any(|device| is_built_on(path, device)))
}

/// Whether `above` is the device `below`, or a partition of it, or built on it.
fn is_built_on(above: &Path, below: &Path) -> bool {
    let root = SystemRoot::here();
    let device = |path: &Path| BlockDevice::at(&root, path);
    let (Some(above), Some(below)) = (device(above), device(below)) else { return false };
    let mounts = disklab_measure::mounts(&root);
    let (mut open, mut seen) = (vec![above], Vec::new());
    while let Some(device) = open.pop() {
        if device == below {
            return true;
        }
        if !seen.contains(&device) {
            open.extend(device.slaves());
            open.extend(device.below_loop(&root, &mounts));
            open.extend(device.is_partition().then(|| device.whole()));
            seen.push(device);
        }
    }
    false
}

/// `path` as the kernel shows it in its tables: what leads to it resolved, but
/// not the last part, which may be a mount that no longer answers.
pub(crate) fn as_kernel_shows(path: &Path) -> PathBuf {
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}
