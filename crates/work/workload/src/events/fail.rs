//! Declaring a drive failed.

use disklab_cell::Care;

use super::kind::EventKind;

pub(super) const KIND: EventKind = EventKind {
    name: "fail",
    summary: "declares `drive` of the stack failed, as `mdadm --fail` and `zpool offline -f` do",
    only_before: None,
    care: Some(Care::Fail),
    happen: |place, drive| place.care(Care::Fail, drive),
};
