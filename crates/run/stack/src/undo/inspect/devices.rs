//! A block device with all that is above it: partitions, arrays, mappings, mounts.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_measure::{BlockDevice, Opener, SystemRoot, fill_cache, has_cached, openers};
use rustix::fs::OFlags;

use super::super::{Marks, Obstacle, TeardownContext};
use super::signatures::others;
use crate::StackError;
use crate::blkid::probe;
use crate::md_arrays::{array_uuid, same_uuid};
use crate::mounts::mounts;
use crate::udev::kernel_name;

/// How long udev, another disklab that looks at it, or a program that has just been killed may hold
/// a device.
const PATIENCE: Duration = Duration::from_secs(6);

/// How long a look of udev's at a device may last.
const SETTLES: Duration = Duration::from_secs(1);

/// No stack is anywhere near this high.
const HIGHEST: usize = 32;

/// What on `node`, and on what is built on it, is not ours.
///
/// # Errors
/// [`StackError`] if something cannot be inspected: the caller leaves it alone then.
pub(crate) fn device(
    node: &Path,
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    let mut found = Vec::new();
    let mut devices = Vec::new();
    inspect(node, marks, context, HIGHEST, (&mut found, &mut devices))?;
    found.extend(processes(&devices));
    Ok(found)
}

/// Block devices besides `own` that are members of what has this UUID. A device that carries one
/// of `own`'s own identifiers is another path to that member, or a copy of it, and no member more.
///
/// # Errors
/// [`StackError`] if blkid cannot be run: the caller leaves it alone then.
pub(crate) fn carriers(
    uuid: &str,
    own: &[PathBuf],
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    let root = SystemRoot::here();
    // By number: the kernel may know a device by two names.
    let own: Vec<_> = own.iter().filter_map(|path| BlockDevice::at(&root, path)).collect();
    let own_numbers: Vec<_> = own.iter().filter_map(BlockDevice::number).collect();
    let mut found = Vec::new();
    let mut own_members = None;
    for device in BlockDevice::all(&root) {
        let is_own = device.number().is_some_and(|number| own_numbers.contains(&number));
        if device.size_bytes() == 0 || is_own {
            continue;
        }
        let node = device.node();
        if !probe(&node, "UUID", context.executor)?.is_some_and(|other| same_uuid(&other, uuid)) {
            continue;
        }
        let own_members = match &mut own_members {
            Some(known) => known,
            none => none.insert(members(&own, context)?),
        };
        let member = probe(&node, MEMBER, context.executor)?;
        if !member.is_some_and(|member| own_members.contains(&member)) {
            found.push(Obstacle::Member(node.display().to_string()));
        }
    }
    Ok(found)
}

/// blkid's name for what tells the members of one array or file system apart.
const MEMBER: &str = "UUID_SUB";

fn members(
    devices: &[BlockDevice],
    context: &TeardownContext<'_>,
) -> Result<Vec<String>, StackError> {
    let ids = devices.iter().map(|device| probe(&device.node(), MEMBER, context.executor));
    Ok(ids.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Processes that keep one of these devices open. Those of the run have been ended.
fn processes(devices: &[BlockDevice]) -> Vec<Obstacle> {
    let began = Instant::now();
    loop {
        let found = openers(&SystemRoot::here(), devices);
        if found.is_empty() || began.elapsed() > SETTLES {
            let process = |opener: &Opener| Obstacle::Process {
                uses: opener.device.node(),
                process: format!("process {} ({})", opener.pid, opener.name),
            };
            return found.iter().map(process).collect();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn inspect(
    node: &Path,
    marks: &Marks,
    context: &TeardownContext<'_>,
    height: usize,
    (found, devices): (&mut Vec<Obstacle>, &mut Vec<BlockDevice>),
) -> Result<(), StackError> {
    let Some(name) = kernel_name(node).filter(|_| height > 0) else { return Ok(()) };
    devices.extend(BlockDevice::named(&SystemRoot::here(), &name));
    let directory = Path::new("/sys/class/block").join(&name);
    let size = fs::read_to_string(directory.join("size")).unwrap_or_default();
    if size.trim() == "0" {
        // A drive without a medium, or an array that is not started.
        return Ok(());
    }
    let before = found.len();
    found.extend(mounts_of(node, &directory)?);
    found.extend(others(node, marks, context.executor)?);
    let partitions =
        names_in(&directory).into_iter().filter(|n| directory.join(n).join("partition").exists());
    let partitions: Vec<_> = partitions.collect();
    let holders = names_in(&directory.join("holders"));
    for partition in &partitions {
        let node = Path::new("/dev").join(partition);
        inspect(&node, marks, context, height - 1, (found, devices))?;
    }
    for holder in &holders {
        let above = Path::new("/dev").join(holder);
        if is_own(holder, marks, context) {
            inspect(&above, marks, context, height - 1, (found, devices))?;
        } else {
            found.push(Obstacle::Holder { device: node.to_owned(), holder: described(holder) });
        }
    }
    // Mounts in other namespaces, swap, and whatever else claims a device.
    if found.len() == before && partitions.is_empty() && holders.is_empty() && is_claimed(node) {
        found.push(Obstacle::Busy(node.to_owned()));
    }
    Ok(())
}

/// Mounts of the device itself.
fn mounts_of(node: &Path, directory: &Path) -> Result<Vec<Obstacle>, StackError> {
    let number = fs::read_to_string(directory.join("dev")).unwrap_or_default();
    let same = |mount: &disklab_measure::Mount| {
        let (major, minor) = mount.device;
        // Btrfs has an anonymous number.
        format!("{major}:{minor}") == number.trim()
            || (major == 0
                && mount.source.is_absolute()
                && kernel_name(&mount.source) == kernel_name(node))
    };
    let found = mounts()?.into_iter().filter(same);
    Ok(found
        .map(|mount| Obstacle::Mount { source: node.to_owned(), at: mount.mount_point })
        .collect())
}

/// Whether an array or mapping is one of disklab's.
fn is_own(name: &str, marks: &Marks, context: &TeardownContext<'_>) -> bool {
    let directory = Path::new("/sys/class/block").join(name);
    if directory.join("md").is_dir() {
        return array_uuid(name, context.executor).is_some_and(|uuid| marks.has(&uuid));
    }
    let Some(mapping) = mapping(&directory) else { return false };
    // cryptsetup maps a device for itself while it formats it.
    mapping.starts_with("temporary-cryptsetup-")
        || marks.has(&mapping)
        || group_of(&mapping).is_some_and(|group| marks.has(&group))
}

/// The volume group of a logical volume's mapping: in `group-volume`, hyphens
/// within either name are doubled (dmsetup(8)).
fn group_of(mapping: &str) -> Option<String> {
    let mut rest = mapping.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if c == '-' && rest.next_if(|(_, next)| *next == '-').is_none() {
            return Some(mapping[..at].replace("--", "-"));
        }
    }
    None
}

fn mapping(directory: &Path) -> Option<String> {
    fs::read_to_string(directory.join("dm/name")).ok().map(|name| name.trim().to_owned())
}

/// The name that a user knows.
fn described(name: &str) -> PathBuf {
    mapping(&Path::new("/sys/class/block").join(name))
        .map_or_else(|| Path::new("/dev").join(name), |name| Path::new("/dev/mapper").join(name))
}

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Opens a device for itself alone: open(2), `O_EXCL` on block devices.
///
/// # Errors
/// Those of opening it; [`io::ErrorKind::ResourceBusy`] where something else has it so.
pub(crate) fn open_alone(device: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::EXCL.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(device)
}

/// Whether something has the device open, also where /proc does not show it, or for itself.
fn is_claimed(node: &Path) -> bool {
    let is_open = || {
        fill_cache(&open_alone(node)?)?;
        has_cached(&open_alone(node)?)
    };
    let began = Instant::now();
    loop {
        match is_open() {
            Ok(true) => {}
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {}
            _ => return false,
        }
        if began.elapsed() > PATIENCE {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_the_name_that_device_mapper_shows() {
        let directory = tempfile::tempdir().expect("temp");
        assert_eq!(mapping(directory.path()), None);
        fs::create_dir(directory.path().join("dm")).expect("made");
        fs::write(directory.path().join("dm/name"), "vg-data\n").expect("written");
        assert_eq!(mapping(directory.path()).as_deref(), Some("vg-data"));
    }

    #[test]
    fn what_is_on_no_device_is_mounted_from_no_device() {
        let directory = tempfile::tempdir().expect("temp");
        let of = |node: &str| mounts_of(Path::new(node), directory.path()).expect("read");
        assert_eq!(of("/dev/no-drive"), [], "not /proc, for one");
        // By its number.
        let proc =
            mounts().expect("read").into_iter().find(|m| m.mount_point == Path::new("/proc"));
        let (major, minor) = proc.expect("mounted").device;
        fs::write(directory.path().join("dev"), format!("{major}:{minor}\n")).expect("written");
        assert!(of("/dev/no-drive").iter().any(|o| o.to_string().contains("/proc")));
    }

    #[test]
    fn groups_are_distinguished_from_their_volumes() {
        assert_eq!(group_of("disklab--t1x2--3-data").as_deref(), Some("disklab-t1x2-3"));
        assert_eq!(group_of("vg-data--1").as_deref(), Some("vg"));
        assert_eq!(group_of("luks").as_deref(), None);
        assert_eq!(group_of("a--b").as_deref(), None);
    }
}
