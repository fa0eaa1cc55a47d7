//! A drive whose content changes without a word.

use crate::faults::clauses::{FaultKind, InvalidFault};
use crate::faults::effect::{DrawFrom, Effect, FaultDraw};

/// Each is drawn.
const MOST: u64 = 1_000_000;

pub(super) const KIND: FaultKind = FaultKind {
    name: "rots",
    summary: "has so many bytes changed, once, and does not know of it",
    clauses: &[("N bytes", "how many, drawn among what it holds; needed")],
    read: |clauses| {
        let wrong = || InvalidFault::new(format!("expected '100 bytes', from 1 to {MOST}"));
        let count = clauses.count("byte")?.filter(|count| *count <= MOST).ok_or_else(wrong)?;
        Ok(Box::new(Rots(count)))
    },
};

struct Rots(u64);

impl Effect for Rots {
    fn draws(&self) -> Option<FaultDraw> {
        Some(FaultDraw { count: self.0, from: DrawFrom::BytesHeld })
    }
}
