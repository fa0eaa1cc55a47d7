//! What all file systems on block devices share: options, the mount point, and
//! mounting.

use std::path::{Path, PathBuf};

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_measure::{BlockDevice, SystemRoot, identity};
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::mount_options;
use crate::find::Search;
use crate::reading::OptionReader;
use crate::seeded::uuid;
use crate::{
    LayerContext, LayerKind, LayerOutput, Need, Remount, Shape, ShapeError, StackError, Volume,
    undo,
};

/// `block-size`, as every file system's table of options has it.
pub(super) const BLOCK_SIZE: (&str, &str) =
    ("block-size", "size of a block, such as 4K [default: mkfs's choice]");
/// `mkfs`, as every file system's table of options has it.
pub(super) const MKFS: (&str, &str) =
    ("mkfs", "more arguments for mkfs, as in a shell; repeatable");
/// The line for mount options.
pub(super) const MOUNT_OPTIONS: (&str, &str) =
    (LayerKind::ANY_OPTION, "any other is a mount option, passed on as written");

/// mount and umount.
pub(super) const MOUNT: Need = Need::Program { name: "mount", package: "mount" };

#[derive(Debug, Clone, Default)]
pub(super) struct FileSystemOptions {
    /// `block-size`, a power of two.
    pub block_size: Option<Bytes>,
    /// More arguments for mkfs.
    pub mkfs: Vec<String>,
    /// Mount options, in the order written.
    pub mount: Vec<String>,
}

impl FileSystemOptions {
    /// Reads the options of a layer, but for those in `own`, which the file
    /// system reads by itself.
    ///
    /// # Errors
    /// Where a block size or the arguments for mkfs cannot be read.
    pub(super) fn parse(spec: &LayerSpec, own: &[&str]) -> Result<Self, SourceError> {
        let mut options = Self::default();
        let mut reading = OptionReader::new(spec);
        options.block_size = reading.power_of_two("block-size", Bytes(512), Bytes::kib(64))?;
        for (key, value) in &spec.options {
            let text = value.as_deref().unwrap_or_default();
            match key.as_str() {
                "block-size" => {}
                "mkfs" => options.mkfs.extend(shell_words::split(text).map_err(|e| {
                    spec.error(format!("`mkfs`: '{text}' is not a list of arguments: {e}"))
                })?),
                key if own.contains(&key) => {}
                key => {
                    mount_options::check(spec, key)?;
                    options.mount.push(match value {
                        None => key.to_owned(),
                        Some(value) => format!("{key}={value}"),
                    });
                }
            }
        }
        Ok(options)
    }
}

/// The one device that `name` is built on.
///
/// # Errors
/// Where there are several, or none, or it is too small.
pub(super) fn one_volume<'a>(
    name: &'static str,
    below: &'a Shape,
    minimum: Bytes,
) -> Result<&'a Volume, ShapeError> {
    let remedy = |needs, remedy| Err(ShapeError::with_remedy(name, needs, below.kind(), remedy));
    match below {
        Shape::Devices(volumes) => match volumes.as_slice() {
            [volume] if volume.size >= minimum => Ok(volume),
            [volume] => Err(ShapeError::TooSmall { layer: name, least: minimum, got: volume.size }),
            _ => remedy("exactly 1 device", "put an array or a volume manager below it"),
        },
        Shape::Pool(_) => remedy("a device", "put a zvol or a loop-file below it"),
        Shape::Directory(_) => remedy("a device", "put a loop-file below it"),
    }
}

/// The directory that a file system of `usable` bytes makes of `below`.
pub(super) fn directory_on(below: &Volume, usable: Bytes) -> Shape {
    Shape::Directory(Volume { size: usable, ..below.clone() })
}

/// The devices below, which [`Layer::shape`](crate::Layer::shape) promised.
pub(super) fn devices(name: &'static str, below: LayerOutput) -> Result<Vec<PathBuf>, StackError> {
    match below {
        LayerOutput::Devices(devices) if !devices.is_empty() => Ok(devices),
        other => Err(ShapeError::unfit(name, "devices", other.kind()).into()),
    }
}

/// The only device below.
pub(super) fn one_device(name: &'static str, below: LayerOutput) -> Result<PathBuf, StackError> {
    let kind = below.kind();
    let mut devices = devices(name, below)?;
    match (devices.pop(), devices.len()) {
        (Some(device), 0) => Ok(device),
        _ => Err(ShapeError::unfit(name, "exactly 1 device", kind).into()),
    }
}

/// A fresh directory to mount on.
#[derive(Debug)]
pub(super) struct MountPoint {
    pub directory: PathBuf,
    /// A UUID for the file system.
    pub uuid: String,
}

impl MountPoint {
    /// Makes a fresh directory in the context's directory.
    ///
    /// # Errors
    /// [`StackError`] if the ledger or the directory cannot be written.
    pub(super) fn new(context: &mut LayerContext<'_>) -> Result<Self, StackError> {
        let above = context
            .directory
            .canonicalize()
            .map_err(|e| StackError::io("cannot find the directory", context.directory, e))?;
        // A stack with a loop-file has a file system on a file system.
        let name = (1_u32..)
            .map(|n| if n == 1 { "mnt".to_owned() } else { format!("mnt-{n}") })
            .find(|name| above.join(name).symlink_metadata().is_err())
            .unwrap_or_default();
        let directory = above.join(&name);
        let uuid = uuid(context, &name);
        // With it, as what is mounted here is recognised by the UUID.
        context.enter_with(undo::RemoveDirectory(directory.clone()), vec![uuid.clone()])?;
        std::fs::create_dir(&directory)
            .map_err(|e| StackError::io("cannot create the directory", &directory, e))?;
        Ok(Self { uuid, directory })
    }

    /// Mounts here what is on these devices, the first of which is enough for the kernel to know the others.
    ///
    /// # Errors
    /// [`StackError::Program`] with what mount(8) printed.
    pub(super) fn mount(
        self,
        context: &mut LayerContext<'_>,
        file_system: &str,
        device: &Path,
        options: &[String],
    ) -> Result<LayerOutput, StackError> {
        let mut mount = Invocation::new("mount");
        // mount.nilfs2 would start a daemon, which the end of mount's process
        // group may or may not kill; see nilfs2.rs.
        if file_system == "nilfs2" {
            mount = mount.arg("-i");
        }
        mount = mount.args(["-t", file_system]);
        if !options.is_empty() {
            mount = mount.arg("-o").arg(options.join(","));
        }
        context.enter(undo::Unmount(self.directory.clone()))?;
        let mount = mount.arg(device).arg(&self.directory);
        context.run(file_system, &mount)?;
        let directory = self.directory.clone();
        context.mounted.push(Remount::FileSystem { directory, mount, degraded: Vec::new() });
        Ok(LayerOutput::Directory(self.directory))
    }
}

/// Enters the file system that mkfs is about to make, where it is made on a drive
/// itself: that would be left behind as if it were somebody's data. What is built on
/// an array or a volume goes with that; so do drives that read as zeros, which are
/// files or models made for this cell. `mark` is what it is recognised by; see
/// [`undo::WipeDrive`].
///
/// # Errors
/// [`StackError`] if the undo cannot be entered in the ledger.
pub(super) fn enter(
    context: &mut LayerContext<'_>,
    device: &Path,
    mark: &str,
) -> Result<(), StackError> {
    let drive = BlockDevice::at(&SystemRoot::here(), device).filter(BlockDevice::is_physical);
    let Some(drive) = drive.filter(|_| !context.drives_are_zero) else { return Ok(()) };
    // Past the context, which would count it: when the stack is assembled, the drives are no longer
    // zero.
    context.ledger.enter(undo::WipeDrive {
        device: device.to_owned(),
        serial: identity(&drive).serial,
        mark: mark.to_owned(),
    })
}

/// The device below, and the mount point of the file system that is on it or will be.
///
/// # Errors
/// As for [`one_device`], [`MountPoint::new`] and [`enter`].
pub(super) fn device_and_point(
    name: &'static str,
    below: LayerOutput,
    context: &mut LayerContext<'_>,
) -> Result<(PathBuf, MountPoint), StackError> {
    let device = one_device(name, below)?;
    let point = MountPoint::new(context)?;
    enter(context, &device, &point.uuid)?;
    Ok((device, point))
}

/// The same, if the point's file system is on the device.
///
/// # Errors
/// [`StackError::NotFound`] if not.
pub(super) fn find(
    name: &'static str,
    below: LayerOutput,
    context: &mut LayerContext<'_>,
) -> Result<(PathBuf, MountPoint), StackError> {
    let (device, point) = device_and_point(name, below, context)?;
    file_system(name).all(std::slice::from_ref(&device), &point.uuid, context)?;
    Ok((device, point))
}

/// Looks for a file system by its UUID.
pub(super) fn file_system(layer: &'static str) -> Search {
    Search { layer, what: "the file system with the UUID", tag: "UUID" }
}

/// The context's tag as a label of at most `length` bytes.
pub(super) fn label(context: &LayerContext<'_>, length: usize) -> String {
    context.tag.chars().filter(char::is_ascii_alphanumeric).take(length).collect()
}
