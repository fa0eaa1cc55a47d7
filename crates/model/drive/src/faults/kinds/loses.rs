//! A drive that says a write is done, and has not written it.

use super::picks::{CLAUSES, PickedWrites};
use crate::Operation;
use crate::faults::clauses::FaultKind;
use crate::faults::effect::{Effect, Fate, Meeting, WrittenTo};

pub(super) const KIND: FaultKind = FaultKind {
    name: "loses",
    summary: "says that a write is done, and still holds what was there before",
    clauses: &CLAUSES,
    read: |clauses| Ok(Box::new(Loses(PickedWrites::read(clauses)?))),
};

struct Loses(PickedWrites);

impl Effect for Loses {
    fn meet(&mut self, request: Meeting) -> Option<Fate> {
        let is_write = matches!(request.operation, Operation::Write | Operation::WriteZeroes);
        let lost = is_write && self.0.is_next();
        lost.then(|| Fate { written_to: Some(WrittenTo::Nowhere), ..Fate::default() })
    }
}
