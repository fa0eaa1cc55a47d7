//! Putting a new drive in the place of one.

use disklab_cell::Care;

use super::kind::EventKind;

pub(super) const KIND: EventKind = EventKind {
    name: "replace",
    summary: "takes `drive` of the stack out and puts it in again as a blank one; it is rebuilt meanwhile",
    only_before: None,
    care: Some(Care::Replace),
    happen: |place, drive| place.care(Care::Replace, drive),
};
