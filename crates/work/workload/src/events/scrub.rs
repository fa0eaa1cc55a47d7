//! Reading and checking all that a stack holds.

use disklab_cell::Care;

use super::kind::EventKind;

pub(super) const KIND: EventKind = EventKind {
    name: "scrub",
    summary: "has the stack read and check all that it holds, and says what it found",
    only_before: None,
    care: Some(Care::Scrub),
    happen: |place, drive| place.care(Care::Scrub, drive),
};
