//! Flowops on files as a whole: open, create, close, delete, stat, fsync.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use disklab_wml::{FilesetId, Flowop, FlowopFiles, OpenHow};
use rustix::fs::{Advice, AtFlags, FileType, Mode, OFlags};

use super::{FlowopResult, Worker};
use crate::FlowopObstacle;
use crate::fileset::{EntryKind, From, Set};
use crate::filler::retry;

const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

impl<'env> Worker<'_, 'env> {
    pub(super) fn open_file(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        let slot = self.slot(flowop, files)?;
        if self.slots[slot].open.is_some() {
            return Err(Self::impossible(flowop, FlowopObstacle::SlotOpen(slot)));
        }
        self.open_into(flowop, files, slot)?;
        self.count(flowop, 0);
        Ok(())
    }

    /// Picks an existing file and opens it.
    pub(super) fn open_into(
        &mut self,
        flowop: &Flowop,
        files: &FlowopFiles,
        slot: usize,
    ) -> FlowopResult {
        let (id, set) = self.set(flowop, files)?;
        let entry = self
            .pick(files, id, set, EntryKind::File, true)
            .ok_or_else(|| Self::no_file(flowop, "existing file", set))?;
        let opened = self.open_entry(set, entry, files.how, OFlags::empty());
        match opened {
            Ok(fd) => {
                if set.trusted
                    && let Ok(stat) = rustix::fs::fstat(&fd)
                {
                    // Nobody has looked at it before.
                    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                        set.release(EntryKind::File, entry, true);
                        let what = set.show(EntryKind::File, entry);
                        return Err(Self::impossible(flowop, FlowopObstacle::NotAFile(what)));
                    }
                    let length = u64::try_from(stat.st_size).unwrap_or_default();
                    set.length(entry).fetch_max(length, Ordering::AcqRel);
                }
                self.put(slot, fd, id, entry, files.how.direct);
                set.release(EntryKind::File, entry, true);
                Ok(())
            }
            Err(error) => {
                set.release(EntryKind::File, entry, true);
                Err(Self::refused(
                    flowop,
                    &format!("open {}", set.show(EntryKind::File, entry)),
                    error,
                ))
            }
        }
    }

    pub(super) fn create_file(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        let slot = files.slot.min(self.slots.len() - 1);
        if self.slots[slot].open.is_some() {
            return Err(Self::impossible(flowop, FlowopObstacle::SlotOpen(slot)));
        }
        let (id, set) = self.set(flowop, files)?;
        let entry = self
            .pick(files, id, set, EntryKind::File, false)
            .ok_or_else(|| Self::no_file(flowop, "file that does not exist", set))?;
        match self.open_entry(set, entry, files.how, OFlags::CREATE) {
            Ok(fd) => {
                set.length(entry).store(0, Ordering::Release);
                self.put(slot, fd, id, entry, files.how.direct);
                set.release(EntryKind::File, entry, true);
                self.count(flowop, 0);
                Ok(())
            }
            Err(error) => {
                set.release(EntryKind::File, entry, false);
                Err(Self::refused(
                    flowop,
                    &format!("make {}", set.show(EntryKind::File, entry)),
                    error,
                ))
            }
        }
    }

    fn open_entry(
        &mut self,
        set: &Set,
        entry: usize,
        how: OpenHow,
        extra: OFlags,
    ) -> io::Result<OwnedFd> {
        // A tree that was there before may hold a link that leads out of it.
        let mut flags = extra | OFlags::CLOEXEC | OFlags::NOFOLLOW | set.access();
        if how.dsync {
            // Filebench asks for more than the name says (flowop_library.c).
            flags |= if self.shared.options.strict { OFlags::SYNC } else { OFlags::DSYNC };
        }
        if how.direct {
            flags |= OFlags::DIRECT;
        }
        let fd = set.at(EntryKind::File, entry, &mut self.path, |directory, name| {
            retry(|| rustix::fs::openat(directory, name, flags, NEW_FILE))
        })?;
        if how.no_read_ahead {
            rustix::fs::fadvise(&fd, 0, None, Advice::Random)?;
        }
        Ok(fd)
    }

    pub(super) fn close_file(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        let slot = files.slot.min(self.slots.len() - 1);
        if self.slots[slot].open.is_none() {
            return Err(Self::impossible(flowop, FlowopObstacle::ClosesUnopened(slot)));
        }
        self.close_slot(slot);
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn delete_file(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        let slot = files.slot.min(self.slots.len() - 1);
        let strict = self.shared.options.strict;
        let mut fallback = None;
        if slot > 0
            && let Some((id, entry)) = self.slots[slot].last
        {
            let sets: &'env [Set] = self.shared.sets;
            let set = &sets[id];
            let mine = self.slots[slot].open.as_ref().is_some_and(|open| !open.removed);
            let exists = set.claim(entry);
            if exists && set.opens(entry).load(Ordering::Acquire) <= u32::from(mine) {
                self.slots[slot].last = None;
                return self.remove(flowop, set, entry, mine.then_some(slot));
            }
            set.release(EntryKind::File, entry, exists);
            if strict {
                return Ok(());
            }
            fallback = Some((id, set));
        }
        let (id, set) = match fallback.filter(|_| files.fileset.is_none()) {
            Some(last) => last,
            None => self.set(flowop, files)?,
        };
        // One that is open elsewhere is passed over; there are never more open ones
        // than entries.
        for _ in 0..=set.count(EntryKind::File) {
            let entry = self
                .pick(files, id, set, EntryKind::File, true)
                .ok_or_else(|| Self::no_file(flowop, "existing file", set))?;
            if set.opens(entry).load(Ordering::Acquire) == 0 {
                return self.remove(flowop, set, entry, None);
            }
            set.release(EntryKind::File, entry, true);
            if strict {
                // Skipped, and not counted: so files that do not exist get fewer.
                return Ok(());
            }
            self.proceed()?;
        }
        Err(Self::no_file(flowop, "file that is not open", set))
    }

    /// Removes an entry that is held, and perhaps open in a slot of this thread.
    fn remove(
        &mut self,
        flowop: &Flowop,
        set: &Set,
        entry: usize,
        slot: Option<usize>,
    ) -> FlowopResult {
        let removed = set.at(EntryKind::File, entry, &mut self.path, |directory, name| {
            retry(|| rustix::fs::unlinkat(directory, name, AtFlags::empty()))
        });
        if let Err(error) = removed
            && !self.shared.options.strict
        {
            set.release(EntryKind::File, entry, true);
            let what = format!("remove {}", set.show(EntryKind::File, entry));
            return Err(Self::refused(flowop, &what, error));
        }
        if let Some(open) = slot.and_then(|slot| self.slots[slot].open.as_mut()) {
            open.removed = true;
            set.opens(entry).fetch_sub(1, Ordering::AcqRel);
        }
        set.release(EntryKind::File, entry, false);
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn stat_file(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        let slot = files.slot.min(self.slots.len() - 1);
        if slot > 0
            && let Some(open) = &self.slots[slot].open
        {
            retry(|| rustix::fs::fstat(&open.fd))
                .map_err(|error| Self::refused(flowop, "stat an open file", error))?;
            self.count(flowop, 0);
            return Ok(());
        }
        let (id, set) = self.set(flowop, files)?;
        let entry = self
            .pick(files, id, set, EntryKind::File, true)
            .ok_or_else(|| Self::no_file(flowop, "existing file", set))?;
        let found = set.at(EntryKind::File, entry, &mut self.path, |directory, name| {
            retry(|| rustix::fs::statat(directory, name, AtFlags::empty()))
        });
        set.release(EntryKind::File, entry, true);
        if let Err(error) = found {
            let what = format!("stat {}", set.show(EntryKind::File, entry));
            return Err(Self::refused(flowop, &what, error));
        }
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn fsync(&mut self, flowop: &Flowop, files: &FlowopFiles) -> FlowopResult {
        let slot = files.slot.min(self.slots.len() - 1);
        let Some(open) = &self.slots[slot].open else {
            return Err(Self::impossible(flowop, FlowopObstacle::SyncsUnopened(slot)));
        };
        let synced = retry(|| rustix::fs::fsync(&open.fd));
        self.check_sync(flowop, synced)?;
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn fsync_set(&mut self, flowop: &Flowop, fileset: FilesetId) -> FlowopResult {
        for slot in 0..self.slots.len() {
            let Some(open) = self.slots[slot].open.as_ref().filter(|open| open.set == fileset)
            else {
                continue;
            };
            let synced = retry(|| rustix::fs::fsync(&open.fd));
            self.check_sync(flowop, synced)?;
            self.count(flowop, 0);
        }
        Ok(())
    }

    /// A failed fsync means lost data; Filebench passes it over.
    fn check_sync(&self, flowop: &Flowop, synced: io::Result<()>) -> FlowopResult {
        match synced {
            Err(error) if !self.shared.options.strict => {
                Err(Self::refused(flowop, "sync a file", error))
            }
            _ => Ok(()),
        }
    }

    /// An entry that is there (or is not), held until it is released.
    pub(super) fn pick(
        &mut self,
        files: &FlowopFiles,
        id: FilesetId,
        set: &Set,
        kind: EntryKind,
        exists: bool,
    ) -> Option<usize> {
        let from = match &files.indexed {
            Some(value) => From::Index(value.draw(&mut self.place.rng)),
            None if files.open_next && exists => From::Own(&mut self.next_entries[id]),
            None => From::Rotor,
        };
        set.pick(kind, exists, from)
    }
}
