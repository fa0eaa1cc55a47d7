//! What a thread has open.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use disklab_wml::{FilesetId, Flowop, FlowopFiles, SLOTS};

use super::slot::{Open, Slot};
use super::{End, Worker};
use crate::FlowopObstacle;
use crate::fileset::{EntryKind, Set};

impl<'env> Worker<'_, 'env> {
    /// The fileset of a flowop.
    pub(super) fn set(
        &self,
        flowop: &Flowop,
        files: &FlowopFiles,
    ) -> Result<(FilesetId, &'env Set), End> {
        let missing = || Self::impossible(flowop, FlowopObstacle::NoFileset);
        let id = files.fileset.ok_or_else(missing)?;
        let sets: &'env [Set] = self.shared.sets;
        let unknown = || Self::impossible(flowop, FlowopObstacle::UnknownFileset);
        let set = sets.get(id).ok_or_else(unknown)?;
        Ok((id, set))
    }

    /// Which slot a flowop works on (`flowoplib_fdnum` of flowop_library.c): an
    /// explicit one, else with `opennext` one after another, downwards, as many as
    /// the fileset has entries.
    pub(super) fn slot(&mut self, flowop: &Flowop, files: &FlowopFiles) -> Result<usize, End> {
        if files.slot > 0 || !files.open_next {
            return Ok(files.slot.min(SLOTS - 1));
        }
        let (_, set) = self.set(flowop, files)?;
        let entries = set.count(EntryKind::File).clamp(1, SLOTS);
        if self.last_slot == 0 || SLOTS - self.last_slot == entries {
            self.last_slot = SLOTS;
        }
        self.last_slot -= 1;
        Ok(self.last_slot)
    }

    /// Puts an open file into an empty slot. The entry counts as open.
    pub(super) fn put(
        &mut self,
        slot: usize,
        fd: OwnedFd,
        set: FilesetId,
        entry: usize,
        direct: bool,
    ) {
        self.shared.sets[set].opens(entry).fetch_add(1, Ordering::AcqRel);
        let open = Open { fd: Arc::new(fd), set, entry, position: 0, removed: false, direct };
        self.slots[slot] = Slot { open: Some(open), last: Some((set, entry)) };
    }

    /// Empties a slot: the file is closed, and still remembered.
    pub(super) fn close_slot(&mut self, slot: usize) {
        let Some(open) = self.slots[slot].open.take() else { return };
        let Open { fd, set, entry, removed, .. } = open;
        // Closes it, unless an asynchronous write still holds it.
        drop(fd);
        if !removed {
            self.shared.sets[set].opens(entry).fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Closes everything.
    pub(super) fn close_all(&mut self) {
        for slot in 0..self.slots.len() {
            self.close_slot(slot);
        }
    }
}
