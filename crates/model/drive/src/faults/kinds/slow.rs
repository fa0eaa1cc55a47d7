//! A drive that takes longer for each request.

use crate::faults::clauses::{FaultKind, InvalidFault};
use crate::faults::effect::{Effect, Fate, Meeting};

pub(super) const KIND: FaultKind = FaultKind {
    name: "slow",
    summary: "takes so many times as long for each request",
    clauses: &[("by FACTOR", "how many times, such as 'by 3'; needed")],
    read: |clauses| {
        let value = clauses.take("by").unwrap_or_default();
        let factor = value.parse::<f64>().ok().filter(|factor| (1.0..=1e6).contains(factor));
        let wrong = || InvalidFault::new(format!("expected 'by 3', from 1 on, found 'by {value}'"));
        Ok(Box::new(Slow(factor.ok_or_else(wrong)?)))
    },
};

struct Slow(f64);

impl Effect for Slow {
    fn meet(&mut self, _: Meeting) -> Option<Fate> {
        Some(Fate { factor: Some(self.0), ..Fate::default() })
    }
}
