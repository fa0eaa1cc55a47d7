//! Teardown: one file for each kind of thing.
//!
//! Each is safe to do twice, and makes sure that the thing is the one that was
//! entered: names such as `/dev/loop3` or `/dev/sdb` may mean something else by
//! the time a ledger is recovered.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use disklab_exec::{ExecError, Executor, Invocation};
use disklab_measure::{BlockDevice, SystemRoot};
use serde::{Deserialize, Serialize};

use crate::loops::loops_on;
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

pub use file_identity::FileIdentity;
pub use mapping::DeviceMapping;
pub use obstacle::{Obstacle, UnseenContent};
pub use queue::QueueSetting;

/// One thing to tear down. Each is safe to do twice, and does nothing to a
/// thing of the same name that is not ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    /// Unmount a directory, killing whatever still uses it.
    Unmount(PathBuf),
    /// Remove a folder that must be empty by now.
    RemoveFolder(PathBuf),
    /// Remove a folder that disklab has made in somebody else's directory, with
    /// all that is in it.
    RemoveTree(PathBuf),
    /// Switch the write cache of the drive with this serial number back.
    WriteCache {
        /// Its device node.
        device: PathBuf,
        /// Its serial number.
        serial: String,
        /// On, as it was, or off.
        on: bool,
    },
    /// End a program that runs alongside the workload.
    EndProgram {
        /// Its number.
        pid: u32,
        /// When it was started, in ticks since the machine was.
        started: u64,
    },
    /// Set a setting of a device's queue back.
    Queue {
        /// Its device node.
        device: PathBuf,
        /// What tells the device from another one of its name.
        instance: String,
        /// What was set.
        setting: QueueSetting,
        /// What it was before, as sysfs has it.
        value: String,
    },
    /// Wipe what is left of a file system from a drive, if nothing else is on it.
    WipeDrive {
        /// Its device node.
        device: PathBuf,
        /// Its serial number, where it tells one.
        serial: Option<String>,
        /// What the file system is recognised by: its UUID, or a part of its label
        /// that is unique.
        mark: String,
    },
    /// An image file; only if it is the one that the run made.
    RemoveFile(PathBuf),
    /// Detach the loop device whose backing file is this.
    DetachLoop(PathBuf),
    /// Remove the partition table with this GUID from a device, and its
    /// partitions from the kernel.
    RemovePartitions {
        /// The whole device.
        device: PathBuf,
        /// The GUID of the table, in lower case.
        guid: String,
        /// How many the run makes; 0 if it was not recorded.
        #[serde(default)]
        count: usize,
    },
    /// Remove the Btrfs with this UUID from its devices, and have the kernel
    /// forget them.
    RemoveBtrfs {
        /// The file system's, in lower case.
        uuid: String,
        /// The devices it was made of.
        devices: Vec<PathBuf>,
    },
    /// Stop the md array with this UUID, and make its members forget it.
    StopArray {
        /// Its name below `/dev/md`.
        name: String,
        /// In the usual form, with or without separators.
        uuid: String,
        /// The devices it was made of.
        members: Vec<PathBuf>,
    },
    /// Remove an LVM volume group and its physical volumes.
    RemoveVolumeGroup {
        /// As vgs(8) lists it.
        name: String,
        /// The tag that marks it as disklab's.
        mark: String,
        /// The devices it was made of, and their UUIDs as physical volumes.
        volumes: Vec<(PathBuf, String)>,
    },
    /// Close a LUKS mapping and remove the header.
    CloseCrypt(DeviceMapping),
    /// Close a dm-integrity mapping and remove the superblock.
    CloseIntegrity(DeviceMapping),
    /// Destroy a ZFS pool with all that is in it.
    DestroyPool {
        /// As zpool(8) lists it.
        name: String,
        /// The user property that marks it as disklab's.
        mark: String,
        /// The devices it was made of.
        devices: Vec<PathBuf>,
    },
}

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
    /// Tears it down. Returns whether there was anything to do.
    ///
    /// # Errors
    /// [`StackError`] of the step that failed; the entry stays in the ledger.
    pub(crate) fn carry_out(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        match self {
            Self::Unmount(path) => unmount::unmount(path, context),
            Self::RemoveFolder(path) => remove::folder(path),
            Self::RemoveTree(path) => tree::tree(path, context),
            Self::WriteCache { device, serial, on } => {
                write_cache::restore(device, serial, *on, context)
            }
            Self::EndProgram { pid, started } => program::end(*pid, *started),
            Self::Queue { device, instance, setting, value } => {
                queue::restore(device, instance, *setting, value)
            }
            Self::WipeDrive { device, serial, mark } => {
                wipe_drive::wipe(device, serial.as_deref(), mark, context)
            }
            Self::RemoveFile(path) => remove::file(path),
            Self::DetachLoop(path) => detach_loop::detach_loop(path, context),
            Self::RemovePartitions { device, guid, .. } => {
                partitions::remove(device, guid, context)
            }
            Self::RemoveBtrfs { uuid, devices } => btrfs::remove(uuid, devices, context),
            Self::StopArray { name, uuid, members } => {
                stop_array::stop_array(&stop_array::Array { name, uuid, members }, context)
            }
            Self::RemoveVolumeGroup { name, mark, volumes } => {
                volume_group::remove(name, mark, volumes, context)
            }
            Self::CloseCrypt(mapping) => mapping::close_crypt(mapping, context),
            Self::CloseIntegrity(mapping) => mapping::close_integrity(mapping, context),
            Self::DestroyPool { name, mark, devices } => {
                pool::destroy(name, mark, devices, context)
            }
        }
    }

    /// What is on or in it that the run with these marks did not make. With any, it
    /// is to be left alone.
    ///
    /// # Errors
    /// [`StackError`] if it cannot be inspected: the caller leaves it alone then.
    pub(crate) fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        match self {
            Self::Unmount(path) => unmount::obstacles(path, marks, context),
            Self::RemoveFolder(path) => remove::folder_obstacles(path, marks),
            Self::RemoveTree(path) => tree::obstacles(path, marks),
            Self::RemoveFile(path) => remove::file_obstacles(path, marks, context),
            Self::DetachLoop(path) => detach_loop::obstacles(path, marks, context),
            Self::WipeDrive { device, serial, mark } => {
                wipe_drive::obstacles(device, serial.as_deref(), mark, marks, context)
            }
            Self::RemovePartitions { device, guid, count } => {
                partitions::obstacles((device, guid, *count), marks, context)
            }
            Self::RemoveBtrfs { uuid, devices } => btrfs::obstacles(uuid, devices, marks, context),
            Self::StopArray { name, uuid, members } => {
                let array = stop_array::Array { name, uuid, members };
                stop_array::obstacles(&array, marks, context)
            }
            Self::RemoveVolumeGroup { name, mark, volumes } => {
                volume_group::obstacles(name, mark, volumes, marks, context)
            }
            Self::CloseCrypt(mapping) | Self::CloseIntegrity(mapping) => {
                mapping::obstacles(mapping, marks, context)
            }
            Self::DestroyPool { name, mark, devices } => {
                pool::obstacles(name, mark, devices, marks, context)
            }
            // Settings, and a process that is recognised by its start.
            Self::WriteCache { .. } | Self::EndProgram { .. } | Self::Queue { .. } => {
                Ok(Vec::new())
            }
        }
    }

    /// What the things that it removes are recognised by.
    pub(crate) fn marks(&self) -> Vec<String> {
        match self {
            Self::WipeDrive { mark, .. } => vec![mark.clone()],
            Self::RemovePartitions { guid, .. } => vec![guid.clone()],
            Self::RemoveBtrfs { uuid, .. } => vec![uuid.clone()],
            Self::StopArray { name, uuid, .. } => vec![name.clone(), uuid.clone()],
            Self::RemoveVolumeGroup { name, mark, volumes } => {
                let uuids = volumes.iter().map(|(_, uuid)| uuid.clone());
                [name.clone(), mark.clone()].into_iter().chain(uuids).collect()
            }
            Self::CloseCrypt(mapping) | Self::CloseIntegrity(mapping) => {
                vec![mapping.name.clone(), mapping.uuid.clone()]
            }
            Self::DestroyPool { name, mark, .. } => vec![name.clone(), mark.clone()],
            Self::Unmount(_)
            | Self::RemoveFolder(_)
            | Self::RemoveTree(_)
            | Self::WriteCache { .. }
            | Self::EndProgram { .. }
            | Self::Queue { .. }
            | Self::RemoveFile(_)
            | Self::DetachLoop(_) => Vec::new(),
        }
    }

    /// Whether a restart of the machine has undone it.
    pub(crate) fn ends_with_boot(&self) -> bool {
        matches!(
            self,
            Self::Unmount(_) | Self::EndProgram { .. } | Self::Queue { .. } | Self::DetachLoop(_)
        )
    }

    /// The paths that it acts on.
    pub(crate) fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Unmount(path)
            | Self::RemoveFolder(path)
            | Self::RemoveTree(path)
            | Self::WriteCache { device: path, .. }
            | Self::Queue { device: path, .. }
            | Self::WipeDrive { device: path, .. }
            | Self::RemoveFile(path)
            | Self::DetachLoop(path)
            | Self::RemovePartitions { device: path, .. } => vec![path],
            Self::RemoveBtrfs { devices, .. } | Self::StopArray { members: devices, .. } => {
                devices.iter().map(PathBuf::as_path).collect()
            }
            Self::RemoveVolumeGroup { volumes, .. } => {
                volumes.iter().map(|(device, _)| device.as_path()).collect()
            }
            Self::DestroyPool { devices, .. } => devices.iter().map(PathBuf::as_path).collect(),
            Self::CloseCrypt(mapping) | Self::CloseIntegrity(mapping) => vec![&mapping.device],
            Self::EndProgram { .. } => Vec::new(),
        }
    }

    /// Whether removing it would remove what `other` is about, too: what is in a directory, or
    /// built on a device.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        let others = || other.paths().into_iter();
        match self {
            Self::RemoveTree(tree) => others().any(|path| path.starts_with(tree)),
            Self::RemoveFile(file) => others().any(|path| path == file),
            Self::DetachLoop(file) => loops_on(&as_kernel_shows(file))
                .iter()
                .any(|device| others().any(|path| is_built_on(path, device))),
            Self::DestroyPool { name, .. } => {
                let volumes = Path::new("/dev/zvol").join(name);
                others().any(|path| path.starts_with(&volumes))
            }
            Self::WipeDrive { .. }
            | Self::RemovePartitions { .. }
            | Self::RemoveBtrfs { .. }
            | Self::StopArray { .. }
            | Self::RemoveVolumeGroup { .. }
            | Self::CloseCrypt(_)
            | Self::CloseIntegrity(_) => {
                let own = self.paths();
                others().any(|path| own.iter().any(|device| is_built_on(path, device)))
            }
            Self::Unmount(_)
            | Self::RemoveFolder(_)
            | Self::WriteCache { .. }
            | Self::EndProgram { .. }
            | Self::Queue { .. } => false,
        }
    }

    /// Whether an entry read from a file can be ours at all: disklab enters
    /// only absolute paths below some folder.
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
    /// The thing, in words: 'the mount at /x'.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmount(path) => write!(f, "the mount at {}", path.display()),
            Self::RemoveFolder(path) => write!(f, "the directory {}", path.display()),
            Self::RemoveTree(path) => {
                write!(f, "the directory {} and what is in it", path.display())
            }
            Self::WriteCache { device, on, .. } => {
                let state = if *on { "on" } else { "off" };
                write!(f, "the write cache of {}, which was {state}", device.display())
            }
            Self::Queue { device, setting, .. } => {
                write!(f, "the setting `{setting}` of the queue of {}", device.display())
            }
            Self::WipeDrive { device, .. } => {
                write!(f, "the file system on {}", device.display())
            }
            Self::RemoveFile(path) => write!(f, "the file {}", path.display()),
            Self::DetachLoop(path) => write!(f, "the loop device on {}", path.display()),
            Self::RemovePartitions { device, .. } => {
                write!(f, "the partitions of {}", device.display())
            }
            Self::RemoveBtrfs { devices, .. } => {
                write!(f, "the Btrfs on {}", list(devices))
            }
            Self::StopArray { members, .. } => write!(f, "the md array on {}", list(members)),
            Self::RemoveVolumeGroup { name, .. } => write!(f, "the volume group {name}"),
            Self::DestroyPool { name, .. } => write!(f, "the ZFS pool {name}"),
            Self::EndProgram { pid, .. } => write!(f, "process {pid}"),
            Self::CloseCrypt(mapping) | Self::CloseIntegrity(mapping) => {
                write!(f, "the mapping {} on {}", mapping.name, mapping.device.display())
            }
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
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

/// What blkid finds on a device itself, past its cache, under this tag, such as
/// `UUID`; nothing where there is no such thing, or more than one.
fn probe(device: &Path, tag: &str, executor: &Executor) -> Result<Option<String>, StackError> {
    let blkid = Invocation::new("blkid")
        .args(["--probe", "--output", "value", "--match-tag", tag])
        .arg(device)
        .uninterruptible();
    let failed = |source: ExecError| StackError::Program { layer: "blkid".to_owned(), source };
    let done = executor.run(&blkid).map_err(failed)?;
    let text = done.text().trim().to_owned();
    // blkid(8): 2 where nothing was found, 8 where it is ambivalent.
    Ok((done.code == 0 && !text.is_empty()).then_some(text))
}

/// `path` as the kernel shows it in its tables: what leads to it resolved, but
/// not the last part, which may be a mount that no longer answers.
pub(crate) fn as_kernel_shows(path: &Path) -> PathBuf {
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}
