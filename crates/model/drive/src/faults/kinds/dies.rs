//! A drive that dies: it answers each request with an error.

use crate::faults::clauses::FaultKind;
use crate::faults::effect::{Effect, Fate, Meeting};
use crate::{Completion, Nanos, Status};

pub(super) const KIND: FaultKind = FaultKind {
    name: "dies",
    summary: "answers each request with an error, those in flight too, until the end",
    clauses: &[],
    read: |_| Ok(Box::new(Dies)),
};

struct Dies;

impl Effect for Dies {
    fn meet(&mut self, _: Meeting) -> Option<Fate> {
        Some(Fate { refused: true, ..Fate::default() })
    }

    fn end(&mut self, since: Nanos, completion: &mut Completion) -> bool {
        let fails = completion.at >= since && completion.status == Status::Done;
        if fails {
            completion.status = Status::Failed;
        }
        fails
    }
}
