//! Which processes have a device open, by its number and not by a name.
//!
//! A program that reads or writes a raw disk, as a virtual machine does, leaves no other trace.
//! `/proc` shows the descriptors of each task and what it maps. It does not show a descriptor on
//! its way through a socket, one that io_uring keeps, a process of another container, or the
//! kernel itself: these [`has_cached`] finds.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::ptr;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use crate::{BlockDevice, SystemRoot};

/// A process and the device that it has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opener {
    /// Its number. The name may change while one looks: by exec(2).
    pub pid: u32,
    /// Its name, such as `qemu-system-x86`.
    pub name: String,
    /// One of those that were asked about.
    pub device: BlockDevice,
}

impl Opener {
    /// Whether it is the same process with the same device.
    pub fn is(&self, other: &Self) -> bool {
        (self.pid, &self.device) == (other.pid, &other.device)
    }
}

/// All other processes that have one of `devices` open or mapped now, as far as the rights
/// suffice to see it.
pub fn openers(root: &SystemRoot, devices: &[BlockDevice]) -> Vec<Opener> {
    let mut numbers: HashMap<Node, &BlockDevice> = HashMap::new();
    for device in devices {
        numbers.extend(device.number().map(|number| (Node::Block(number), device)));
        let generic = device.generic_numbers().into_iter();
        numbers.extend(generic.map(|number| (Node::Character(number), device)));
    }
    let own = std::process::id();
    let mut found: Vec<Opener> = Vec::new();
    for pid in numbers_in(root, "/proc") {
        if root.is_here() && pid == own {
            continue;
        }
        for node in open_nodes(root, pid) {
            let Some(device) = numbers.get(&node) else { continue };
            let device = (*device).clone();
            let name = root.text(format!("/proc/{pid}/comm")).unwrap_or_default();
            let opener = Opener { pid, name, device };
            if !found.iter().any(|known| known.is(&opener)) {
                found.push(opener);
            }
        }
    }
    found
}

/// Whether a process, this one or another, has a file open or mapped, as far as the rights suffice
/// to see it.
pub(crate) fn has_opener(root: &SystemRoot, file: &Metadata) -> bool {
    let device = (rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()));
    let wanted = Node::File(device, file.ino());
    numbers_in(root, "/proc").into_iter().any(|pid| open_nodes(root, pid).contains(&wanted))
}

/// A device by its kind and number, a file by its file system's and its inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Block((u32, u32)),
    Character((u32, u32)),
    File((u32, u32), u64),
}

/// What the tasks of a process have open or mapped. A task may have descriptors of
/// its own; and the first one may have ended, and shows none then.
fn open_nodes(root: &SystemRoot, pid: u32) -> Vec<Node> {
    let mut found = Vec::new();
    let mut has_map = false;
    for task in numbers_in(root, &format!("/proc/{pid}/task")) {
        let directory = format!("/proc/{pid}/task/{task}/fd");
        let links = root.names(&directory).into_iter().map(|fd| Path::new(&directory).join(fd));
        found.extend(links.filter_map(|link| node(root, &link)));
        // All tasks that live share one map.
        if !has_map {
            let mapped = mapped(root, task);
            has_map = !mapped.is_empty();
            found.extend(mapped.iter().filter_map(|link| node(root, link)));
        }
    }
    found
}

/// What a task maps, each file once.
fn mapped(root: &SystemRoot, task: u32) -> Vec<PathBuf> {
    let maps = root.bytes(format!("/proc/{task}/maps")).unwrap_or_default();
    let mut links: HashMap<(&[u8], &[u8]), PathBuf> = HashMap::new();
    for line in maps.split(|byte| *byte == b'\n') {
        // address permissions offset device inode  path
        let mut words = line.split(|byte| *byte == b' ');
        let (Some(range), Some(device), Some(inode)) = (words.next(), words.nth(2), words.next())
        else {
            continue;
        };
        if let (true, Ok(range)) = (inode != b"0", std::str::from_utf8(range)) {
            // The kernel pads the addresses here, and not in the names there.
            let plain = |word: &str| word.trim_start_matches('0').to_owned();
            let name = range.split('-').map(plain).collect::<Vec<_>>().join("-");
            links.insert((device, inode), PathBuf::from(format!("/proc/{task}/map_files/{name}")));
        }
    }
    links.into_values().collect()
}

fn numbers_in(root: &SystemRoot, directory: &str) -> Vec<u32> {
    root.names(directory).iter().filter_map(|name| name.parse().ok()).collect()
}

/// What a link in `/proc` leads to.
fn node(root: &SystemRoot, link: &Path) -> Option<Node> {
    if !root.is_here() {
        let target = std::fs::read_link(root.path(link)).ok()?;
        return BlockDevice::at(root, &target)?.number().map(Node::Block);
    }
    // What is known already: to ask a dead network file system would hang.
    let asked = StatxFlags::TYPE | StatxFlags::INO;
    let there = statx(CWD, link, AtFlags::STATX_DONT_SYNC, asked).ok()?;
    let number = (there.stx_rdev_major, there.stx_rdev_minor);
    match FileType::from_raw_mode(there.stx_mode.into()) {
        FileType::BlockDevice => Some(Node::Block(number)),
        FileType::CharacterDevice => Some(Node::Character(number)),
        FileType::RegularFile => {
            Some(Node::File((there.stx_dev_major, there.stx_dev_minor), there.stx_ino))
        }
        _ => None,
    }
}

/// Bytes of a device that are read to find out who else has it open.
const SAMPLE: usize = 64 << 10;

/// Reads the beginning of a block device into the page cache, for [`has_cached`].
///
/// # Errors
/// What the system says if it cannot be read.
pub fn fill_cache(device: &File) -> io::Result<()> {
    let mut buffer = vec![0; SAMPLE];
    device.read_at(&mut buffer, 0).map(drop)
}

/// Whether something has had a block device open ever since [`fill_cache`] read it and its
/// caller closed it: the kernel drops the page cache of a device that nothing has open
/// (block/bdev.c, `blkdev_flush_mapping`). A device that is opened for another, such as the
/// drive for its partition, counts as open.
///
/// # Errors
/// What the system says if it cannot be mapped.
pub fn has_cached(device: &File) -> io::Result<bool> {
    let mut resident = [0_u8; SAMPLE / 4096];
    // SAFETY: a new mapping, which nothing reads or writes and which is removed below; there is
    // a byte for each of its pages, which are of 4 KiB at least.
    let asked = unsafe {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        let map = libc::mmap(ptr::null_mut(), SAMPLE, read, shared, device.as_raw_fd(), 0);
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let asked = libc::mincore(map, SAMPLE, resident.as_mut_ptr());
        let asked = if asked == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
        libc::munmap(map, SAMPLE);
        asked
    };
    asked.map(|()| resident.iter().any(|page| page & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn each_descriptor_of_each_task_counts_whatever_the_name() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").drive("sdb", (8, 16), "B");
        for (pid, task, name, target) in [
            (10, 10, "qemu-system-x86", "/dev/sda"),
            (11, 11, "blkid-thief", "/dev/sda"),
            (12, 12, "vlc", "/dev/sdb"),
            (13, 13, "bash", "/home/x"),
            // Its first task has ended.
            (14, 15, "backup", "/dev/sda"),
        ] {
            tree.process(pid, pid, name).process(pid, task, name);
            for fd in 3..5 {
                tree.link(&format!("/proc/{pid}/task/{task}/fd/{fd}"), target);
            }
        }
        tree.link("/proc/self/task/10/fd/3", "/dev/sda");
        // Mapped, with the descriptor closed.
        tree.file(
            "/proc/16/maps",
            "00400000-00401000 r-xp 00000000 fe:00 12 /bin/x\n\
             7f00-7f01 rw-s 00000000 00:06 34 /dev/sda (deleted)\n7f02-7f03 rw-p 00 00:00 0 \n",
        );
        tree.process(16, 16, "mapper").link("/proc/16/map_files/7f00-7f01", "/dev/sda");
        let root = tree.root();
        let device = BlockDevice::named(&root, "sda").expect("there");
        let found = openers(&root, &[device]);
        let found: Vec<_> = found.iter().map(|o| (o.pid, o.name.as_str())).collect();
        let expected =
            [(10, "qemu-system-x86"), (11, "blkid-thief"), (14, "backup"), (16, "mapper")];
        assert_eq!(found, expected);
    }
}
