//! A drive that writes to another place than it should.

use super::picks::{CLAUSES, PickedWrites};
use crate::Operation;
use crate::faults::clauses::FaultKind;
use crate::faults::effect::{Effect, Fate, Meeting, WrittenTo};
use crate::faults::numbers::FaultNumbers;

pub(super) const KIND: FaultKind = FaultKind {
    name: "misdirects",
    summary: "writes to another place of its surface than it should",
    clauses: &CLAUSES,
    read: |clauses| {
        let which = PickedWrites::read(clauses)?;
        let (sectors, physical) = (clauses.sectors, clauses.physical);
        Ok(Box::new(Misdirects { which, sectors, physical, numbers: FaultNumbers(!clauses.seed) }))
    },
};

struct Misdirects {
    which: PickedWrites,
    sectors: u64,
    physical: u64,
    numbers: FaultNumbers,
}

impl Effect for Misdirects {
    fn meet(&mut self, request: Meeting) -> Option<Fate> {
        if request.operation != Operation::Write || !self.which.is_next() {
            return None;
        }
        let places = (self.sectors.saturating_sub(request.sectors) / self.physical).max(1);
        let written_to = WrittenTo::Sector(self.numbers.below(places) * self.physical);
        Some(Fate { written_to: Some(written_to), ..Fate::default() })
    }
}
