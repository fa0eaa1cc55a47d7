//! Dropping what the machine holds of files in memory, as another program's need for it does.

use super::kind::EventKind;
use crate::caches::drop_caches;

pub(super) const KIND: EventKind = EventKind {
    name: "drop-caches",
    summary: "syncs, and drops the page cache, as `sync; echo 3 > /proc/sys/vm/drop_caches` does",
    only_before: None,
    care: None,
    happen: |place, _| drop_caches(place.directory, place.executor).map(|_| None),
};
