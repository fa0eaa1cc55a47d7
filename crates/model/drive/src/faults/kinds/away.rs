//! A drive that is away for a while, as behind a loose cable.

use crate::faults::clauses::FaultKind;
use crate::faults::effect::{Effect, Fate, Meeting};
use crate::{Completion, Nanos, Status};

pub(super) const KIND: FaultKind = FaultKind {
    name: "away",
    summary: "answers with errors for a while, and then works again with what it held",
    clauses: &[("for TIME", "how long; needed")],
    read: |clauses| Ok(Box::new(Away { length: clauses.need_time("for")?, until: None })),
};

struct Away {
    length: Nanos,
    until: Option<Nanos>,
}

impl Effect for Away {
    fn meet(&mut self, request: Meeting) -> Option<Fate> {
        let until = self.until.get_or_insert(Nanos(request.since.0.saturating_add(self.length.0)));
        (request.now < *until).then(|| Fate { refused: true, ..Fate::default() })
    }

    fn end(&mut self, since: Nanos, completion: &mut Completion) -> bool {
        let away = since.0..since.0.saturating_add(self.length.0);
        let fails = away.contains(&completion.at.0) && completion.status == Status::Done;
        if fails {
            completion.status = Status::Failed;
        }
        fails
    }
}
