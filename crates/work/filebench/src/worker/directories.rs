//! Flowops on directories.

use std::io;
use std::mem::MaybeUninit;

use disklab_wml::{Flowop, FlowopFiles};
use rustix::fs::{AtFlags, Mode, OFlags, RawDir};

use super::{FlowopResult, Worker};
use crate::fileset::EntryKind;
use crate::filler::retry;

/// Bytes of entries that one system call fetches: as the C library's readdir does.
const ENTRIES: usize = 32 << 10;
/// What Filebench counts for an entry besides its name: `struct dirent64` of the C
/// library has 280 bytes, and one of them is the name's.
const UPSTREAM_ENTRY: u64 = 279;
/// What the kernel gives for an entry besides its name: `struct linux_dirent64` of
/// getdents64(2), with the name's end, rounded up to 8.
const ENTRY: u64 = 19 + 1;

impl Worker<'_, '_> {
    pub(super) fn make_dir(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        self.leaf(flowop, files, false)
    }

    pub(super) fn remove_dir(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        self.leaf(flowop, files, true)
    }

    /// Makes a leaf directory, or removes one that exists.
    fn leaf(&mut self, flowop: &Flowop, files: &FlowopFiles, exists: bool) -> FlowopResult {
        let (id, set) = self.set(flowop, files)?;
        let what = if exists { "leaf directory" } else { "leaf directory that does not exist" };
        let entry = self
            .pick(files, id, set, EntryKind::Leaf, exists)
            .ok_or_else(|| Self::no_file(flowop, what, set))?;
        let done = set.at(EntryKind::Leaf, entry, &mut self.path, |directory, name| {
            retry(|| match exists {
                true => rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR),
                false => rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o755)),
            })
        });
        if let Err(error) = done
            && !self.shared.options.strict
        {
            set.release(EntryKind::Leaf, entry, exists);
            let what = if exists { "remove" } else { "make" };
            let what = format!("{what} {}", set.show(EntryKind::Leaf, entry));
            return Err(Self::refused(flowop, &what, error));
        }
        set.release(EntryKind::Leaf, entry, !exists);
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn list_dir(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        let (id, set) = self.set(flowop, files)?;
        let entry = self
            .pick(files, id, set, EntryKind::Inner, true)
            .ok_or_else(|| Self::no_file(flowop, "directory", set))?;
        let strict = self.shared.options.strict;
        let listed = set.at(EntryKind::Inner, entry, &mut self.path, |directory, name| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            list(|| retry(|| rustix::fs::openat(directory, name, flags, Mode::empty())), strict)
        });
        set.release(EntryKind::Inner, entry, true);
        let bytes = listed.map_err(|error| {
            Self::refused(flowop, &format!("list {}", set.show(EntryKind::Inner, entry)), error)
        })?;
        self.count(flowop, bytes);
        Ok(())
    }
}

/// Bytes of a directory's entries.
fn list(open: impl FnOnce() -> io::Result<std::os::fd::OwnedFd>, strict: bool) -> io::Result<u64> {
    let directory = open()?;
    let mut buffer = [MaybeUninit::uninit(); ENTRIES];
    let mut entries = RawDir::new(&directory, &mut buffer);
    let mut bytes = 0;
    while let Some(entry) = entries.next() {
        let name = entry?.file_name().count_bytes() as u64;
        bytes += if strict { name + UPSTREAM_ENTRY } else { (name + ENTRY).next_multiple_of(8) };
    }
    Ok(bytes)
}
