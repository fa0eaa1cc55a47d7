//! A drive that stops answering now and then.

use crate::faults::clauses::{FaultKind, InvalidFault};
use crate::faults::effect::Effect;
use crate::{Completion, Nanos};

pub(super) const KIND: FaultKind = FaultKind {
    name: "stalls",
    summary: "answers nothing for a while, again and again; then all that waited",
    clauses: &[
        ("for TIME", "how long each time; needed"),
        ("every TIME", "from one beginning to the next; once if it is not given"),
    ],
    read: |clauses| {
        let (length, every) = (clauses.need_time("for")?, clauses.time("every")?);
        if every.is_some_and(|every| every <= length) {
            return Err(InvalidFault::new("'every' must be longer than 'for'"));
        }
        Ok(Box::new(Stalls { length, every }))
    },
};

struct Stalls {
    length: Nanos,
    every: Option<Nanos>,
}

impl Effect for Stalls {
    fn end(&mut self, since: Nanos, completion: &mut Completion) -> bool {
        let Some(after) = completion.at.0.checked_sub(since.0) else { return false };
        let into = self.every.map_or(after, |every| after % every.0);
        let waits = into < self.length.0;
        if waits {
            completion.at = Nanos(completion.at.0.saturating_add(self.length.0 - into));
        }
        waits
    }
}
