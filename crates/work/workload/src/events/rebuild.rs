//! Waiting for redundancy.

use disklab_cell::Care;

use super::kind::EventKind;

pub(super) const KIND: EventKind = EventKind {
    name: "rebuild",
    summary: "lasts until the stack is redundant again",
    only_before: None,
    care: Some(Care::Rebuild),
    happen: |place, drive| place.care(Care::Rebuild, drive),
};
