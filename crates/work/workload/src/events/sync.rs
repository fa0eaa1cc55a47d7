//! Writing back all that is dirty.

use super::EventKind;
use crate::caches::sync_of;

pub(super) const KIND: EventKind = EventKind {
    name: "sync",
    summary: "writes back what is dirty of the file system, as `sync -f` does",
    only_before: None,
    happen: |place| sync_of(place.directory),
};
