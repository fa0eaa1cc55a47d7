//! Mounting the file system again.

use super::kind::EventKind;
use crate::WorkloadError;
use crate::caches::sync_of;

pub(super) const KIND: EventKind = EventKind {
    name: "remount",
    summary: "unmounts the file system and mounts it again; a pool is exported and imported",
    only_before: Some("while a step runs, its files are open"),
    care: None,
    happen: |place, _| {
        let remount = place.remount.ok_or(WorkloadError::NoRemount)?;
        sync_of(place.directory)?;
        if let Some(why) = remount.unmount(place.executor)? {
            return Err(WorkloadError::StaysMounted(why));
        }
        let said = remount.mount(place.executor)?;
        Ok((!said.is_empty()).then(|| said.join("; ")))
    },
};
