//! Writing back all that is dirty.

use super::kind::EventKind;
use crate::caches::sync_of;

pub(super) const KIND: EventKind = EventKind {
    name: "sync",
    summary: "writes back what is dirty of the file system, as `sync -f` does",
    only_before: None,
    care: None,
    happen: |place, _| sync_of(place.directory).map(|()| None),
};
